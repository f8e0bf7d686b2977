import { refuse } from '../../../billing/refusal.ts';
import { keepSubscription } from '../../../billing/subscription/subscription-cancel.ts';
import type { ScheduleCancellation } from '../../../billing/subscription/subscription-command.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import {
  lockSubscriptions,
  type SubscriptionRow,
  subscriptionRecord,
  updateSubscriptions,
} from '../../charging/subscription-row.ts';
import { type AttendedSubscription, one, refreshAgendas } from '../../charging/subscription-snapshot.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { followParents } from '../family/subscription-follow.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';

interface ScheduleRow {
  id: string;
  schedule_type: string;
  schedule_status: string;
  configuration: { before?: { cancel_at: string | null; end_date: string | null } };
  [column: string]: unknown;
}

/**
 * Takes a pending schedule back. A cancellation restores the dates that held before it. Throws `not_found`, and
 * `validation_error` when the schedule is not pending any more. spec: subscriptions-and-invoicing §2.9.4, §3 row 52
 */
export async function cancelSchedule(
  sql: Sql,
  scope: Scope,
  input: ScheduleCancellation & { subscriptionId: string; at: string },
): Promise<AttendedSubscription> {
  const before = (await lockSubscriptions(sql, scope.environmentId, [input.subscriptionId])).get(input.subscriptionId);
  const [schedule] = await sql.rows<ScheduleRow>(
    `select id, schedule_type, schedule_status, configuration from subscription_schedule
     where environment_id = $1 and id = $2 and subscription_id = $3 for update`,
    [scope.environmentId, input.scheduleId, input.subscriptionId],
  );
  if (!before || !schedule) throw missing('schedule', input.scheduleId);
  if (schedule.schedule_status !== 'pending') {
    throw refuse(
      'validation_error',
      `schedule ${schedule.id} is ${schedule.schedule_status}; only a pending one can be cancelled`,
      { status: schedule.schedule_status },
    );
  }
  await sql.rows(
    `update subscription_schedule set schedule_status = 'cancelled', cancelled_at = $3, updated_at = $4, updated_by = $5
     where environment_id = $1 and id = $2`,
    [scope.environmentId, schedule.id, input.at, new Date().toISOString(), scope.actor],
  );
  const row = { ...restored(before, schedule), version: before.version + 1 };
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(row, scope.actor, new Date().toISOString())]);
  await writeEvents(sql, scope, [subscriptionEvent('subscription.updated', row, input.at)]);
  await writeAudit(sql, scope, [
    {
      objectType: 'subscription',
      objectId: row.id,
      action: 'schedule taken back',
      version: row.version,
      occurredAt: input.at,
      detail: { schedule_id: schedule.id, schedule_type: schedule.schedule_type },
    },
  ]);
  await followParents(sql, scope, [{ row, at: input.at }]);
  return one(await refreshAgendas(sql, scope.environmentId, [row]));
}

const cancellationKeys = ['cancellation_type', 'cancellation_reason', 'effective_date'];

function restored(row: SubscriptionRow, schedule: ScheduleRow): SubscriptionRow {
  if (schedule.schedule_type !== 'cancellation') return row;
  const { cancel_at: cancelAt = null, end_date: endDate = null } = schedule.configuration.before ?? {};
  const told = Object.entries(row.metadata).filter(([key]) => !cancellationKeys.includes(key));
  return { ...row, ...keepSubscription(row, { cancelAt, endDate }), metadata: Object.fromEntries(told) };
}

/** The pending cancellation of a subscription; null when there is none. */
export async function pendingCancellation(sql: Sql, environmentId: string, subscriptionId: string) {
  const [row] = await sql.rows<{ id: string }>(
    `select id from subscription_schedule where environment_id = $1 and subscription_id = $2
       and schedule_type = 'cancellation' and schedule_status = 'pending'`,
    [environmentId, subscriptionId],
  );
  return row?.id ?? null;
}
