import { isChild } from '../../../billing/subscription/hierarchy.ts';
import { compareText } from '../../../billing/text-order.ts';
import { earlier } from '../../../billing/time/calendar.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { lockSubscriptions, readSubscriptions, type SubscriptionRow } from '../../charging/subscription-row.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { duePhases, endPhases, startPhases } from '../phase/subscription-phase-cross.ts';
import { closePeriods, endTrials } from './subscription-close.ts';

/**
 * Locks a subscription for a command, with every boundary and phase behind it that the workflow has not closed yet: what came due before
 * the command happens before it. Throws `not_found`. spec: subscriptions-and-invoicing §2.5.1, §2.11 Missed boundaries
 */
export async function lockCaughtUp(
  sql: Sql,
  scope: Scope,
  command: { subscriptionId: string; at: string },
  readUsage: UsageReader,
): Promise<SubscriptionRow> {
  const { subscriptionId } = command;
  for (;;) {
    const row = (await lockSubscriptions(sql, scope.environmentId, [subscriptionId])).get(subscriptionId);
    if (!row) throw missing('subscription', subscriptionId);
    const [phase] = await duePhases(sql, row, earlier(row.currentPeriodEnd, command.at));
    if (phase) {
      const cross = phase.kind === 'startPhase' ? startPhases : endPhases;
      await cross(sql, scope, [{ subscriptionId, at: phase.at, ref: phase.ref }]);
      continue;
    }
    if (row.currentPeriodEnd > command.at || isChild(row)) return row;
    const boundary = [{ subscriptionId, at: row.currentPeriodEnd }];
    if (row.status === 'trialing') await endTrials(sql, scope, boundary, readUsage);
    else if (row.status === 'active' || row.status === 'paused') await closePeriods(sql, scope, boundary, readUsage);
    else return row;
  }
}

/**
 * Closes what is due of the parents of children that are about to take a step of their own, whose periods are closed with their
 * parents': what came before the step happens before it. Parents are locked before their children. spec: subscriptions-and-invoicing §2.13
 */
export async function catchUpParents(
  sql: Sql,
  scope: Scope,
  moments: readonly { subscriptionId: string; at: string }[],
  readUsage: UsageReader,
): Promise<void> {
  const ids = moments.map(({ subscriptionId }) => subscriptionId);
  const rows = await readSubscriptions(sql, scope.environmentId, ids);
  const behind = moments.flatMap(({ subscriptionId, at }) => {
    const row = rows.get(subscriptionId);
    const isGrouped = row?.subscriptionType === 'grouped_invoicing' && row.parentSubscriptionId !== null;
    return isGrouped ? [{ subscriptionId: row.parentSubscriptionId as string, at }] : [];
  });
  const inOrder = behind.sort((a, b) => compareText(a.subscriptionId, b.subscriptionId) || compareText(a.at, b.at));
  for (const parent of inOrder) await lockCaughtUp(sql, scope, parent, readUsage);
}
