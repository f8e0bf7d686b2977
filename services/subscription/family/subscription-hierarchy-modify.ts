import { refuse } from '../../../billing/refusal.ts';
import type { GroupingChange, InheritanceChange } from '../../../billing/subscription/subscription-change.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import {
  readSubscriptions,
  type SubscriptionRow,
  subscriptionRecord,
  updateSubscriptions,
} from '../../charging/subscription-row.ts';
import { type AttendedSubscription, refreshAgendas } from '../../charging/subscription-snapshot.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { lockCaughtUp } from '../period/subscription-catch-up.ts';
import { type ChangeOrder, carryOut, type Decided, nothingMade } from '../plan-change/subscription-change.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';
import { followParents } from './subscription-follow.ts';
import { groupSubscriptions, ungroupSubscriptions } from './subscription-grouping.ts';
import { inheritSubscription, removeHeirs } from './subscription-inheritance.ts';

const addedField = 'inheritance_params.external_customer_ids_to_inherit_subscription';
const removedField = 'inheritance_params.external_customer_ids_to_remove';

/**
 * Lets customers inherit a subscription from now on, or no longer from the end of its current period. What is so already changes
 * nothing. Throws what `inheritSubscription` and `removeHeirs` throw. spec: subscriptions-and-invoicing §1.8 inheritance, §2.13
 */
export async function changeInheritance(
  sql: Sql,
  scope: Scope,
  order: ChangeOrder,
  input: InheritanceChange,
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  await lockCaughtUp(sql, scope, order, readUsage);
  return carryOut(sql, scope, order, input, async (before, at): Promise<Decided | null> => {
    const adds = input.action === 'add';
    const { externalIds } = input;
    const wanted = { externalIds, at, field: adds ? addedField : removedField, parentField: 'id' };
    if (!adds) refuseEnded(before);
    const change = adds ? inheritSubscription : removeHeirs;
    const ids = await change(sql, scope, before, wanted);
    if (ids.length === 0) return null;
    return {
      ...nothingMade(),
      row: adds ? { ...before, subscriptionType: 'parent', inHierarchy: true } : before,
      kind: 'inheritance_changed',
      action: adds ? 'children added' : 'children removed',
      effectiveAt: adds ? at : before.currentPeriodEnd,
      events: [],
      subscriptionIds: ids,
      detail: { child_subscription_ids: ids },
    };
  });
}

const childrenField = 'grouped_invoicing_params.child_subscription_ids';
const parentField = 'grouped_invoicing_params.parent_subscription_id';

/**
 * Has subscriptions invoiced with a parent from the next boundary on, or by themselves again for the whole of their current period;
 * asked of the parent or of the child. Throws what `groupSubscriptions` and `ungroupSubscriptions` throw.
 * spec: subscriptions-and-invoicing §1.8 grouped_invoicing, §2.13
 */
export async function changeGrouping(
  sql: Sql,
  scope: Scope,
  order: ChangeOrder,
  input: GroupingChange,
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  if (input.childIds.length === 0) return changeOwnGroup(sql, scope, order, input, readUsage);
  await lockCaughtUp(sql, scope, order, readUsage);
  const grouping = { ...order, looksAt: { childIds: input.childIds } };
  return carryOut(sql, scope, grouping, input, async (before, at): Promise<Decided | null> => {
    const wanted = { ids: input.childIds, at, field: childrenField, parentField: 'id' };
    const adds = input.action === 'add';
    const ids = adds
      ? await groupSubscriptions(sql, scope, before, wanted, readUsage)
      : await ungroupSubscriptions(sql, scope, before, wanted);
    if (ids.length === 0) return null;
    return { ...grouped(before, at, ids), row: adds ? asParent(before) : before };
  });
}

/** The changed subscription is the child: its parent is locked first, as whoever closes its periods does. */
async function changeOwnGroup(
  sql: Sql,
  scope: Scope,
  order: ChangeOrder,
  { action, parentId, childIds }: GroupingChange,
  readUsage: UsageReader,
): Promise<AttendedSubscription> {
  const { environmentId } = scope;
  const own = (await readSubscriptions(sql, environmentId, [order.subscriptionId])).get(order.subscriptionId);
  const of =
    action === 'add' ? parentId : own?.subscriptionType === 'grouped_invoicing' ? own.parentSubscriptionId : null;
  if (of === null)
    throw badField('id', `names subscription ${order.subscriptionId}, which is not invoiced with another`);
  if (!(await readSubscriptions(sql, environmentId, [of])).has(of)) throw missing('subscription', of, parentField);
  const parent = await lockCaughtUp(sql, scope, { subscriptionId: of, at: order.at }, readUsage);
  const asked = { action, parentId, childIds };
  return carryOut(sql, scope, { ...order, looksAt: { parent } }, asked, async (before, at): Promise<Decided | null> => {
    const wanted = { ids: [before.id], at, field: 'id', parentField, isAskedOfChild: true };
    const ids =
      action === 'add'
        ? await groupSubscriptions(sql, scope, parent, wanted, readUsage)
        : await ungroupSubscriptions(sql, scope, parent, wanted);
    if (ids.length === 0) return null;
    await writeParent(sql, scope, action === 'add' ? asParent(parent) : parent, at);
    const row = (await readSubscriptions(sql, environmentId, [before.id])).get(before.id)!;
    return { ...grouped(before, at, []), row, isWritten: true };
  });
}

const asParent = (row: SubscriptionRow): SubscriptionRow => ({ ...row, subscriptionType: 'parent', inHierarchy: true });

function grouped(row: SubscriptionRow, at: string, ids: string[]): Decided {
  return {
    ...nothingMade(),
    row,
    kind: 'grouping_changed',
    action: 'group changed',
    effectiveAt: at,
    events: [],
    subscriptionIds: ids,
    detail: { child_subscription_ids: ids },
  };
}

/** The parent of a change that was asked of its child. */
async function writeParent(sql: Sql, scope: Scope, parent: SubscriptionRow, at: string): Promise<void> {
  const row = { ...parent, version: parent.version + 1 };
  await writeRows(sql, updateSubscriptions, [subscriptionRecord(row, scope.actor, new Date().toISOString())]);
  await writeEvents(sql, scope, [subscriptionEvent('subscription.updated', row, at)]);
  const told = { objectType: 'subscription', objectId: row.id, action: 'group changed', version: row.version };
  await writeAudit(sql, scope, [{ ...told, occurredAt: at }]);
  await followParents(sql, scope, [{ row, at }]);
  await refreshAgendas(sql, scope.environmentId, [row]);
}

function refuseEnded({ id, status }: { id: string; status: string }): void {
  if (status !== 'cancelled' && status !== 'draft') return;
  const problem = `names subscription ${id}, which is ${status}; children leave one that is running`;
  throw refuse('validation_error', `id ${problem}`, { fields: { id: problem } });
}
