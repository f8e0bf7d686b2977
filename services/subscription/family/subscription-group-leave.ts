import { newId } from '../../../db/id.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { groupedChildren } from '../../invoice/draft/subscription-group.ts';
import { writeChanged } from '../plan-change/subscription-changed.ts';

/** A parent that ends leaves the children of its group to themselves, each for the whole of its current period. spec: §2.13 */
export async function releaseChildren(sql: Sql, scope: Scope, parent: SubscriptionRow, at: string): Promise<void> {
  if (!parent.inHierarchy) return;
  await release(sql, scope, parent, await groupedChildren(sql, scope.environmentId, [parent]), {
    at,
    tells: true,
  });
}

/** Has children invoiced by themselves again. spec: subscriptions-and-invoicing §2.13 */
export async function release(
  sql: Sql,
  scope: Scope,
  parent: SubscriptionRow,
  children: readonly SubscriptionRow[],
  { at, tells }: { at: string; tells: boolean },
): Promise<void> {
  const rows = children.map(
    (child): SubscriptionRow => ({
      ...child,
      subscriptionType: 'standalone',
      parentSubscriptionId: null,
      version: child.version + 1,
    }),
  );
  await writeMembers(sql, scope, parent, rows, { action: 'ungrouped', at, tells });
}

/** Writes subscriptions that came to a group or left it, and has their workflows told. spec: §2.13 */
export async function writeMembers(
  sql: Sql,
  scope: Scope,
  parent: SubscriptionRow,
  rows: readonly SubscriptionRow[],
  { action, at, tells }: { action: string; at: string; tells: boolean },
): Promise<void> {
  await writeChanged(sql, scope, rows, { action, at, detail: () => ({ parent_subscription_id: parent.id }) });
  if (tells) await tellChildren(sql, scope, parent, rows, at);
}

/**
 * Puts on the parent's agenda that workflows of children are told of their changed rows, which its own workflow does. The caller
 * writes the parent's agenda down.
 */
export async function tellChildren(
  sql: Sql,
  scope: Scope,
  parent: Pick<SubscriptionRow, 'id'>,
  children: readonly SubscriptionRow[],
  at: string,
): Promise<void> {
  if (children.length === 0) return;
  await sql.rows(
    `insert into subscription_change (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, subscription_id, kind,
       effective_at, successor_subscription_id, attended, outcome)
     select t.id, $3, $1, $4, $5, $4, $5, $2, 'child_changed', $6, t.child, false, '{}' from unnest($7::text[], $8::text[]) as t(id, child)`,
    [
      scope.environmentId,
      parent.id,
      scope.tenantId,
      new Date().toISOString(),
      scope.actor,
      at,
      children.map(() => newId('subs_change')),
      children.map(({ id }) => id),
    ],
  );
}
