import { refusalIn } from '../../../billing/refusal.ts';
import type { PlanChangeOrder, ReplacementOrder } from '../../../billing/subscription/subscription-change.ts';
import { newId } from '../../../db/id.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { type Decided, nothingMade } from './subscription-change.ts';

/** A change of plan that is to come, as its schedule keeps it. */
export type ScheduledPlanChange = { changeType: string | null } & (
  | { version: 'v2'; order: PlanChangeOrder; scheduledAt: string }
  | { version: 'v1'; order: ReplacementOrder; scheduledAt: string }
);

/** Records a change of plan that is to come. spec: subscriptions-and-invoicing §2.9.4 */
export async function schedulePlanChange(
  sql: Sql,
  scope: Scope,
  row: SubscriptionRow,
  change: ScheduledPlanChange,
): Promise<Decided> {
  const id = newId('sched');
  await sql.rows(
    `insert into subscription_schedule (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, subscription_id,
       schedule_type, schedule_status, scheduled_at, configuration, metadata)
     values ($1, $2, $3, $4, $5, $4, $5, $6, 'plan_change', 'pending', $7, $8, $9)`,
    [
      id,
      scope.tenantId,
      scope.environmentId,
      new Date().toISOString(),
      scope.actor,
      row.id,
      change.scheduledAt,
      JSON.stringify({ version: change.version, target_plan_id: change.order.targetPlanId, order: change.order }),
      JSON.stringify(change.order.metadata),
    ],
  );
  return {
    ...nothingMade(),
    row,
    kind: 'plan_change_scheduled',
    action: 'plan change scheduled',
    effectiveAt: change.scheduledAt,
    events: [],
    detail: {
      schedule_id: id,
      scheduled_at: change.scheduledAt,
      from_plan_id: row.planId,
      to_plan_id: change.order.targetPlanId,
      change_type: change.changeType,
      metadata: change.order.metadata,
    },
  };
}

interface PendingRow {
  configuration: { version: 'v1' | 'v2'; order: PlanChangeOrder & ReplacementOrder };
  [column: string]: unknown;
}

/**
 * Performs a pending schedule once: claims it, does the work, and notes how it ended. A refusal undoes the work and makes the
 * schedule failed with its message; the subscription goes on unchanged. spec: subscriptions-and-invoicing §2.9.4
 */
export async function performSchedule(
  sql: Sql,
  scope: Scope,
  { scheduleId, at }: { scheduleId: string; at: string },
  work: (configuration: PendingRow['configuration']) => Promise<unknown>,
): Promise<void> {
  const [claimed] = await sql.rows<PendingRow>(
    `update subscription_schedule set schedule_status = 'executing', updated_at = $3
     where environment_id = $1 and id = $2 and schedule_status = 'pending' returning configuration`,
    [scope.environmentId, scheduleId, new Date().toISOString()],
  );
  if (!claimed) return;
  await sql.rows('savepoint scheduled_change');
  try {
    await work(claimed.configuration);
    await sql.rows('release savepoint scheduled_change');
    await endSchedule(sql, scope, scheduleId, at, null);
  } catch (error) {
    const refusal = refusalIn(error);
    if (!refusal) throw error;
    await sql.rows('rollback to savepoint scheduled_change');
    await endSchedule(sql, scope, scheduleId, at, refusal.message);
  }
}

async function endSchedule(sql: Sql, scope: Scope, id: string, at: string, problem: string | null): Promise<void> {
  await sql.rows(
    `update subscription_schedule set schedule_status = $3, executed_at = $4, error_message = $5, execution_result = $6, updated_at = $7
     where environment_id = $1 and id = $2`,
    [
      scope.environmentId,
      id,
      problem === null ? 'executed' : 'failed',
      at,
      problem,
      JSON.stringify({ change_id: problem === null ? id : null }),
      new Date().toISOString(),
    ],
  );
}
