import { z } from 'zod';
import type { SubscriptionSchedule } from '../../../db/entities/subscription/subscription-schedule.ts';
import { badField } from '../../../db/rows/record.ts';
import { listQuery } from '../../list.ts';
import { booleanQuery, metadataOutput, timestampOutput } from '../../scalars.schema.ts';

const id = z.string().min(1).max(255);
const scheduleTypes = ['plan_change', 'cancellation'] as const;

/** Only the paging and the two filters of §1.1 have a meaning here. */
export const scheduleListQuery = listQuery({
  subscription_id: id.optional(),
  pending_only: booleanQuery().optional(),
});

export const ownScheduleListQuery = listQuery({ pending_only: booleanQuery().optional() });

export const cancelScheduleBody = z
  .object({
    schedule_id: id.nullish(),
    subscription_id: id.nullish(),
    schedule_type: z
      .enum(scheduleTypes, { error: `must be one of ${scheduleTypes.join(', ')}` })
      .nullish()
      .describe('With subscription_id: which of its pending schedules.'),
  })
  .meta({ examples: [{ subscription_id: 'subs_01JD…', schedule_type: 'cancellation' }] });

const scheduleExample = {
  id: 'sched_01JD…',
  subscription_id: 'subs_01JD…',
  schedule_type: 'cancellation',
  scheduled_at: '2026-06-01T00:00:00.000Z',
  status: 'pending',
  configuration: { cancellation_type: 'end_of_period' },
  executed_at: null,
  cancelled_at: null,
  execution_result: null,
  error_message: null,
  days_until_execution: 12,
  can_be_cancelled: true,
  metadata: {},
  created_at: '2026-05-20T09:00:00.000Z',
  updated_at: '2026-05-20T09:00:00.000Z',
};

export const schedule = z
  .object({
    id: z.string(),
    subscription_id: z.string(),
    schedule_type: z.string(),
    scheduled_at: timestampOutput(),
    status: z.string(),
    configuration: z.record(z.string(), z.unknown()),
    executed_at: timestampOutput().nullable(),
    cancelled_at: timestampOutput().nullable(),
    execution_result: z.record(z.string(), z.unknown()).nullable(),
    error_message: z.string().nullable(),
    days_until_execution: z.int(),
    can_be_cancelled: z.boolean(),
    metadata: metadataOutput(),
    created_at: timestampOutput(),
    updated_at: timestampOutput(),
  })
  .meta({ id: 'SubscriptionScheduleResponse', examples: [scheduleExample] });

export const scheduleList = z
  .object({ schedules: z.array(schedule), count: z.int().describe('All that match, on this page or not.') })
  .meta({ id: 'GetPendingSchedulesResponse', examples: [{ schedules: [scheduleExample], count: 1 }] });

export const cancelledSchedule = z.object({ status: z.string(), message: z.string() }).meta({
  id: 'CancelScheduleResponse',
  examples: [{ status: 'cancelled', message: 'schedule sched_01JD… is cancelled' }],
});

const dayMs = 86_400_000;

/** The wire form of a schedule; `now` is the present of its customer. spec: subscriptions-and-invoicing §2.9.4 */
export function viewSchedule(row: SubscriptionSchedule, now: string): z.output<typeof schedule> {
  const days = Math.ceil((Date.parse(row.scheduledAt) - Date.parse(now)) / dayMs);
  return {
    id: row.id,
    subscription_id: row.subscriptionId,
    schedule_type: row.scheduleType,
    scheduled_at: row.scheduledAt,
    status: row.scheduleStatus,
    configuration: row.configuration,
    executed_at: row.executedAt ?? null,
    cancelled_at: row.cancelledAt ?? null,
    execution_result: row.executionResult ?? null,
    error_message: row.errorMessage ?? null,
    days_until_execution: Math.max(days, 0),
    can_be_cancelled: row.scheduleStatus === 'pending',
    metadata: row.metadata,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

/** Which schedule a body names: by its id, or by a subscription and a kind. spec: §1.1 POST /subscriptions/schedules/cancel */
export function namedSchedule(
  body: z.output<typeof cancelScheduleBody>,
): { scheduleId: string } | { subscriptionId: string; scheduleType: string } {
  if (body.schedule_id) return { scheduleId: body.schedule_id };
  if (!body.subscription_id) throw badField('schedule_id', 'or subscription_id with schedule_type is required');
  if (!body.schedule_type) throw badField('schedule_type', 'is required with subscription_id');
  return { subscriptionId: body.subscription_id, scheduleType: body.schedule_type };
}
