import { realNow } from '../../../db/clock.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { endAttachments } from '../addon/addon-attachment.ts';
import { endGrants } from '../period/subscription-grant.ts';
import { cutPhases } from '../phase/subscription-phase-cut.ts';

/**
 * Ends with subscriptions, at each one's end, what hangs on them: line items, coupons, attached add-ons, credit grants, an open pause and phases.
 * spec: subscriptions-and-invoicing §2.12
 */
export async function endSubscriptionParts(
  sql: Sql,
  scope: Scope,
  ended: readonly { subscriptionId: string; at: string }[],
): Promise<void> {
  await endDated(sql, scope, 'subscription_line_item', ended);
  await endDated(sql, scope, 'coupon_association', ended);
  await endAttachments(sql, scope, ended);
  await endGrants(sql, scope, ended);
  await endPauses(sql, scope, ended);
  await cutPhases(sql, scope, ended);
}

/** An open pause ends with its subscription, without a resume. */
async function endPauses(
  sql: Sql,
  scope: Scope,
  ended: readonly { subscriptionId: string; at: string }[],
): Promise<void> {
  if (ended.length === 0) return;
  await sql.rows(
    `update subscription_pause set pause_status = 'cancelled', updated_at = $3, updated_by = $4
     where environment_id = $1 and subscription_id = any($2) and pause_status = 'active'`,
    [scope.environmentId, ended.map((end) => end.subscriptionId), new Date().toISOString(), scope.actor],
  );
}

/** Rows of subscriptions that hold from a date to another; what would begin later ends at its own start, what ends earlier keeps its end. */
async function endDated(
  sql: Sql,
  scope: Scope,
  table: 'subscription_line_item' | 'coupon_association',
  ended: readonly { subscriptionId: string; at: string }[],
): Promise<void> {
  if (ended.length === 0) return;
  await sql.rows(
    `update ${table} r set end_date = greatest(r.start_date, t.at), updated_at = $4
     from unnest($2::text[], $3::timestamptz[]) as t(subscription_id, at)
     where r.environment_id = $1 and r.subscription_id = t.subscription_id and (r.end_date is null or r.end_date > t.at)`,
    [scope.environmentId, ended.map((end) => end.subscriptionId), ended.map((end) => end.at), realNow()],
  );
}
