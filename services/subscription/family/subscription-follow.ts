import { followEvents, followParent } from '../../../billing/subscription/hierarchy.ts';
import type { SubscriptionStatus } from '../../../billing/subscription/subscription.ts';
import { newId } from '../../../db/id.ts';
import { writeRows } from '../../../db/rows/bulk.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { demoteChildless, lockChildren } from '../../charging/subscription-family.ts';
import { type SubscriptionRow, subscriptionRecord, updateSubscriptions } from '../../charging/subscription-row.ts';
import { refreshAgendas } from '../../charging/subscription-snapshot.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { subscriptionEvent } from '../read/subscription-event.ts';
import { completePause, insertPause } from '../status/pause-write.ts';
import { endSubscriptionParts } from '../status/subscription-end.ts';
import { tellChildren } from './subscription-group-leave.ts';

/** A subscription that was just written, and when its change took place. */
export interface Followed {
  row: SubscriptionRow;
  at: string;
}

interface Following {
  before: SubscriptionRow;
  after: SubscriptionRow;
  at: string;
}

/**
 * Lets inherited children follow their parents, in the transaction that changed those: status, period, trial, pause and end, each
 * with its events and audit. A parent whose last child left is standalone again; its row is changed in place. One call for any
 * number of subscriptions, none of which costs anything without children. spec: subscriptions-and-invoicing §2.10–§2.13
 */
export async function followParents(sql: Sql, scope: Scope, changed: readonly Followed[]): Promise<void> {
  const parents = new Map(changed.filter(({ row }) => row.inHierarchy).map((each) => [each.row.id, each]));
  if (parents.size === 0) return;
  const children = await lockChildren(sql, scope.environmentId, [...parents.keys()], 'inherited');
  const followings = children.flatMap((before): Following[] => {
    const { row: parent, at } = parents.get(before.parentSubscriptionId ?? '')!;
    const after = followed(before, parent);
    return isSame(before, after) ? [] : [{ before, after: { ...after, version: before.version + 1 }, at }];
  });
  await writeFollowings(sql, scope, followings);
  await activateGroups(sql, scope, [...parents.values()]);
  await demoteChildless(
    sql,
    scope,
    [...parents.values()].map(({ row }) => row),
  );
}

/** Children of a group that waited for the opening invoice of their parent begin with it. spec: subscriptions-and-invoicing §2.13 */
async function activateGroups(sql: Sql, scope: Scope, parents: readonly Followed[]): Promise<void> {
  for (const { row: parent, at } of parents.filter(({ row }) => row.status === 'active')) {
    const waiting = await lockChildren(sql, scope.environmentId, [parent.id], 'grouped_invoicing');
    const before = waiting.filter(({ status }) => status === 'incomplete');
    const followings = before.map((row) => ({
      before: row,
      after: { ...row, status: 'active' as const, version: row.version + 1 },
      at,
    }));
    await writeFollowings(sql, scope, followings);
    await tellChildren(sql, scope, parent, before, at);
  }
}

function followed(before: SubscriptionRow, parent: SubscriptionRow): SubscriptionRow {
  const after = { ...before, ...followParent(before, parent), planId: parent.planId };
  if (after.status === 'paused') {
    return before.status === 'paused' ? after : { ...after, pauseStatus: 'active', activePauseId: newId('pause') };
  }
  return { ...after, pauseStatus: 'none', activePauseId: '' };
}

function isSame(before: SubscriptionRow, after: SubscriptionRow): boolean {
  return JSON.stringify({ ...before, metadata: null }) === JSON.stringify({ ...after, metadata: null });
}

async function writeFollowings(sql: Sql, scope: Scope, followings: readonly Following[]): Promise<void> {
  if (followings.length === 0) return;
  const now = new Date().toISOString();
  const rows = followings.map(({ after }) => after);
  await writeRows(
    sql,
    updateSubscriptions,
    rows.map((row) => subscriptionRecord(row, scope.actor, now)),
  );
  for (const following of followings) await writePause(sql, scope, following);
  const ended = followings.filter(({ after }) => after.status === 'cancelled');
  await endSubscriptionParts(
    sql,
    scope,
    ended.map(({ after }) => ({ subscriptionId: after.id, at: after.endDate! })),
  );
  await writeEvents(
    sql,
    scope,
    followings.flatMap(({ before, after, at }) =>
      followEvents(before.status, after.status).map((name) => subscriptionEvent(name, after, at)),
    ),
  );
  await writeAudit(
    sql,
    scope,
    followings.map(({ before, after, at }) => ({
      objectType: 'subscription',
      objectId: after.id,
      action: actionOf(before.status, after.status),
      version: after.version,
      occurredAt: at,
      detail: { parent_subscription_id: after.parentSubscriptionId },
    })),
  );
  await refreshAgendas(sql, scope.environmentId, rows);
}

function actionOf(before: SubscriptionStatus, after: SubscriptionStatus): string {
  if (before === after) return 'followed its parent';
  if (before === 'draft' && after !== 'cancelled') return 'draft activated';
  if (after === 'cancelled' || after === 'paused') return `${after} with its parent`;
  return before === 'paused' ? 'resumed with its parent' : `${after} with its parent`;
}

async function writePause(sql: Sql, scope: Scope, { before, after, at }: Following): Promise<void> {
  if (after.status === 'paused' && before.status !== 'paused') {
    const pause = { pauseId: after.activePauseId, at, pauseEnd: null, reason: '', metadata: {} };
    await insertPause(sql, scope, before, pause);
  }
  if (before.status === 'paused' && after.status === 'active') {
    await completePause(sql, scope, before.activePauseId, { at, metadata: {} });
  }
}
