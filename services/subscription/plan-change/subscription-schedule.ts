import { newId } from '../../../db/id.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';

/** Records a cancellation that is to come. spec: subscriptions-and-invoicing §2.9.4 */
export async function scheduleCancellation(
  sql: Sql,
  scope: Scope,
  schedule: { subscriptionId: string; at: string; configuration: Record<string, unknown> },
): Promise<void> {
  await sql.rows(
    `insert into subscription_schedule (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, subscription_id,
       schedule_type, schedule_status, scheduled_at, configuration)
     values ($1, $2, $3, $4, $5, $4, $5, $6, 'cancellation', 'pending', $7, $8)`,
    [
      newId('sched'),
      scope.tenantId,
      scope.environmentId,
      new Date().toISOString(),
      scope.actor,
      schedule.subscriptionId,
      schedule.at,
      JSON.stringify(schedule.configuration),
    ],
  );
}

/** Whether a cancellation of the subscription is still to come. */
export async function isCancellationScheduled(
  sql: Sql,
  environmentId: string,
  subscriptionId: string,
): Promise<boolean> {
  const [row] = await sql.rows(
    `select 1 from subscription_schedule where environment_id = $1 and subscription_id = $2
       and schedule_type = 'cancellation' and schedule_status = 'pending' limit 1`,
    [environmentId, subscriptionId],
  );
  return row !== undefined;
}

/** Takes back everything scheduled for a subscription that ended before. */
export async function cancelSchedules(
  sql: Sql,
  environmentId: string,
  subscriptionId: string,
  at: string,
): Promise<void> {
  await sql.rows(
    `update subscription_schedule set schedule_status = 'cancelled', cancelled_at = $3, updated_at = $4
     where environment_id = $1 and subscription_id = $2 and schedule_status = 'pending'`,
    [environmentId, subscriptionId, at, new Date().toISOString()],
  );
}

/** Marks the pending cancellations of subscriptions that ended at their boundary as done. */
export async function executeCancellations(
  sql: Sql,
  environmentId: string,
  ended: readonly { subscriptionId: string; at: string }[],
): Promise<void> {
  if (ended.length === 0) return;
  await sql.rows(
    `update subscription_schedule s set schedule_status = 'executed', executed_at = t.at, updated_at = $4
     from unnest($2::text[], $3::timestamptz[]) as t(subscription_id, at)
     where s.environment_id = $1 and s.subscription_id = t.subscription_id and s.schedule_status = 'pending'
       and s.schedule_type = 'cancellation'`,
    [environmentId, ended.map((end) => end.subscriptionId), ended.map((end) => end.at), new Date().toISOString()],
  );
}
