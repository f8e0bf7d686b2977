import { instantText } from '../../columns.ts';
import { badField } from '../../record.ts';
import type { Scope } from '../../scope.ts';
import type { Sql } from '../../transaction.ts';

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

/** A place in the feed: behind one event of one transaction. */
interface FeedPosition {
  transactionId: string;
  position: string;
}

const start: FeedPosition = { transactionId: '0', position: '0' };
const lastPosition = '9223372036854775807';

/**
 * Reads the events of the scope's environment behind `after` (from the very first when null; `latest` is the present end),
 * in the order of their transactions and within one in the order they were written. Events of transactions that are not
 * older than every running one are not shown yet: so none can appear later in front of one that was read, and none is
 * skipped. The order within one object is its `sequence`, which has no gap. Throws `validation_error` for a cursor that
 * is not ours. design: architecture §5 Outbox; spec: platform §17.1
 */
export async function readOutboundEvents(
  tx: Sql & { readonly scope: Scope },
  query: { after: string | null; limit: number },
): Promise<FeedPage> {
  const from =
    query.after === 'latest' ? await presentEnd(tx) : query.after === null ? start : decodeCursor(query.after);
  const rows = await tx.rows<FeedRow>(readText, [
    tx.scope.environmentId,
    from.transactionId,
    from.position,
    query.limit + 1,
  ]);
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  return {
    events: page.map(feedEvent),
    next: encodeCursor(last ? positionOf(last) : from),
    hasMore: rows.length > query.limit,
  };
}

async function presentEnd(tx: Sql): Promise<FeedPosition> {
  const [row] = await tx.rows<{ oldest: string }>('select pg_snapshot_xmin(pg_current_snapshot())::text as oldest');
  return { transactionId: String(BigInt(row?.oldest ?? '1') - 1n), position: lastPosition };
}

function feedEvent(row: FeedRow): FeedEvent {
  return {
    id: row.id,
    cursor: encodeCursor(positionOf(row)),
    sequence: row.sequence,
    eventName: row.event_name,
    entityType: row.entity_type,
    entityId: row.entity_id,
    payload: row.payload,
    occurredAt: instantText(row.occurred_at),
    createdAt: instantText(row.created_at),
  };
}

function positionOf(row: FeedRow): FeedPosition {
  return { transactionId: row.transaction_id, position: row.position };
}

/** Opaque to callers, so that its form may change. */
function encodeCursor(at: FeedPosition): string {
  return Buffer.from(`1.${at.transactionId}.${at.position}`).toString('base64url');
}

const largestTransactionId = 2n ** 64n - 1n;

function decodeCursor(cursor: string): FeedPosition {
  const text = cursor.length <= 100 ? Buffer.from(cursor, 'base64url').toString('latin1') : '';
  const match = /^1\.(\d{1,20})\.(\d{1,19})$/.exec(text);
  const [, transactionId = '', position = ''] = match ?? [];
  if (!match || BigInt(transactionId) > largestTransactionId || BigInt(position) > BigInt(lastPosition)) {
    throw badField('after', 'must be a cursor of this feed, `latest`, or absent to start with the first event');
  }
  return { transactionId, position };
}

interface FeedRow {
  id: string;
  transaction_id: string;
  position: string;
  sequence: number;
  event_name: string;
  entity_type: string;
  entity_id: string;
  payload: Record<string, unknown>;
  occurred_at: string;
  created_at: string;
}

// Ordered by the columns: an output column of the same name would be ordered as text.
const readText = `
select id, transaction_id::text as transaction_id, position::text as position, sequence, event_name, entity_type, entity_id, payload, occurred_at, created_at
from outbox_event
where environment_id = $1
  and transaction_id < pg_snapshot_xmin(pg_current_snapshot())
  and (transaction_id, position) > ($2::xid8, $3::bigint)
order by outbox_event.transaction_id, outbox_event.position
limit $4`;
