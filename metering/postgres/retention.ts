import { refusalIn, refuse } from '../../billing/refusal.ts';
import type { Database } from '../../db/orm.ts';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction, type Sql } from '../../db/transaction.ts';

/** What was dropped of one month of ingestion, in all environments together. */
export interface DroppedMonth {
  /** `event_202601`; `event_default` holds what was kept of months dropped before. */
  readonly partition: string;
  readonly eventCount: number;
  /** Why nothing was dropped of it though it is old enough. */
  readonly waitsFor?: string;
}

/** Says why events of a partition from before an instant must not be dropped yet; null when they may. */
export type DropGuard = (sql: Sql, partition: string, before: string) => Promise<string | null>;

const unguarded: DropGuard = async () => null;

/**
 * Drops what is not needed any more of the oldest month that ended before `before`, in one transaction: null when there is
 * none. Kept are events that tell a time from `before` on, and those of a time that is not final yet for their customer; roll-ups,
 * keys and what was billed stay. Nothing is dropped of what `guard` holds back. Harmless to repeat. Throws what PostgreSQL
 * answers when the lock is not to be had within two seconds; nothing has happened then. design: usage.md Tables
 */
export async function dropOldestMonth(
  database: Database,
  before: string,
  guard: DropGuard = unguarded,
): Promise<DroppedMonth | null> {
  return inSqlTransaction(database, systemScope, async (tx) => {
    const [oldest] = await tx.rows<{ part: string }>(oldestText, [before]);
    return oldest ? drop(tx, oldest.part, before, guard) : null;
  });
}

/** Drops what was kept of earlier months and is not needed any more, and the copies of events from before `before`. */
export async function dropKept(
  database: Database,
  before: string,
  guard: DropGuard = unguarded,
): Promise<DroppedMonth> {
  return inSqlTransaction(database, systemScope, async (tx) => {
    const dropped = await drop(tx, 'event_default', before, guard);
    for (const [table, column, where] of leftovers) {
      await tx.rows(`delete from usage.${table} where ${column} < $1 ${where}`, [before]);
    }
    return dropped;
  });
}

async function drop(sql: Sql, partition: string, before: string, guard: DropGuard): Promise<DroppedMonth> {
  const waitsFor = await guard(sql, partition, before);
  if (waitsFor !== null) return { partition, eventCount: 0, waitsFor };
  const values = [partition, before];
  const [row] = await sql.rows<{ count: string }>('select usage.drop_old_events($1, $2) as count', values);
  return { partition, eventCount: Number(row?.count ?? 0) };
}

// Never billed, and of no use without the events they stand beside. Raw events that became none wait on.
const leftovers = [
  ['event_copy', 'ingested_at', ''],
  ['rejected_event', 'rejected_at', ''],
  ['unstorable_event', 'rejected_at', ''],
  ['raw_event', 'received_at', 'and key is not null'],
] as const;

const oldestText = `
select c.relname as part from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'usage.event'::regclass and c.relname ~ '^event_[0-9]{6}$'
  and (to_date(substring(c.relname from 7), 'YYYYMM') + interval '1 month') at time zone 'UTC' <= $1::timestamptz
order by c.relname limit 1`;

const droppedReason = 'events_dropped';

/** The refusal of a question that only dropped events could answer: better none than a wrong answer. */
export function droppedRefusal(about: string) {
  return refuse(
    'invalid_operation',
    `the events that ${about} needs were dropped by retention: ask for whole hours (days, for COUNT_UNIQUE) without filters and groups, or for a later time`,
    { reason: droppedReason },
  );
}

/** True for that refusal. */
export function isDroppedRefusal(error: unknown): boolean {
  return refusalIn(error)?.details?.reason === droppedReason;
}
