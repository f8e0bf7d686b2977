import { z } from 'zod';
import { badField } from '../../db/rows/record.ts';
import type { EventCounts } from '../../metering/usage-store.ts';
import { windowSizes } from '../catalogue/meter.schema.ts';
import { timestampInput } from '../scalars.schema.ts';

const dayMs = 24 * 3_600_000;

/** spec: catalogue-and-metering §6.1 */
export const monitoringQuery = z.object({
  start_time: timestampInput().optional(),
  end_time: timestampInput().optional(),
  window_size: z.enum(windowSizes).optional(),
});

/** The interval of a query, the last 24 hours without one. Throws `validation_error` for one time without the other. */
export function monitoredInterval(query: z.output<typeof monitoringQuery>, now: string) {
  const { start_time: start, end_time: end } = query;
  if ((start === undefined) !== (end === undefined)) {
    const absent = start === undefined ? 'start_time' : 'end_time';
    throw badField(absent, 'is required with the other one: send both, or neither for the last 24 hours');
  }
  const to = end ?? now;
  const from = start ?? new Date(Date.parse(now) - dayMs).toISOString();
  if (to < from) throw badField('end_time', 'must not be before start_time');
  return { from: micros(from), to: micros(to) };
}

/** Milliseconds as the six decimals the engine compares. */
function micros(instant: string): string {
  return instant.replace(/\.(\d{3})Z$/, '.$1000Z');
}

export const monitoringAnswer = z
  .object({
    total_count: z.int(),
    consumption_lag: z.int(),
    post_processing_lag: z.int(),
    points: z.array(z.object({ timestamp: z.string(), event_count: z.int() })),
  })
  .meta({ id: 'GetMonitoringDataResponse' });

/** Nothing lags: what ingestion acknowledged is stored and counted by the same commit. */
export function viewMonitoring({ total, windows }: EventCounts): z.output<typeof monitoringAnswer> {
  return {
    total_count: total,
    consumption_lag: 0,
    post_processing_lag: 0,
    points: windows.map(({ timestamp, count }) => ({ timestamp, event_count: count })),
  };
}

/**
 * The ids of inference requests, which their events carry as event_id. The published client has no way to send a body: none at
 * all names no request, and is no mistake.
 */
export const inferenceBody = z
  .object({
    requestIds: z
      .array(z.string().min(1).max(255))
      .min(1, 'must name at least one request')
      .max(10_000, 'must name at most 10 000 requests'),
  })
  .meta({ id: 'GetHuggingFaceBillingDataRequest', examples: [{ requestIds: ['call-1'] }] })
  .nullish();

export const inferenceAnswer = z
  .object({ requests: z.array(z.object({ requestId: z.string(), costNanoUsd: z.string() })) })
  .meta({ id: 'GetHuggingFaceBillingDataResponse' });
