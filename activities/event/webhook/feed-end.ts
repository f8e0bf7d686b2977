import type { Database } from '../../../db/orm.ts';
import type { Scope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { placeEvents } from '../../../services/event/outbox-relay.ts';

/**
 * Ends of feeds, asked for by the senders of one worker. All senders of an environment hear of a commit at once: the first has its events
 * given their places, the others share the answer, where each would else wait for the lock of the one before and for its commit.
 * design: people-and-events §A 1, 5
 */
export class FeedEnds {
  readonly #database: Database;
  /** By environment: the step under way, and the one that begins behind it. */
  readonly #running = new Map<string, Promise<bigint>>();
  readonly #next = new Map<string, Promise<bigint>>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Last place of the feed, once everything that was committed before this call has one. Throws what the database throws. */
  async last(scope: Scope): Promise<bigint> {
    const { environmentId } = scope;
    const known = this.#next.get(environmentId);
    if (known) return known;
    const next = this.#placeBehind(this.#running.get(environmentId), scope);
    this.#next.set(environmentId, next);
    return next;
  }

  /** Begins after the step under way, which may have missed what was committed since it began. */
  async #placeBehind(running: Promise<bigint> | undefined, scope: Scope): Promise<bigint> {
    const { environmentId } = scope;
    await running?.catch(() => undefined);
    this.#next.delete(environmentId);
    const step = inSqlTransaction(this.#database, scope, placeEvents).then(BigInt);
    this.#running.set(environmentId, step);
    try {
      return await step;
    } finally {
      if (this.#running.get(environmentId) === step) this.#running.delete(environmentId);
    }
  }
}
