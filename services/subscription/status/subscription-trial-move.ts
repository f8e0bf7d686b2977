import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { groupedChildren } from '../../invoice/draft/subscription-group.ts';
import { tellChildren } from '../family/subscription-group-leave.ts';
import { writeChanged } from '../plan-change/subscription-changed.ts';

/** True for a child that comes out of a trial into the periods of the parent it is invoiced with. spec: §2.13 */
export function isInGroupTrial({ subscriptionType, status }: SubscriptionRow): boolean {
  return subscriptionType === 'grouped_invoicing' && status === 'trialing';
}

/**
 * True for a child whose trial does not end yet because its parent is in its own or paused, and nothing of the group is invoiced;
 * an end of the child itself that is due comes all the same. spec: subscriptions-and-invoicing §2.11 While paused, §2.13
 */
export function trialGoesOn(child: SubscriptionRow, { status }: Pick<SubscriptionRow, 'status'>): boolean {
  const isOver = [child.cancelAt, child.endDate].some((end) => end !== null && end <= child.currentPeriodEnd);
  return !isOver && (status === 'trialing' || status === 'paused');
}

/** Children that have the trial of their parent and no end to come have its new end too; their workflows are told. spec: §2.13 */
export async function moveTrialsWith(
  sql: Sql,
  scope: Scope,
  parent: SubscriptionRow,
  end: string,
  at: string,
): Promise<void> {
  const children = (await groupedChildren(sql, scope.environmentId, [parent])).filter(
    (child) => isInGroupTrial(child) && child.currentPeriodEnd === parent.currentPeriodEnd && child.cancelAt === null,
  );
  const moved: SubscriptionRow[] = [];
  for (const child of children) moved.push(await moveTrial(sql, scope, child, { parent, end, at }));
  await tellChildren(sql, scope, parent, moved, at);
}

/** Moves the end of a child's trial to one of its parent. The row as it is then. */
export async function moveTrial(
  sql: Sql,
  scope: Scope,
  child: SubscriptionRow,
  { parent, end, at }: { parent: SubscriptionRow; end: string; at: string },
): Promise<SubscriptionRow> {
  const row = { ...child, trialEnd: end, currentPeriodEnd: end, version: child.version + 1 };
  const detail = () => ({ parent_subscription_id: parent.id, trial_end: end, before: child.trialEnd });
  await writeChanged(sql, scope, [row], { action: 'trial end changed', at, detail });
  return row;
}
