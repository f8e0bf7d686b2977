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
    for (const step of withFreed ? [forgetFirst, forgetWaitedFor] : [forgetFirst]) {
      for (let isMore = true; isMore && steps < mostSteps; steps += 1) {
        const done = await inSqlTransaction(database, workflowScope(owner), (tx) => step(tx, { before, atOnce }));
        forgotten += done.forgotten;
        isMore = done.isMore;
      }
    }
  }
  return forgotten;
}

/** Gives events their places before they go: a reader who comes later is told that they are gone. */
async function placeAll(database: Database, owner: Owner): Promise<void> {
  await inSqlTransaction(database, workflowScope(owner), placeEvents);
}

/** Work of one transaction: how many events it forgot, and true while there may be more to do. */
interface Done {
  forgotten: number;
  isMore: boolean;
}

async function forgetFirst(tx: SqlTransaction, which: { before: string; atOnce: number }): Promise<Done> {
  const moved = await passOldEvents(tx, which);
  const forgotten = await forgetEvents(tx, which);
  return { forgotten, isMore: forgotten > 0 || moved > 0 };
}

async function forgetWaitedFor(tx: SqlTransaction, which: { before: string; atOnce: number }): Promise<Done> {
  const forgotten = await forgetFreed(tx, which);
  return { forgotten, isMore: forgotten > 0 };
}
