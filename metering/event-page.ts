import { refuse } from '../billing/refusal.ts';
import { compareText } from '../billing/text-order.ts';
import { instantOfMicroseconds, microsecondsOf } from './timestamp.ts';
import type { EventCursor } from './usage-store.ts';

const defaultPageSize = 50;

/** 1–50; any other value becomes 50. spec: catalogue-and-metering §6.4 */
export function eventPageSize(requested: number | null | undefined): number {
  return requested && Number.isInteger(requested) && requested >= 1 && requested <= defaultPageSize
    ? requested
    : defaultPageSize;
}

/**
 * A cursor's text, `<unix nanoseconds>::<event id>`, as the position it stands for. Events are stored to the microsecond:
 * a cursor between two of them becomes the start of the later one, before every id.
 * Throws `validation_error` when malformed. spec: catalogue-and-metering §6.4
 */
export function parseEventCursor(text: string, field: string): EventCursor {
  const match = /^(-?\d{1,20})::(.+)$/s.exec(text);
  const nanoseconds = match ? BigInt(match[1] ?? '') : null;
  if (!match || nanoseconds === null || nanoseconds < earliest || nanoseconds > latest) {
    const reason = 'must be a cursor of an earlier answer: <unix nanoseconds>::<event id>';
    throw refuse('validation_error', `${field} ${reason}`, { fields: { [field]: reason } });
  }
  const remainder = ((nanoseconds % 1000n) + 1000n) % 1000n;
  if (remainder === 0n) return { timestamp: instantOfMicroseconds(nanoseconds / 1000n), id: match[2] ?? '' };
  return { timestamp: instantOfMicroseconds((nanoseconds - remainder) / 1000n + 1n), id: '' };
}

const earliest = microsecondsOf('0001-01-01T00:00:00Z') * 1000n;
const latest = microsecondsOf('9999-12-31T23:59:59Z') * 1000n;

interface CursorRow {
  readonly timestamp: string;
  readonly id: string;
}

/** The keys of a page: of its first and last row; no last key where nothing follows. spec: catalogue-and-metering §6.4 */
export function pageKeys(
  rows: readonly CursorRow[],
  hasMore: boolean,
): { iter_first_key: string; iter_last_key: string } {
  const first = rows[0];
  const last = rows.at(-1);
  return {
    iter_first_key: first ? cursorText(first) : '',
    iter_last_key: last && hasMore ? cursorText(last) : '',
  };
}

function cursorText(row: CursorRow): string {
  return `${microsecondsOf(row.timestamp) * 1000n}::${row.id}`;
}

/**
 * The page of events in memory that a cursor selects, newest first by (timestamp, id): what a store must answer for them.
 * spec: catalogue-and-metering §6.4
 */
export function selectEventPage<Row extends CursorRow>(
  rows: readonly Row[],
  query: { pageSize: number; before?: EventCursor; after?: EventCursor },
): { rows: Row[]; hasMore: boolean } {
  const newestFirst = rows.toSorted((a, b) => comparePositions(b, a));
  const { before, after, pageSize } = query;
  if (after) {
    const newer = newestFirst.filter((row) => comparePositions(row, after) > 0);
    return { rows: newer.slice(-pageSize), hasMore: newer.length > pageSize };
  }
  const older = before ? newestFirst.filter((row) => comparePositions(row, before) < 0) : newestFirst;
  return { rows: older.slice(0, pageSize), hasMore: older.length > pageSize };
}

function comparePositions(a: CursorRow, b: CursorRow): number {
  const difference = microsecondsOf(a.timestamp) - microsecondsOf(b.timestamp);
  if (difference !== 0n) return difference < 0n ? -1 : 1;
  return compareText(a.id, b.id);
}
