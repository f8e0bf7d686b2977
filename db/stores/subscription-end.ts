import type { Scope } from '../scope.ts';
import type { Sql } from '../transaction.ts';
import { endAttachments } from './addon-attachment.ts';
import { endCoupons } from './coupon-link.ts';
import { endLineItems } from './subscription-item.ts';

/**
 * Ends with subscriptions, at each one's end, what hangs on them: line items, coupons and attached add-ons.
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
}
