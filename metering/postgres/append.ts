import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction, type ScopedSql, type Sql, type SqlTransaction } from '../../db/transaction.ts';
import type { PreparedEvent } from '../event.ts';
import { rollupMinutes } from '../meter.ts';
import { appendText } from './append-text.ts';
import { type EventContribution, eventRows, gainRows, parametersOf } from './batch-columns.ts';
import type { Catalogue, CatalogueCache } from './catalogue-cache.ts';
import { markCustomers } from './dirty-customer.ts';
import { loadBatch } from './load-batch.ts';
import { recordRejected } from './rejected-event.ts';

const appendPlain = { name: 'usage-append', text: appendText(false, false) };
const appendWithLatest = { name: 'usage-append-latest', text: appendText(true, false) };
const appendBucketed = { name: 'usage-append-bucketed', text: appendText(false, true) };
const appendBucketedWithLatest = { name: 'usage-append-bucketed-latest', text: appendText(true, true) };

const plainRollupMinutes = rollupMinutes(null);

const deadlockDetected = '40P01';
const maxAttempts = 5;

/**
 * Stores a batch of one environment in one transaction. A batch that met a deadlock is repeated whole; nothing of the
 * first try remains, so no copy is made twice. What is prepared for it may be before `turn` is over, what others see is not.
 * Says whether their customers were marked. spec: catalogue-and-metering §6.3, §12 I3
 */
export async function appendBatch(
  database: Database,
  cache: CatalogueCache,
  scope: Scope,
  events: readonly PreparedEvent[],
  { also, turn }: { also?: (sql: SqlTransaction) => Promise<void>; turn?: Promise<unknown> } = {},
): Promise<{ isMarked: boolean }> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const resolved = await inSqlTransaction(database, scope, async (tx) => {
        const stored = await appendIn(tx, cache, scope, events, turn);
        await also?.(tx);
        return stored;
      });
      cache.remember(resolved.catalogue, resolved.subjects, resolved.eventNames);
      return { isMarked: resolved.catalogue.watchesUsage };
    } catch (error) {
      if ((error as { code?: string }).code !== deadlockDetected || attempt === maxAttempts) throw error;
    }
  }
}

interface Resolved {
  catalogue: Catalogue;
  subjects: ReadonlyMap<string, string>;
  eventNames: ReadonlyMap<string, number>;
}

/** Stores a batch in the caller's transaction, which decides whether it stays. */
export async function appendIn(
  tx: ScopedSql | SqlTransaction,
  cache: CatalogueCache,
  scope: Scope,
  events: readonly PreparedEvent[],
  turn?: Promise<unknown>,
): Promise<Resolved> {
  const catalogue = await cache.locked(tx, scope);
  const subjects = await resolveSubjects(tx, catalogue, events);
  const eventNames = await resolveEventNames(tx, catalogue, events);
  const contributions = await contributionsOf(events, catalogue);
  const keys = {
    subjectOf: (text: string) => found(subjects.get(text)),
    eventNameOf: (text: string) => found(eventNames.get(text)),
  };
  if ('client' in tx && events.length >= loadedFrom) {
    await loadBatch(tx, { env: catalogue.env, events, keys, contributions }, turn);
  } else {
    await turn;
    await write(tx, catalogue, { events: eventRows(events, keys), gains: gainRows(contributions) });
  }
  if (catalogue.reportsRejected) await recordRejected(tx, catalogue, events, contributions);
  if (catalogue.watchesUsage) {
    const marked = events.map((event) => ({
      subject: keys.subjectOf(event.externalCustomerId),
      timestamp: event.timestamp,
    }));
    await markCustomers(tx, catalogue.env, marked);
  }
  return { catalogue, subjects, eventNames };
}

/** From so many events on a batch is copied into a table of the connection instead of being sent as parameters. */
const loadedFrom = 5_000;

type Rows = ReturnType<typeof eventRows>;

