import { instantText } from '../../../db/rows/columns.ts';
import type { ScopedSql } from '../../../db/transaction.ts';

/** An event that an endpoint is due. */
export interface DueEvent {
  id: string;
  place: bigint;
  name: string;
  entityId: string;
  sequence: number;
  occurredAt: string;
  createdAt: string;
  /** The body as it is stored; an invoice is named there only. */
  payload: string;
}

/** A part of the feed as an endpoint sees it. */
export interface DuePage {
  due: DueEvent[];
  /** Place up to which was looked. */
  scanned: bigint;
  /** True when there may be more behind it. */
  isMore: boolean;
}

/**
 * Reads on in the feed for an endpoint: `limit` places behind `after`, up to `end`, and of their events those whose type it had asked for
 * at their place. `end` comes from `placeEvents` in a transaction of its own, because the lock it takes must not last while others wait to read
 * the same feed. design: people-and-events §A 1, 2, 4
 */
export async function dueEvents(
  tx: ScopedSql,
  { endpointId, after, end, limit }: { endpointId: string; after: bigint; end: bigint; limit: number },
): Promise<DuePage> {
  if (end <= after) return { due: [], scanned: after, isMore: false };
  const upTo = end < after + BigInt(limit) ? end : after + BigInt(limit);
  const rows = await tx.rows<DueRow>(
    pageText,
    [endpointId, tx.scope.environmentId, String(after), String(upTo)],
    'webhook-due',
  );
  return { due: rows.map(dueEvent), scanned: upTo, isMore: upTo < end };
}

/** The events of one object from `from` on, in their order, whose place is `upTo` at most and that the endpoint is due. */
export async function dueEventsOf(
  tx: ScopedSql,
  { endpointId, entityId, from, upTo, limit }: ObjectQuery,
): Promise<DueEvent[]> {
  const rows = await tx.rows<DueRow>(
    objectText,
    [endpointId, tx.scope.environmentId, entityId, from, String(upTo), limit],
    'webhook-due-of-object',
  );
  return rows.map(dueEvent);
}

export interface ObjectQuery {
  endpointId: string;
  entityId: string;
  from: number;
  upTo: bigint;
  limit: number;
}

/** Events before one of an object: the sequence of the last one that was due, and how many were skipped in a row up to it. */
export interface Before {
  previous: number;
  skipped: number;
}

/** Events before one of each object: 0 and 0 where it is the first that the endpoint is due. design: people-and-events §A 4 */
export async function beforeEvents(
  tx: ScopedSql,
  endpointId: string,
  events: readonly Pick<DueEvent, 'entityId' | 'sequence'>[],
): Promise<Map<string, Before>> {
  const before = await beforeEach(tx, endpointId, events);
  return new Map(events.flatMap(({ entityId }, index) => (before[index] ? [[entityId, before[index]]] : [])));
}

/** Events before each of these, in their order. */
export async function beforeEach(
  tx: ScopedSql,
  endpointId: string,
  events: readonly Pick<DueEvent, 'entityId' | 'sequence'>[],
): Promise<Before[]> {
  if (events.length === 0) return [];
  return tx.rows<{ previous: number; skipped: number }>(
    beforeText,
    [
      endpointId,
      tx.scope.environmentId,
      events.map(({ entityId }) => entityId),
      events.map(({ sequence }) => sequence),
    ],
    'webhook-before',
  );
}

export interface DueRow {
  id: string;
  place: string;
  event_name: string;
  entity_id: string;
  sequence: number;
  occurred_at: string;
  created_at: string;
  payload: string;
}

export function dueEvent(row: DueRow): DueEvent {
  return {
    id: row.id,
    place: BigInt(row.place),
    name: row.event_name,
    entityId: row.entity_id,
    sequence: row.sequence,
    occurredAt: instantText(row.occurred_at),
    createdAt: instantText(row.created_at),
    payload: row.payload,
  };
}

/** SQL that is true for an event of `e` and `f` whose type an endpoint had asked for at its place, and null before the endpoint's start. */
export const isDue = (e: string, f: string, endpointId = '$1') => `(
  select case when cardinality(w.event_types) = 0 then ${e}.event_name <> 'event.rejected' else ${e}.event_name = any(w.event_types) end
  from webhook_filter w where w.endpoint_id = ${endpointId} and w.from_position < ${f}.feed_position order by w.from_position desc limit 1)`;

/** Columns of a `DueRow`, of `e` and its place `f`. */
export const dueColumns = `e.id, f.feed_position::text as place, e.event_name, e.entity_id, e.sequence, e.occurred_at, e.created_at, e.payload::text as payload`;

const pageText = `
select ${dueColumns} from outbox_feed f join outbox_event e on e.id = f.event_id
where f.environment_id = $2 and f.feed_position > $3::bigint and f.feed_position <= $4::bigint and ${isDue('e', 'f')}
order by f.feed_position`;

const objectText = `
select ${dueColumns} from outbox_event e join outbox_feed f on f.environment_id = $2 and f.event_id = e.id
where e.environment_id = $2 and e.entity_id = $3 and e.sequence >= $4::int and f.feed_position <= $5::bigint and ${isDue('e', 'f')}
order by e.sequence limit $6`;

/** SQL of the event of an object before one, and whether it was due; no other event is asked about. */
const eventBefore = (sequence: string) => `
  select e.sequence, (select ${isDue('e', 'f')} from outbox_feed f where f.environment_id = $2 and f.event_id = e.id) as is_due
  from outbox_event e where e.environment_id = $2 and e.entity_id = t.entity_id and e.sequence < ${sequence}
  order by e.sequence desc limit 1`;

// From each event back, one by one, to the first that was due; the search ends where the endpoint's time begins.
const beforeText = `
select coalesce(p.sequence, 0) as previous, coalesce(s.consecutive, 0) as skipped
from unnest($3::text[], $4::int[]) with ordinality as t(entity_id, sequence, nth)
left join lateral (
  with recursive back as (
    select * from (${eventBefore('t.sequence')}) nearest
    union all
    select n.* from back b cross join lateral (${eventBefore('b.sequence')}) n where not b.is_due
  )
  select b.sequence from back b where b.is_due) p on true
left join webhook_skip s on s.endpoint_id = $1 and s.entity_id = t.entity_id and s.sequence = p.sequence
order by t.nth`;
