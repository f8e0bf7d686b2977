import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import {
  type CopyTransaction,
  inCopyTransaction,
  type ScopedSql,
  type Sql,
  type SqlTransaction,
} from '../../db/transaction.ts';
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

/** What else a large batch brings. */
interface Load {
  /** Done in the transaction of the batch. */
  readonly also: (sql: SqlTransaction) => Promise<void>;
  /** What is prepared for the batch may be before it is over, what others see is not. */
  readonly turn?: Promise<unknown>;
}

/**
 * Stores a batch of one environment in one transaction. What met a deadlock is repeated; nothing of the first try remains, so no
 * copy is made twice. The batch of a load keeps its transaction and in it the lock of the environment: the batch behind it holds
 * that too while it waits for its turn, so that one who changes a meter and waits for both would keep a new transaction out for
 * ever. Says whether their customers were marked. spec: catalogue-and-metering §6.3, §12 I3
 */
export async function appendBatch(
  database: Database,
  cache: CatalogueCache,
  scope: Scope,
  events: readonly PreparedEvent[],
  load?: Load,
): Promise<{ isMarked: boolean }> {
  const { catalogue, subjects, eventNames } = load
    ? await inCopyTransaction(database, scope, async (tx) => {
        const locked = await cache.locked(tx, scope);
        return repeatedAfterDeadlock(() => loaded(tx, locked, events, load));
      })
    : await repeatedAfterDeadlock(() => inCopyTransaction(database, scope, (tx) => appendIn(tx, cache, scope, events)));
  cache.remember(catalogue, subjects, eventNames);
  return { isMarked: catalogue.watchesUsage };
}

async function repeatedAfterDeadlock<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isDeadlock(error) || attempt === maxAttempts) throw error;
    }
  }
}

function isDeadlock(error: unknown): boolean {
  return (error as { code?: string }).code === deadlockDetected;
}

/** Stores a load, or after a deadlock nothing of it: the transaction goes on with the locks it had before. */
async function loaded(
  tx: CopyTransaction,
  catalogue: Catalogue,
  events: readonly PreparedEvent[],
  { also, turn }: Load,
): Promise<Resolved> {
  await tx.client.query('savepoint batch');
  try {
    const stored = await storeIn(tx, catalogue, events, turn);
    await also(tx);
    return stored;
  } catch (error) {
    if (isDeadlock(error)) await tx.client.query('rollback to savepoint batch');
    throw error;
  }
}

interface Resolved {
  catalogue: Catalogue;
  subjects: ReadonlyMap<string, string>;
  eventNames: ReadonlyMap<string, number>;
}

/** Stores a batch in the caller's transaction, which decides whether it stays. */
export async function appendIn(
  tx: ScopedSql | CopyTransaction,
  cache: CatalogueCache,
  scope: Scope,
  events: readonly PreparedEvent[],
): Promise<Resolved> {
  return storeIn(tx, await cache.locked(tx, scope), events);
}

async function storeIn(
  tx: ScopedSql | CopyTransaction,
  catalogue: Catalogue,
  events: readonly PreparedEvent[],
  turn?: Promise<unknown>,
): Promise<Resolved> {
  const subjects = await resolveSubjects(tx, catalogue, events, turn);
  const eventNames = await resolveEventNames(tx, catalogue, events, turn);
  const contributions = await contributionsOf(events, catalogue);
  const keys = {
    subjectOf: (text: string) => found(subjects.get(text)),
    eventNameOf: (text: string) => found(eventNames.get(text)),
  };
  if ('canCopy' in tx && events.length >= loadedFrom) {
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
  tx: ScopedSql | CopyTransaction,
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

/**
 * The subjects of a batch. Makes those this process has not met yet, sorted, so two writers wait in one order; when it is the batch's
 * turn, because the one before it may want the same.
 */
async function resolveSubjects(
  tx: Sql,
  catalogue: Catalogue,
  events: readonly PreparedEvent[],
  turn?: Promise<unknown>,
): Promise<ReadonlyMap<string, string>> {
  const { known, missing } = sortedOut(
    events.map((event) => event.externalCustomerId),
    catalogue.subjects,
  );
  if (missing.length === 0) return known;
  await turn;
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
  turn?: Promise<unknown>,
): Promise<ReadonlyMap<string, number>> {
  const { known, missing } = sortedOut(
    events.map((event) => event.eventName),
    catalogue.eventNames,
  );
  if (missing.length === 0) return known;
  await turn;
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
