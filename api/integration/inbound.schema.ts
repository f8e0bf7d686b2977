import { z } from 'zod';

/** Address to which a provider sends the notifications of one environment. */
export const inboundParams = z.object({
  tenant_id: z.string().max(255),
  environment_id: z.string().max(255),
});

export const inboundAnswer = z.object({ status: z.literal('success'), message: z.string() }).meta({ id: 'WebhookAck' });
