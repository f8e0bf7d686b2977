import { z } from 'zod';

export const voidEventBody = z
  .object({ reason: z.string().trim().min(1, 'is required').max(1_000) })
  .meta({ examples: [{ reason: 'sent twice under two ids' }] });

/** Own operation. */
export const eventVoid = z
  .object({ event_id: z.string(), voided_at: z.string(), reason: z.string(), voided_by: z.string() })
  .meta({ id: 'EventVoid' });

/** Own operation. */
export const usageVerification = z
  .object({
    examined: z.int().describe('Days of customers, of the random sample asked for.'),
    differences: z.array(
      z.object({
        meter_id: z.string(),
        external_customer_id: z.string(),
        bucket: z.string(),
        stored: z.string(),
        recomputed: z.string(),
      }),
    ),
  })
  .meta({ id: 'UsageVerification' });

export const verifyUsageBody = z.object({ sample: z.int().min(1).max(100).nullish() }).nullish();
