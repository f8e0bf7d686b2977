import { earlier } from '../../../billing/calendar.ts';
import { isChild } from '../../../billing/hierarchy.ts';
import { missing } from '../../record.ts';
import type { Scope } from '../../scope.ts';
import type { Sql } from '../../transaction.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { closePeriods, endTrials } from './subscription-close.ts';
import { duePhases, endPhases, startPhases } from './subscription-phase-cross.ts';
import { lockSubscriptions, type SubscriptionRow } from './subscription-row.ts';

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
