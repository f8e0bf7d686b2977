import { z } from 'zod';
import type { EndpointStatistics } from '../../services/event/webhook/statistics.ts';
import { timestampOutput } from '../scalars.schema.ts';
import { webhookEndpoint } from './webhook-endpoint.schema.ts';

const lastTest = z.object({
  delivery_id: z.string(),
  event_type: z.string(),
  sent_at: timestampOutput().nullable(),
  failure: z.string().nullable(),
});
const lastDay = z.object({
  attempts: z.int(),
  received: z.int(),
  success_rate: z.number().nullable(),
  latency_p95_ms: z.int().nullable(),
  lag_p95_ms: z.int().nullable(),
});
const statistics = z.object({
  oldest_undelivered_at: timestampOutput().nullable(),
  last_received_at: timestampOutput().nullable(),
  last_failed_at: timestampOutput().nullable(),
  last_failure: z.string().nullable(),
  last_day: lastDay,
  last_test: lastTest.nullable(),
});

/** An endpoint by itself, which a list shows without its statistics. */
export const watchedEndpoint = webhookEndpoint.extend({ statistics }).meta({ id: 'GetWebhookEndpointResponse' });

export function viewStatistics(of: EndpointStatistics): z.output<typeof statistics> {
  const { lastTest: test, lastDay: day } = of;
  return {
    oldest_undelivered_at: of.oldestUndeliveredAt,
    last_received_at: of.lastReceivedAt,
    last_failed_at: of.lastFailedAt,
    last_failure: of.lastFailure,
    last_day: {
      attempts: day.attempts,
      received: day.received,
      success_rate: day.attempts === 0 ? null : day.received / day.attempts,
      latency_p95_ms: day.latencyP95Ms,
      lag_p95_ms: day.lagP95Ms,
    },
    last_test: test && {
      delivery_id: test.id,
      event_type: test.eventType,
      sent_at: test.sentAt,
      failure: test.failure,
    },
  };
}
