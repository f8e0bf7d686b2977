import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { type AttendedSubscription, refreshSubscriptions } from '../../charging/subscription-snapshot.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { changePlan } from './plan-change.ts';
import { performSchedule } from './plan-change-schedule.ts';
import { replaceAtBoundary } from './subscription-replace.ts';

interface DueChange {
  subscriptionId: string;
  at: string;
  /** The schedule; of a subscription that took another one's place, that subscription. */
  ref: string;
}

/** Applies changes of plan that have come, before the new period is priced. spec: subscriptions-and-invoicing §2.5.1, §2.9.4 */
export async function applyPlanChanges(
  sql: Sql,
  scope: Scope,
  due: readonly DueChange[],
): Promise<AttendedSubscription[]> {
  for (const { subscriptionId, at, ref } of due) {
    const order = { changeId: ref, subscriptionId, at, scheduleId: ref };
    await performSchedule(sql, scope, { scheduleId: ref, at }, (configuration) =>
      changePlan(sql, scope, order, configuration.order),
    );
  }
  return refreshed(sql, scope, due);
}

/** Replaces subscriptions at the boundary that has come; each one's last period is closed with it. spec: §2.5.1, §2.9.2 */
export async function replacePlans(
  sql: Sql,
  scope: Scope,
  due: readonly DueChange[],
  readUsage: UsageReader,
): Promise<AttendedSubscription[]> {
  for (const { subscriptionId, at, ref } of due) {
    const order = { changeId: ref, subscriptionId, at, scheduleId: ref };
    await performSchedule(sql, scope, { scheduleId: ref, at }, (configuration) =>
      replaceAtBoundary(sql, scope, order, configuration.order, readUsage),
    );
  }
  return refreshed(sql, scope, due);
}

/** From now on the subscription that took this one's place has a workflow of its own. */
export async function attendSuccessors(
  sql: Sql,
  scope: Scope,
  due: readonly DueChange[],
): Promise<AttendedSubscription[]> {
  await sql.rows(
    `update subscription_change set attended = true, updated_at = $3
     where environment_id = $1 and successor_subscription_id = any($2)`,
    [scope.environmentId, due.map(({ ref }) => ref), new Date().toISOString()],
  );
  return refreshed(sql, scope, due);
}

function refreshed(sql: Sql, scope: Scope, due: readonly DueChange[]): Promise<AttendedSubscription[]> {
  return refreshSubscriptions(
    sql,
    scope.environmentId,
    due.map(({ subscriptionId }) => subscriptionId),
  );
}
