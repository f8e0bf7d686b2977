import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { readSubscriptions } from '../../charging/subscription-row.ts';
import { writeAudit } from '../../platform/audit.ts';

/** Tables that belong to a subscription, and the column that names it. */
const parts = [
  ['subscription_line_item', 'subscription_id'],
  ['addon_association', 'entity_id'],
  ['credit_grant', 'subscription_id'],
  ['credit_grant_application', 'subscription_id'],
  ['entitlement', 'entity_id'],
  ['tax_association', 'entity_id'],
] as const;

/**
 * Archives a draft that was not paid, with its line items, add-ons, grants, overrides and taxes; its coupons can be redeemed again. One that
 * is no draft any more stays. spec: wallets-and-payments §2.17 Clean-up step 2
 */
export async function dropFrozenDraft(sql: Sql, scope: Scope, subscriptionId: string, at: string): Promise<void> {
  const draft = (await readSubscriptions(sql, scope.environmentId, [subscriptionId])).get(subscriptionId);
  if (draft?.status !== 'draft') return;
  const values = [scope.environmentId, subscriptionId, new Date().toISOString(), scope.actor];
  const [row] = await sql.rows<{ version: number }>(
    `update subscription set status = 'archived', version = version + 1, updated_at = $3, updated_by = $4
     where environment_id = $1 and id = $2 and subscription_status = 'draft' and status = 'published' returning version`,
    values,
  );
  if (!row) return;
  for (const [table, column] of parts) {
    await sql.rows(
      `update ${table} set status = 'archived', updated_at = $3, updated_by = $4 where environment_id = $1 and ${column} = $2 and status = 'published'`,
      values,
    );
  }
  await sql.rows(
    `with released as (
       update coupon_association set status = 'archived', updated_at = $3, updated_by = $4
       where environment_id = $1 and subscription_id = $2 and status = 'published' returning coupon_id
     ), counted as (select coupon_id, count(*) as n from released group by coupon_id)
     update coupon c set total_redemptions = c.total_redemptions - counted.n, updated_at = $3
     from counted where c.environment_id = $1 and c.id = counted.coupon_id`,
    values,
  );
  await writeAudit(sql, scope, [
    {
      objectType: 'subscription',
      objectId: subscriptionId,
      action: 'archived',
      version: row.version,
      occurredAt: at,
      detail: { reason: 'its checkout session ended unpaid' },
    },
  ]);
}
