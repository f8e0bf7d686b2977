import { z } from 'zod';
import type { WebhookReplay } from '../../db/entities/event/webhook-replay.ts';
import { badField } from '../../db/rows/record.ts';
import { webhookEventTypes } from '../../services/event/webhook/event-type.ts';
import type { ReplayInput } from '../../services/event/webhook/replay.ts';
import { timestampInput, timestampOutput } from '../scalars.schema.ts';

const dayMs = 86_400_000;
/** Longest time of which events are sent again. spec: platform §17.4 */
const mostDays = 30;

export const replayBody = z
  .object({
    start_time: timestampInput(),
    end_time: timestampInput().nullish(),
    event_types: z.array(z.enum(webhookEventTypes)).max(webhookEventTypes.length).nullish(),
    only_failed: z.boolean().nullish(),
    new_ids: z.boolean().nullish(),
  })
  .meta({ examples: [{ start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-08T00:00:00Z', only_failed: true }] });

export const webhookReplay = z
  .object({
    id: z.string(),
    endpoint_id: z.string(),
    state: z.enum(['running', 'completed', 'cancelled']),
    start_time: timestampOutput(),
    end_time: timestampOutput(),
    event_types: z.array(z.string()),
    only_failed: z.boolean(),
    new_ids: z.boolean(),
    count: z.int(),
    received: z.int(),
    failed: z.int(),
    created_at: timestampOutput(),
    created_by: z.string(),
    ended_at: timestampOutput().nullable(),
  })
  .meta({ id: 'WebhookReplay' });

export const retryBody = z
  .object({ system_event_id: z.string().min(1).max(255) })
  .meta({ examples: [{ system_event_id: 'sys_event_01M8BZAQZK1GEHZWA2MK05HKTK' }] });
export const retryAnswer = z
  .object({ success: z.literal(true), message: z.string(), system_event_id: z.string() })
  .meta({ id: 'RetryOutboundWebhookResponse' });

export const dashboard = z
  .object({ svix_enabled: z.boolean(), url: z.string(), token: z.string().nullable(), app_id: z.string().nullable() })
  .meta({ id: 'WebhookDashboardResponse' });

/** Events that are asked for again, up to `now` where no end is named. Throws `validation_error`. spec: platform §17.4 */
export function replayInput(body: z.output<typeof replayBody>, now: string): ReplayInput {
  const startTime = body.start_time;
  const endTime = body.end_time ?? now;
  if (endTime <= startTime) throw badField('end_time', 'must be after start_time, which must be in the past');
  if (Date.parse(endTime) - Date.parse(startTime) > mostDays * dayMs) {
    throw badField(
      'end_time',
      `must be at most ${mostDays} days after start_time; send several replays one after another`,
    );
  }
  return {
    startTime,
    endTime,
    eventTypes: [...new Set(body.event_types ?? [])].sort(),
    onlyFailed: body.only_failed ?? false,
    newIds: body.new_ids ?? false,
  };
}

export function viewReplay(row: WebhookReplay): z.output<typeof webhookReplay> {
  return {
    id: row.id,
    endpoint_id: row.endpointId,
    state: row.state as z.output<typeof webhookReplay>['state'],
    start_time: row.startTime ?? row.createdAt,
    end_time: row.endTime ?? row.createdAt,
    event_types: row.eventTypes,
    only_failed: row.onlyFailed,
    new_ids: row.newIds,
    count: row.eventCount,
    received: row.received,
    failed: row.failed,
    created_at: row.createdAt,
    created_by: row.createdBy,
    ended_at: row.endedAt ?? null,
  };
}
