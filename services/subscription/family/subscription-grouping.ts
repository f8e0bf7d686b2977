import { groupingProblem } from '../../../billing/subscription/grouping.ts';
import { checkParent } from '../../../billing/subscription/hierarchy.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { thresholdOf } from '../../charging/subscription-family.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { groupedChildren } from '../../invoice/draft/subscription-group.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { lockCaughtUp } from '../period/subscription-catch-up.ts';
import { release, writeMembers } from './subscription-group-leave.ts';

/** Subscriptions that are to be invoiced with a parent, or no longer. */
export interface Grouping {
  ids: readonly string[];
  at: string;
  /** Where the request names them, for the messages. */
  field: string;
  parentField: string;
  /** True for a parent that is only made. */
  creating?: boolean;
  /** True where the child itself is asked, whose workflow knows then. */
  isAskedOfChild?: boolean;
}

/**
 * Has subscriptions invoiced with a parent from their next boundary on; those that are so already stay. The ids of the others.
 * Throws `not_found`, and `validation_error` for those that do not fit. spec: subscriptions-and-invoicing §2.13 Grouped add
 */
export async function groupSubscriptions(
  sql: Sql,
  scope: Scope,
  parent: SubscriptionRow,
  wanted: Grouping,
  readUsage: UsageReader,
): Promise<string[]> {
  const { at, field, creating = false } = wanted;
  checkParent(parent, { threshold: await thresholdOf(sql, parent), field: wanted.parentField, creating });
  const rows: SubscriptionRow[] = [];
  for (const id of [...new Set(wanted.ids)].sort()) {
    const child = await childToGroup(sql, scope, { id, at, field }, readUsage);
    if (child.subscriptionType === 'grouped_invoicing' && child.parentSubscriptionId === parent.id) continue;
    const problem = groupingProblem(child, parent, await thresholdOf(sql, child));
    if (problem !== null) throw badField(field, `names subscription ${id}, which ${problem}`);
    rows.push({
      ...child,
      subscriptionType: 'grouped_invoicing',
      parentSubscriptionId: parent.id,
      inHierarchy: true,
      version: child.version + 1,
    });
  }
  await writeMembers(sql, scope, parent, rows, { action: 'grouped', at, tells: !wanted.isAskedOfChild });
  return rows.map(({ id }) => id);
}

async function childToGroup(
  sql: Sql,
  scope: Scope,
  { id, at, field }: { id: string; at: string; field: string },
  readUsage: UsageReader,
): Promise<SubscriptionRow> {
  const [known] = await sql.rows(
    `select 1 from subscription where environment_id = $1 and id = $2 and status = 'published'`,
    [scope.environmentId, id],
  );
  if (!known) throw missing('subscription', id, field);
  return lockCaughtUp(sql, scope, { subscriptionId: id, at }, readUsage);
}

/**
 * Has children of a group invoiced by themselves again, for the whole of their current period. Their ids. Throws
 * `validation_error` for one that is not in this group. spec: subscriptions-and-invoicing §2.13 Grouped remove
 */
export async function ungroupSubscriptions(
  sql: Sql,
  scope: Scope,
  parent: SubscriptionRow,
  wanted: Grouping,
): Promise<string[]> {
  const children = await groupedChildren(sql, scope.environmentId, [parent]);
  const leaving = [...new Set(wanted.ids)].map((id) => {
    const child = children.find((row) => row.id === id);
    if (!child) throw badField(wanted.field, `names subscription ${id}, which is not invoiced with ${parent.id}`);
    if (child.status === 'paused')
      throw badField(wanted.field, `names subscription ${id}, which is paused; resume ${parent.id} first`);
    return child;
  });
  await release(sql, scope, parent, leaving, { at: wanted.at, tells: !wanted.isAskedOfChild });
  return leaving.map(({ id }) => id);
}
