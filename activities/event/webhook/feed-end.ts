import { coalesce } from '../../../db/coalesce.ts';
import type { Database } from '../../../db/orm.ts';
import type { Scope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { placeEvents } from '../../../services/event/outbox-relay.ts';

/** Asks for the last place of an environment's feed, once everything that was committed before has one. */
export type FeedEnd = (scope: Scope) => Promise<bigint>;

/**
 * Ends of feeds for the senders of one worker. All senders of an environment hear of a commit at once: those who ask while events are given
 * their places share the next answer, where each would else wait for the lock of the one before and for its commit. Throws what the database
 * throws. design: people-and-events §A 1, 5
 */
export function feedEndOf(database: Database): FeedEnd {
  return coalesce<Scope, bigint>({
    groupOf: ({ environmentId }) => environmentId,
    gathers: false,
    async run(scopes) {
      const [scope] = scopes;
      if (!scope) return [];
      const end = BigInt(await inSqlTransaction(database, scope, placeEvents));
      return scopes.map(() => end);
    },
  });
}
