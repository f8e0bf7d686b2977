import { refuse } from '../../billing/refusal.ts';
import { instantText } from '../../db/rows/columns.ts';
import { badField } from '../../db/rows/record.ts';
import type { ScopedSql } from '../../db/transaction.ts';
import { placeEvents } from './outbox-relay.ts';
import { forgottenPlace } from './retention/forgotten-place.ts';

/** An outbound event as the feed shows it. */
export interface FeedEvent {
  id: string;
  /** The position right after this event. */
  cursor: string;
  sequence: number;
  eventName: string;
  entityType: string;
  entityId: string;
  payload: Record<string, unknown>;
  occurredAt: string;
  createdAt: string;
}

export interface FeedPage {
  events: FeedEvent[];
  /** Where the next page starts; the same as before when nothing came. */
  next: string;
  hasMore: boolean;
}

/**
 * Reads the events of the scope's environment behind `after` (from the first that is kept when null; `latest` is the present end), in the
 * order of their places in the feed. A place is given once, by `placeEvents`, and everything that is committed has one by then: what
 * commits later comes later, so a reader that goes on from `next` misses nothing and needs no other transaction to end. The events of
 * one object come in the order of their `sequence`, which has no gap. Throws `validation_error` for a cursor that is not ours, and for one whose
 * next event is not kept any more. design: architecture §5 Outbox, people-and-events §A 1, 2, B 17; spec: platform §17.1
 */
export async function readOutboundEvents(
  tx: ScopedSql,
  query: { after: string | null; limit: number },
): Promise<FeedPage> {
  const from = query.after === null || query.after === 'latest' ? null : decodeCursor(query.after);
  const end = await placeEvents(tx);
  const after =
    query.after === 'latest' ? end : from === null ? await forgottenPlace(tx) : await placeBehind(tx, from, end);
  const rows = await tx.rows<FeedRow>(readText, [tx.scope.environmentId, after, query.limit + 1]);
  // Events that were forgotten between two statements are missing in the later one.
  if (from !== null && BigInt(after) < BigInt(end))
    refuseForgotten(after, rows[0]?.forgotten ?? (await forgottenPlace(tx)));
  const page = rows.slice(0, query.limit);
  return {
    events: page.map(feedEvent),
    next: encodeCursor(page.at(-1)?.feed_position ?? after),
    hasMore: rows.length > query.limit,
  };
}

/** Position from which a reader goes on, and why it is not the one that was asked for; null when it is. */
export interface FeedStart {
  from: string;
  lost: 'unknown_cursor' | 'expired_cursor' | null;
}

/**
 * Finds where a reader who stands at `cursor` goes on: there, or at the present end when events behind it may be missing. That is so for
 * a text that is no cursor, for a place the feed has not reached (`unknown_cursor`: the database was restored to an earlier moment), and for
 * one whose next event is not kept any more (`expired_cursor`). `latest` is the present end, `beginning` the first event that is kept.
 * design: people-and-events §B 29
 */
export async function startOfReading(tx: ScopedSql, cursor: string): Promise<FeedStart> {
  const end = await placeEvents(tx);
  if (cursor === 'latest') return { from: encodeCursor(end), lost: null };
  if (cursor === 'beginning') return { from: encodeCursor(await forgottenPlace(tx)), lost: null };
  const position = positionOf(cursor);
  if (!position || ('place' in position && BigInt(position.place) > BigInt(end))) {
    return { from: encodeCursor(end), lost: 'unknown_cursor' };
  }
  const place = await placeBehind(tx, position, end);
  const isKept = BigInt(place) >= BigInt(await forgottenPlace(tx));
  return isKept ? { from: encodeCursor(place), lost: null } : { from: encodeCursor(end), lost: 'expired_cursor' };
}