/** Writes the batch by the cheapest statement that keeps what its meters need. */
async function write(
  tx: ScopedSql | SqlTransaction,
  { env, metersByEventName }: Catalogue,
  batch: { events: Rows; gains: Rows },
): Promise<void> {
  const meters = [...metersByEventName.values()].flat();
  const keepsLatest = meters.some((meter) => meter.keepsLatest) && batch.gains.some((gain) => gain[5] === true);
  const bucketed = batch.gains.some((gain) => gain[6] !== plainRollupMinutes);
  const values: unknown[] = [env, ...parametersOf(batch.events, batch.gains)];
  const prepared = bucketed
    ? { ...(keepsLatest ? appendBucketedWithLatest : appendBucketed), values }
    : { ...(keepsLatest ? appendWithLatest : appendPlain), values: values.slice(0, -2) };
  await ('client' in tx ? tx.client.query(prepared) : tx.rows(prepared.text, prepared.values));
}

/** The subjects of a batch. Makes those this process has not met yet, sorted, so two writers wait in one order. */
async function resolveSubjects(
  tx: Sql,
  catalogue: Catalogue,
  events: readonly PreparedEvent[],
): Promise<ReadonlyMap<string, string>> {
  const { known, missing } = sortedOut(
    events.map((event) => event.externalCustomerId),
    catalogue.subjects,
  );
  if (missing.length === 0) return known;
  await tx.rows(
    `insert into usage.subject (env, external_id) select $1, text from unnest($2::text[]) as t(text)
     on conflict (env, external_id) where holder is null do nothing`,
    [catalogue.env, missing],
  );
  const rows = await tx.rows<{ external_id: string; number: string }>(
    'select external_id, number::text from usage.subject where env = $1 and external_id = any($2) and holder is null',
    [catalogue.env, missing],
  );
  for (const row of rows) known.set(row.external_id, row.number);
  return known;
}

async function resolveEventNames(
  tx: Sql,
  catalogue: Catalogue,
  events: readonly PreparedEvent[],
): Promise<ReadonlyMap<string, number>> {
  const { known, missing } = sortedOut(
    events.map((event) => event.eventName),
    catalogue.eventNames,
  );
  if (missing.length === 0) return known;
  await tx.rows(
    'insert into usage.event_name (env, name) select $1, text from unnest($2::text[]) as t(text) on conflict do nothing',
    [catalogue.env, missing],
  );
  const rows = await tx.rows<{ name: string; number: number }>(
    'select name, number from usage.event_name where env = $1 and name = any($2)',
    [catalogue.env, missing],
  );
  for (const row of rows) known.set(row.name, row.number);
  return known;
}

/** Short keys of texts, taken out of the cache because other batches may empty it meanwhile, and the texts without one. */
function sortedOut<T>(
  texts: readonly string[],
  cached: ReadonlyMap<string, T>,
): { known: Map<string, T>; missing: string[] } {
  const known = new Map<string, T>();
  const missing: string[] = [];
  for (const text of new Set(texts)) {
    const key = cached.get(text);
    if (key === undefined) missing.push(text);
    else known.set(text, key);
  }
  return { known, missing: missing.sort() };
}

/** A short key that this transaction has just looked up or made. */
function found<T>(number: T | undefined): T {
  if (number === undefined) throw new Error('a short key of the batch was not resolved');
  return number;
}

/** A large batch is looked at in slices of so many events, so that other work gets its turn. */
const slice = 2_000;

/** What each event adds to each meter; repeats inside the batch add nothing. */
async function contributionsOf(events: readonly PreparedEvent[], catalogue: Catalogue): Promise<EventContribution[]> {
  const contributions: EventContribution[] = [];
  const met = new Set<string>();
  for (const [ord, event] of events.entries()) {
    if (ord % slice === slice - 1) await othersTurn();
    if (met.size === met.add(event.key).size) continue;
    for (const meter of catalogue.metersByEventName.get(event.eventName) ?? []) {
      const contribution = meter.contribution(event.properties);
      if (contribution) contributions.push({ ord, meter, ...contribution });
    }
  }
  return contributions;
}
