import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction, type ScopedSql, type Sql, type SqlTransaction } from '../../db/transaction.ts';
import { digest, type PreparedEvent } from '../event.ts';
import { type CompiledMeter, type Contribution, rollupMinutes } from '../meter.ts';
import { decimalOfScaled } from '../quantity.ts';
import { appendText } from './append-text.ts';
import { plainArray, textArray } from './array-text.ts';
import type { Catalogue, CatalogueCache } from './catalogue-cache.ts';
import { markCustomers } from './dirty-customer.ts';
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
 * first try remains, so no copy is made twice. Says whether their customers were marked. spec: catalogue-and-metering §6.3, §12 I3
 */
export async function appendBatch(
  database: Database,
  cache: CatalogueCache,
  scope: Scope,
  events: readonly PreparedEvent[],
  also?: (sql: SqlTransaction) => Promise<void>,
): Promise<{ isMarked: boolean }> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const resolved = await inSqlTransaction(database, scope, async (tx) => {
        const stored = await appendIn(tx, cache, scope, events);
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

/** What the event at a place of the batch adds to a meter. */
export interface EventContribution extends Contribution {
  readonly ord: number;
  readonly meter: CompiledMeter;
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
): Promise<Resolved> {
  const catalogue = await cache.locked(tx, scope);
  const subjects = await resolveSubjects(tx, catalogue, events);
  const eventNames = await resolveEventNames(tx, catalogue, events);
  const contributions = contributionsOf(events, catalogue);
  const subjectOf = (text: string) => catalogue.subjects.get(text) ?? subjects.get(text);
  const values = [
    catalogue.env,
    ...eventColumns(events, subjectOf, (text) => catalogue.eventNames.get(text) ?? eventNames.get(text)),
    ...contributionColumns(contributions),
  ];
  const meters = events.flatMap((event) => catalogue.metersByEventName.get(event.eventName) ?? []);
  const statement = appendStatement(meters, values);
  await ('client' in tx ? tx.client.query(statement) : tx.rows(statement.text, statement.values));
  if (catalogue.reportsRejected) await recordRejected(tx, catalogue, events, contributions);
  if (catalogue.watchesUsage) {
    const marked = events.map((event) => ({
      subject: found(subjectOf(event.externalCustomerId)),
      timestamp: event.timestamp,
    }));
    await markCustomers(tx, catalogue.env, marked);
  }
  return { catalogue, subjects, eventNames };
}

/** The cheapest statement that keeps what the meters need; its last two parameters are those of buckets. */
function appendStatement(meters: readonly CompiledMeter[], values: unknown[]) {
  const keepsLatest = meters.some((meter) => meter.keepsLatest);
  if (meters.some((meter) => meter.rollupMinutes !== plainRollupMinutes)) {
    return { ...(keepsLatest ? appendBucketedWithLatest : appendBucketed), values };
  }
  return { ...(keepsLatest ? appendWithLatest : appendPlain), values: values.slice(0, -2) };
}

/** Makes the subjects this process has not met yet. Texts are sorted, so two writers wait in one order. */
async function resolveSubjects(
  tx: Sql,
  catalogue: Catalogue,
  events: readonly PreparedEvent[],
): Promise<ReadonlyMap<string, string>> {
  const missing = missingTexts(
    events.map((event) => event.externalCustomerId),
    catalogue.subjects,
  );
  if (missing.length === 0) return new Map();
  await tx.rows(
    `insert into usage.subject (env, external_id) select $1, text from unnest($2::text[]) as t(text)
     on conflict (env, external_id) where holder is null do nothing`,
    [catalogue.env, missing],
  );
  const rows = await tx.rows<{ external_id: string; number: string }>(
    'select external_id, number::text from usage.subject where env = $1 and external_id = any($2) and holder is null',
    [catalogue.env, missing],
  );
  return new Map(rows.map((row) => [row.external_id, row.number]));
}

async function resolveEventNames(
  tx: Sql,
  catalogue: Catalogue,
  events: readonly PreparedEvent[],
): Promise<ReadonlyMap<string, number>> {
  const missing = missingTexts(
    events.map((event) => event.eventName),
    catalogue.eventNames,
  );
  if (missing.length === 0) return new Map();
  await tx.rows(
    'insert into usage.event_name (env, name) select $1, text from unnest($2::text[]) as t(text) on conflict do nothing',
    [catalogue.env, missing],
  );
  const rows = await tx.rows<{ name: string; number: number }>(
    'select name, number from usage.event_name where env = $1 and name = any($2)',
    [catalogue.env, missing],
  );
  return new Map(rows.map((row) => [row.name, row.number]));
}

function missingTexts(texts: readonly string[], known: ReadonlyMap<string, unknown>): string[] {
  return [...new Set(texts)].filter((text) => !known.has(text)).sort();
}

function eventColumns(
  events: readonly PreparedEvent[],
  subjectOf: (externalId: string) => string | undefined,
  eventNameOf: (name: string) => number | undefined,
): unknown[] {
  const met = new Set<string>();
  const repeats = events.map((event) => met.size === met.add(event.key).size);
  return [
    plainArray(events.map((_, ord) => ord)),
    plainArray(events.map((event) => event.key)),
    textArray(events.map((event) => (event.id === event.key ? null : event.id))),
    plainArray(events.map((event) => found(subjectOf(event.externalCustomerId)))),
    plainArray(events.map((event) => found(eventNameOf(event.eventName)))),
    plainArray(events.map((event) => event.timestamp)),
    textArray(events.map((event) => event.source)),
    textArray(events.map((event) => event.propertiesText)),
    plainArray(repeats),
  ];
}

/** A short key that this transaction has just looked up or made. */
function found<T>(number: T | undefined): T {
  if (number === undefined) throw new Error('a short key of the batch was not resolved');
  return number;
}

/** What each event adds to each meter; repeats inside the batch add nothing. */
function contributionsOf(events: readonly PreparedEvent[], catalogue: Catalogue): EventContribution[] {
  const contributions: EventContribution[] = [];
  const met = new Set<string>();
  for (const [ord, event] of events.entries()) {
    if (met.size === met.add(event.key).size) continue;
    for (const meter of catalogue.metersByEventName.get(event.eventName) ?? []) {
      const contribution = meter.contribution(event.properties);
      if (contribution) contributions.push({ ord, meter, ...contribution });
    }
  }
  return contributions;
}

function contributionColumns(contributions: readonly EventContribution[]): unknown[] {
  return [
    plainArray(contributions.map(({ ord }) => ord)),
    plainArray(contributions.map(({ meter }) => meter.number)),
    plainArray(contributions.map(({ meter }) => meter.version)),
    plainArray(contributions.map(({ quantity }) => decimalOfScaled(quantity))),
    plainArray(contributions.map(({ distinct }) => (distinct === null ? null : digest(distinct)))),
    plainArray(contributions.map(({ meter }) => meter.keepsLatest)),
    plainArray(contributions.map(({ meter }) => meter.rollupMinutes)),
    textArray(contributions.map(({ group }) => group)),
  ];
}
