import { effectiveThreshold } from '../../billing/line/intermediate-invoice.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { InheritedUsage } from '../usage-reader.ts';
import { lockSubscriptions, readSubscriptions, type SubscriptionRow } from './subscription-row.ts';

/**
 * Locks the live children of subscriptions, by parent. Whoever changes parent and child locks the parent first, so that no two
 * transactions wait for each other. spec: subscriptions-and-invoicing §2.13
 */
export async function lockChildren(
  sql: Sql,
  environmentId: string,
  parentIds: readonly string[],
  type: 'inherited' | 'grouped_invoicing',
): Promise<SubscriptionRow[]> {
  if (parentIds.length === 0) return [];
  const found = await sql.rows<{ id: string }>(
    `select id from subscription where environment_id = $1 and parent_subscription_id = any($2) and subscription_type = $3
       and subscription_status <> 'cancelled' and status = 'published'`,
    [environmentId, [...parentIds], type],
  );
  if (found.length === 0) return [];
  const rows = await lockSubscriptions(
    sql,
    environmentId,
    found.map(({ id }) => id),
  );
  return [...rows.values()].filter((row) => row.subscriptionType === type && row.status !== 'cancelled');
}

/**
 * Whose usage is added to that of parents, by parent: each inherited child's from when it began until it ended or is to end, also
 * of those that ended since, whose time may still be to bill. spec: subscriptions-and-invoicing §2.13
 */
export async function inheritedUsage(
  sql: Sql,
  environmentId: string,
  parents: readonly Pick<SubscriptionRow, 'id' | 'inHierarchy'>[],
): Promise<Map<string, InheritedUsage[]>> {
  const ids = parents.filter(({ inHierarchy }) => inHierarchy).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const rows = await sql.rows<{ parent: string; customer_id: string; start_date: string; end_date: string | null }>(
    `select parent_subscription_id as parent, customer_id, start_date, least(end_date, cancel_at) as end_date from subscription
     where environment_id = $1 and parent_subscription_id = any($2) and subscription_type = 'inherited' and status = 'published'
       and subscription_status <> 'draft' order by start_date, id`,
    [environmentId, [...new Set(ids)]],
  );
  const byParent = Map.groupBy(rows, ({ parent }) => parent);
  return new Map(
    [...byParent].map(([parent, children]) => [
      parent,
      children.map(({ customer_id, start_date, end_date }) => ({
        customerId: customer_id,
        from: instantText(start_date),
        to: end_date === null ? null : instantText(end_date),
      })),
    ]),
  );
}

/** Those whose time and the question's have something in common, as a member of the question. */
export function withInherited(
  inherited: readonly InheritedUsage[] | undefined,
  { from, to }: { from: string; to: string },
): { inherited?: InheritedUsage[] } {
  const counted = (inherited ?? []).filter((other) => other.from < to && (other.to === null || other.to > from));
  return counted.length > 0 ? { inherited: counted } : {};
}

/** The threshold of intermediate invoices that holds for a subscription: its own, else its plan's. spec: §2.14.1 */
export async function thresholdOf(
  sql: Sql,
  row: Pick<SubscriptionRow, 'environmentId' | 'planId' | 'autoInvoiceThreshold'>,
): Promise<string | null> {
  const [plan] = await sql.rows<{ threshold: string | null }>(
    'select auto_invoice_threshold as threshold from plan where environment_id = $1 and id = $2',
    [row.environmentId, row.planId],
  );
  const ofPlan = plan?.threshold ?? null;
  return effectiveThreshold(row.autoInvoiceThreshold, ofPlan === null ? null : decimalText(ofPlan));
}

/** Parents without any child left are standalone again, unless they ended. spec: subscriptions-and-invoicing §2.13 */
export async function demoteChildless(sql: Sql, scope: Scope, parents: readonly SubscriptionRow[]): Promise<void> {
  const candidates = parents.filter((row) => row.subscriptionType === 'parent' && row.status !== 'cancelled');
  if (candidates.length === 0) return;
  const demoted = await sql.rows<{ id: string }>(
    `update subscription p set subscription_type = 'standalone', updated_at = $3, updated_by = $4
     where p.environment_id = $1 and p.id = any($2) and not exists (select from subscription c
       where c.environment_id = $1 and c.parent_subscription_id = p.id and c.subscription_type in ('inherited', 'grouped_invoicing')
         and c.subscription_status <> 'cancelled' and c.status = 'published') returning p.id`,
    [scope.environmentId, candidates.map(({ id }) => id), new Date().toISOString(), scope.actor],
  );
  const ids = new Set(demoted.map(({ id }) => id));
  for (const row of candidates) if (ids.has(row.id)) row.subscriptionType = 'standalone';
}

/** The parent of a child that just ended by itself is standalone again when that was its last. spec: subscriptions-and-invoicing §2.13 */
export async function demoteParentOf(sql: Sql, scope: Scope, child: SubscriptionRow): Promise<void> {
  if (child.subscriptionType !== 'grouped_invoicing' || child.parentSubscriptionId === null) return;
  const parents = await readSubscriptions(sql, scope.environmentId, [child.parentSubscriptionId]);
  await demoteChildless(sql, scope, [...parents.values()]);
}
