import { endTrialInGroup } from '../../../billing/subscription/subscription.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { readSubscriptions, type SubscriptionRow } from '../../charging/subscription-row.ts';
import { groupedChildren } from '../../invoice/draft/subscription-group.ts';
import { type Crossing, trialBoundary } from '../period/subscription-crossing.ts';
import { behindItsPhases } from '../phase/subscription-phase-cross.ts';
import { isInGroupTrial, moveTrial, trialGoesOn } from '../status/subscription-trial-move.ts';

/**
 * The ends of trials of locked children inside a period of their parents, which are locked and behind every boundary that is due:
 * each is charged from there on for its part of the period, by an invoice of its own to its parent's payer. While a parent is in
 * its trial or paused nothing of the group is invoiced, so that the child's goes on as long: those are changed and written here.
 * spec: subscriptions-and-invoicing §2.10, §2.13
 */
export async function groupTrialCrossings(
  sql: Sql,
  scope: Scope,
  children: readonly SubscriptionRow[],
  at: string,
): Promise<{ crossings: Crossing[]; goingOn: SubscriptionRow[] }> {
  const goingOn: SubscriptionRow[] = [];
  if (children.length === 0) return { crossings: [], goingOn };
  const parentIds = children.map(({ parentSubscriptionId }) => parentSubscriptionId as string);
  const parents = await readSubscriptions(sql, scope.environmentId, [...new Set(parentIds)]);
  const crossings: Crossing[] = [];
  for (const child of children) {
    const parent = parents.get(child.parentSubscriptionId ?? '');
    if (!parent) continue;
    if (trialGoesOn(child, parent)) {
      const moved = { parent, end: parent.currentPeriodEnd, at: child.currentPeriodEnd };
      goingOn.push(await moveTrial(sql, scope, child, moved));
    } else {
      const row = await behindItsPhases(sql, scope, child, child.currentPeriodEnd);
      crossings.push({ row, boundary: trialBoundary, closed: endTrialInGroup(row, parent), parentId: null, at });
    }
  }
  return { crossings, goingOn };
}

/** Children whose trial was over before their parent's boundary, which is being crossed, and whose workflows are late. Locked. */
export async function overdueTrials(
  sql: Sql,
  scope: Scope,
  parents: readonly SubscriptionRow[],
): Promise<SubscriptionRow[]> {
  const boundaries = new Map(parents.map(({ id, currentPeriodEnd }) => [id, currentPeriodEnd]));
  const children = await groupedChildren(sql, scope.environmentId, parents);
  return children.filter(
    (child) =>
      isInGroupTrial(child) && child.currentPeriodEnd < (boundaries.get(child.parentSubscriptionId ?? '') ?? ''),
  );
}
