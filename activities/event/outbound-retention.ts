import type { Database } from '../../db/orm.ts';
import { systemScope, workflowScope } from '../../db/scope.ts';
import { inSqlTransaction, type SqlTransaction } from '../../db/transaction.ts';
import { placeEvents } from '../../services/event/outbox-relay.ts';
import {
  forgetEvents,
  forgetFreed,
  type Owner,
  ownersOfOldEvents,
} from '../../services/event/retention/forget-events.ts';
import { passOldEvents } from '../../services/event/retention/pass-old-events.ts';

const dayMs = 86_400_000;
/** Events of one transaction: a reader of the feed, or an endpoint that is made, may wait for it. */
const atOnce = 500;
/** Transactions of one look; the next look goes on. */
const mostSteps = 100;

/**
 * Forgets outbound events of every environment that were created more than `days` days before `now` and that no endpoint waits for, in
 * transactions of 500 events, a hundred of them at most; `withFreed` those too that were waited for. Answers how many. A look that is
 * repeated, or made twice at once, forgets nothing more. design: people-and-events §B 17
 */
export async function forgetOldEvents(
  database: Database,
  { now, days, withFreed }: { now: string; days: number; withFreed: boolean },
): Promise<number> {
  const before = new Date(Date.parse(now) - days * dayMs).toISOString();
  const owners = await inSqlTransaction(database, systemScope, (tx) => ownersOfOldEvents(tx, before));
  let [forgotten, steps] = [0, 0];
  for (const owner of owners) {
    await placeAll(database, owner);
    for (const step of withFreed ? [forgetFirst, forgetFreed] : [forgetFirst]) {
      for (let count = -1; count !== 0 && steps < mostSteps; steps += 1) {
        count = await inSqlTransaction(database, workflowScope(owner), (tx) => step(tx, { before, atOnce }));
        forgotten += Math.max(count, 0);
      }
    }
  }
  return forgotten;
}

/** What nobody has read yet gets its place first: a reader who comes later is told that it is gone. */
async function placeAll(database: Database, owner: Owner): Promise<void> {
  await inSqlTransaction(database, workflowScope(owner), placeEvents);
}

async function forgetFirst(tx: SqlTransaction, which: { before: string; atOnce: number }): Promise<number> {
  const moved = await passOldEvents(tx, which);
  return (await forgetEvents(tx, which)) || (moved > 0 ? -1 : 0);
}
