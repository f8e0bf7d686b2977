import type { CopyTransaction, ScopedSql } from '../../../db/transaction.ts';
import { writeEvents } from '../../../services/platform/outbox.ts';
import type { PreparedEvent } from '../../event.ts';
import { maxTextLength } from '../../event-text.ts';
import type { UnstorableEvent } from '../../rejected-event.ts';
import { utcInstant } from '../../timestamp.ts';
import { plainArray, textArray } from '../text/array-text.ts';
import { utcText } from './stored-event.ts';

/** True for what PostgreSQL says of data and of the limits of its programs: SQLSTATE classes 22 and 54. */
export function isDataError(error: unknown): boolean {
  return /^(?:22|54)[0-9A-Z]{3}$/.test(String((error as { code?: unknown } | null)?.code ?? ''));
}

/**
 * Stores the events of a batch that the database takes, in the caller's transaction, and returns the others with its words. The batch
 * is halved around what it refuses, each half behind a savepoint: two tries and the logarithm of the batch for one bad event, and
 * never more than twice as many tries as events. `store` is told the place of its first event, so that order stays what it was.
 * Throws what is no fault of the data.
 */
export async function storeGoodParts<T>(
  tx: CopyTransaction,
  events: readonly PreparedEvent[],
  store: (part: readonly PreparedEvent[], first: number) => Promise<T>,
): Promise<{ stored: T[]; unstorable: UnstorableEvent[] }> {
  const stored: T[] = [];
  const unstorable: UnstorableEvent[] = [];
  const storePart = async (part: readonly PreparedEvent[], first: number): Promise<void> => {
    await tx.client.query('savepoint part');
    try {
      stored.push(await store(part, first));
      await tx.client.query('release savepoint part');
      return;
    } catch (error) {
      if (!isDataError(error)) throw error;
      await tx.client.query('rollback to savepoint part; release savepoint part');
      const [event] = part;
      if (part.length === 1 && event) {
        unstorable.push({ event, problem: storableText((error as Error).message, maxProblemLength) });
        return;
      }
    }
    const middle = Math.ceil(part.length / 2);
    await storePart(part.slice(0, middle), first);
    await storePart(part.slice(middle), first + middle);
  };
  await storePart(events, 0);
  return { stored, unstorable };
}

const maxProblemLength = 500;

/** A text that a column takes: what it does not is shown as a replacement character. */
function storableText(text: string, maxLength: number = maxTextLength): string {
  return text.replaceAll('\0', '\ufffd').slice(0, maxLength).toWellFormed();
}

/**
 * Keeps events that could not be stored as rejected ones, whatever the setting says: they were accepted, and nothing else tells of
 * them. Tells of them once an hour and event name. Runs in the transaction of their batch. spec: catalogue-and-metering §6.6
 */
export async function recordUnstorable(
  tx: ScopedSql,
  env: number,
  unstorable: readonly UnstorableEvent[],
): Promise<void> {
  if (unstorable.length === 0) return;
  const rows = unstorable.map(({ event, problem }) => ({
    id: storableText(event.id),
    eventName: storableText(event.eventName),
    externalCustomerId: storableText(event.externalCustomerId),
    timestamp: event.timestamp === null ? null : utcInstant(event.timestamp),
    problem,
  }));
  // Writers that have bad events take turns, so that each knows what was told.
  await tx.rows('select pg_advisory_xact_lock(7103, $1)', [env]);
  const due = await tx.rows<{ ord: number; ts: string }>(recordText, [
    env,
    textArray(rows.map(({ id }) => id)),
    textArray(rows.map(({ eventName }) => eventName)),
    textArray(rows.map(({ externalCustomerId }) => externalCustomerId)),
    plainArray(rows.map(({ timestamp }) => timestamp)),
    textArray(rows.map(({ problem }) => problem)),
  ]);
  const occurredAt = new Date().toISOString();
  await writeEvents(
    tx,
    tx.scope,
    due.flatMap(({ ord, ts }) => {
      const row = rows[ord - 1];
      if (!row) return [];
      const event = {
        id: row.id,
        event_name: row.eventName,
        customer_id: null,
        external_customer_id: row.externalCustomerId,
        source: null,
        properties: null,
        timestamp: ts,
      };
      const payload = { reason: 'not_storable' as const, problem: row.problem, event };
      return [{ name: 'event.rejected', entityType: 'event', entityId: row.id, payload, occurredAt }];
    }),
  );
}

const recordText = `
with bad as (
  select r.ord::int as ord, r.event_id, r.event_name, r.customer, coalesce(r.ts, now()) as ts, r.problem
  from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[]) with ordinality
    as r(event_id, event_name, customer, ts, problem, ord)
), first as (
  select distinct on (event_name) ord, event_name, ts from bad order by event_name, ord
), kept as (
  insert into usage.unstorable_event (env, event_id, event_name, external_customer_id, ts, rejected_at, problem)
  select $1, event_id, event_name, customer, ts, now(), problem from bad order by ord
)
select first.ord, ${utcText('first.ts')} as ts from first where not exists (
  select 1 from usage.unstorable_event told where told.env = $1 and told.event_name = first.event_name
    and told.rejected_at > now() - interval '1 hour')
order by first.ord`;