/** Refuses to read on behind a place whose next event is not kept any more, and names the cursor of the first that is. */
function refuseForgotten(after: string, forgotten: string): void {
  if (BigInt(after) >= BigInt(forgotten)) return;
  const problem =
    'is older than the oldest event that is kept: events behind it may be missing. Read the objects you keep anew, and go on from `expired_cursor.next`';
  const details = { fields: { after: problem }, expired_cursor: { next: encodeCursor(forgotten) } };
  throw refuse('validation_error', `after ${problem}`, details);
}

function feedEvent(row: FeedRow): FeedEvent {
  return {
    id: row.id,
    cursor: encodeCursor(row.feed_position),
    sequence: row.sequence,
    eventName: row.event_name,
    entityType: row.entity_type,
    entityId: row.entity_id,
    payload: row.payload,
    occurredAt: instantText(row.occurred_at),
    createdAt: instantText(row.created_at),
  };
}

/** Opaque to callers, so that its form may change. */
function encodeCursor(place: string): string {
  return Buffer.from(`2.${place}`).toString('base64url');
}

/** A position as a cursor tells it: a place, or in cursors of an earlier form a transaction and a place within it. */
type Position = { place: string } | { transactionId: string; position: string };

const largestTransactionId = 2n ** 64n - 1n;
const largestPlace = 2n ** 63n - 1n;

function decodeCursor(cursor: string): Position {
  const position = positionOf(cursor);
  if (position) return position;
  throw badField('after', 'must be a cursor of this feed, `latest`, or absent to start with the first event');
}

function positionOf(cursor: string): Position | null {
  const text = cursor.length <= 100 ? Buffer.from(cursor, 'base64url').toString('latin1') : '';
  const [, place] = /^2\.(\d{1,19})$/.exec(text) ?? [];
  if (place && BigInt(place) <= largestPlace) return { place };
  const [, transactionId, position] = /^1\.(\d{1,20})\.(\d{1,19})$/.exec(text) ?? [];
  if (transactionId && position && BigInt(transactionId) <= largestTransactionId && BigInt(position) <= largestPlace) {
    return { transactionId, position };
  }
  return null;
}

/**
 * The place a cursor stands behind, which is not behind the `end`: after a restore to an earlier moment the next event comes there. One of the earlier form goes on before the first event its reader cannot have seen, which may
 * show some again; after a restore it starts anew, for it names transactions of a cluster that is gone.
 */
async function placeBehind(tx: ScopedSql, from: Position, end: string): Promise<string> {
  if ('place' in from) return BigInt(from.place) < BigInt(end) ? from.place : end;
  const [found] = await tx.rows<{ place: string }>(placeBehindText, [
    tx.scope.environmentId,
    from.transactionId,
    from.position,
  ]);
  return found?.place ?? end;
}

interface FeedRow {
  id: string;
  /** Place up to which nothing is shown any more. */
  forgotten: string;
  feed_position: string;
  sequence: number;
  event_name: string;
  entity_type: string;
  entity_id: string;
  payload: Record<string, unknown>;
  occurred_at: string;
  created_at: string;
}

const forgotten = '(select forgotten_position from outbox_relay where environment_id = $1)';

const readText = `
select e.id, f.feed_position::text as feed_position, e.sequence, e.event_name, e.entity_type, e.entity_id, e.payload, e.occurred_at, e.created_at,
  ${forgotten}::text as forgotten
from outbox_feed f join outbox_event e on e.id = f.event_id
where f.environment_id = $1 and f.feed_position > greatest(${forgotten}, $2::bigint)
order by f.feed_position
limit $3`;

// A cursor of before the first event that is kept counts as forgotten: nothing tells whether events lay between the two.
const placeBehindText = `
select (case when r.was_restored or behind.place <= r.forgotten_position then 0 else behind.place end)::text as place
from outbox_relay r cross join lateral (select coalesce((
  select min(f.feed_position) - 1 from outbox_event e join outbox_feed f on f.environment_id = $1 and f.event_id = e.id
  where e.environment_id = $1 and (e.transaction_id, e.position) > ($2::xid8, $3::bigint)), r.last_position) as place) behind
where r.environment_id = $1`;
