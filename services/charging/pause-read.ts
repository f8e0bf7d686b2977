import type { PauseInterval } from '../../billing/subscription/pause.ts';
import type { Interval } from '../../billing/time/calendar.ts';
import { SubscriptionPause } from '../../db/entities/subscription/subscription-pause.ts';
import { instantText } from '../../db/rows/columns.ts';
import type { Sql, Transaction } from '../../db/transaction.ts';

/** The pauses of a subscription, oldest first. */
export async function readPauses(sql: Sql, environmentId: string, subscriptionId: string): Promise<PauseInterval[]> {
  const rows = await sql.rows<{ pause_start: string; resumed_at: string | null }>(
    `select pause_start, resumed_at from subscription_pause where environment_id = $1 and subscription_id = $2 order by pause_start, id`,
    [environmentId, subscriptionId],
  );
  return rows.map((row) => ({
    pauseStart: instantText(row.pause_start),
    resumedAt: row.resumed_at ? instantText(row.resumed_at) : null,
  }));
}

/** Stretches in which subscriptions were paused, [pause, resume), by subscription id. spec: subscriptions-and-invoicing §2.11 */
export async function readPausedStretches(
  sql: Sql,
  environmentId: string,
  subscriptionIds: readonly string[],
): Promise<Map<string, Interval[]>> {
  const rows = await sql.rows<{ subscription_id: string; pause_start: string; resumed_at: string }>(
    `select subscription_id, pause_start, resumed_at from subscription_pause
     where environment_id = $1 and subscription_id = any($2) and resumed_at is not null order by pause_start`,
    [environmentId, subscriptionIds],
    'paused-stretches',
  );
  const grouped = Map.groupBy(rows, (row) => row.subscription_id);
  return new Map(
    [...grouped].map(([id, own]) => [
      id,
      own.map((row) => ({ start: instantText(row.pause_start), end: instantText(row.resumed_at) })),
    ]),
  );
}

/** The pauses of subscriptions with everything their view shows, newest first, by subscription id. spec: §1.1 GET pauses */
export async function pausesOf(
  tx: Transaction,
  subscriptionIds: readonly string[],
): Promise<Map<string, SubscriptionPause[]>> {
  const rows = await tx.em.find(
    SubscriptionPause,
    { environmentId: tx.scope.environmentId, subscriptionId: { $in: [...subscriptionIds] } },
    { orderBy: { pauseStart: 'desc', id: 'desc' } },
  );
  return Map.groupBy(rows, (row) => row.subscriptionId);
}
