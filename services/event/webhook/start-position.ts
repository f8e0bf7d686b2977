import type { ScopedSql } from '../../../db/transaction.ts';
import { placeEvents } from '../outbox-relay.ts';
import { forgottenPlace } from '../retention/forgotten-place.ts';

/** First events that a new endpoint gets: those from now on, all that are kept, or those that were created at an instant or later. */
export type EndpointStart = 'now' | 'beginning' | { from: string };

/** No transaction is open so long that an event of it is placed so much later than one that was written after it. */
const longestTransactionMs = 3_600_000;

/**
 * Place in the feed behind which a new endpoint begins, and the last place of the feed. Of an instant it is the one before the first event
 * that was created then or later; events that were placed behind it although they are a little older come too.
 * design: people-and-events §B 15
 */
export async function startPosition(tx: ScopedSql, start: EndpointStart): Promise<{ position: string; end: string }> {
  const end = await placeEvents(tx);
  if (start === 'now') return { position: end, end };
  if (start === 'beginning') return { position: await forgottenPlace(tx), end };
  const surelyBefore = new Date(Date.parse(start.from) - longestTransactionMs).toISOString();
  const after = await lastPlaceBefore(tx, surelyBefore, { from: BigInt(await forgottenPlace(tx)), end: BigInt(end) });
  const [first] = await tx.rows<{ place: string }>(
    `select f.feed_position::text as place from outbox_feed f join outbox_event e on e.id = f.event_id
     where f.environment_id = $1 and f.feed_position > $2::bigint and e.created_at >= $3
     order by f.feed_position limit 1`,
    [tx.scope.environmentId, String(after), start.from],
  );
  return { position: first ? String(BigInt(first.place) - 1n) : end, end };
}

/** A place whose event was created before an instant and the next one's was not, found by halving; `from` where all behind it are later. */
async function lastPlaceBefore(
  tx: ScopedSql,
  instant: string,
  { from, end }: { from: bigint; end: bigint },
): Promise<bigint> {
  let [low, high] = [from, end];
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    const [found] = await tx.rows<{ is_before: boolean }>(
      `select e.created_at < $3 as is_before from outbox_feed f join outbox_event e on e.id = f.event_id
       where f.environment_id = $1 and f.feed_position = $2::bigint`,
      [tx.scope.environmentId, String(middle), instant],
    );
    if (found?.is_before ?? true) low = middle;
    else high = middle - 1n;
  }
  return low;
}
