import type { Scope } from '../../scope.ts';
import type { Sql } from '../../transaction.ts';
import { endCoupons } from '../invoice/coupon-link.ts';
import { endAttachments } from './addon-attachment.ts';
import { endGrants } from './subscription-grant.ts';
import { endLineItems } from './subscription-item.ts';
import { cutPhases } from './subscription-phase-cut.ts';

/**
 * Ends with subscriptions, at each one's end, what hangs on them: line items, coupons, attached add-ons, credit grants, an open pause and phases.
 * spec: subscriptions-and-invoicing §2.12
 */
export async function endSubscriptionParts(
  sql: Sql,
  scope: Scope,
  ended: readonly { subscriptionId: string; at: string }[],
): Promise<void> {
  await endLineItems(sql, scope.environmentId, ended);
  await endCoupons(sql, scope.environmentId, ended);
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
