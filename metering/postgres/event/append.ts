import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Database } from '../../../db/orm.ts';
import type { Scope } from '../../../db/scope.ts';
import {
  type CopyTransaction,
  inCopyTransaction,
  isDeadlock,
  type ScopedSql,
  type SqlTransaction,
} from '../../../db/transaction.ts';
import type { PreparedEvent } from '../../event.ts';
import { rollupMinutes } from '../../meter.ts';
import type { UnstorableEvent } from '../../rejected-event.ts';
import type { Catalogue, CatalogueCache } from '../catalogue-cache.ts';
import { dateMarks, laterEvents } from '../customer-mark.ts';
import type { MarkKeeper, WrittenMarks } from '../mark-keeper.ts';
import { found, resolveEventNames, resolveSubjects } from '../short-keys.ts';
import { appendText } from '../text/append-text.ts';
import { type EventContribution, eventRows, gainRows, parametersOf } from './batch-columns.ts';
import { loadBatch } from './load-batch.ts';
import { recordRejected } from './rejected-event.ts';
import { isDataError, recordUnstorable, storeGoodParts } from './unstorable-event.ts';

const appendPlain = { name: 'usage-append', text: appendText(false, false) };
const appendWithLatest = { name: 'usage-append-latest', text: appendText(true, false) };
const appendBucketed = { name: 'usage-append-bucketed', text: appendText(false, true) };
const appendBucketedWithLatest = { name: 'usage-append-bucketed-latest', text: appendText(true, true) };

const plainRollupMinutes = rollupMinutes(null);

const maxAttempts = 5;

/** What else a large batch brings. */
interface Load {
  /** Done in the transaction of the batch. */
  readonly also: (sql: SqlTransaction, unstorable: readonly UnstorableEvent[]) => Promise<void>;
  /** What is prepared for the batch may be before it is over, what others see is not. */
  readonly turn?: Promise<unknown>;
}

/** What a writer keeps between batches. */
export interface Writer {
  readonly cache: CatalogueCache;
  readonly marks: MarkKeeper;
}

/**
 * Stores a batch of one environment in one transaction. What met a deadlock is repeated; nothing of the first try remains, so no
 * copy is made twice. Events whose data the database refuses are left out and kept as rejected; the others are stored. The batch of
 * a load keeps its transaction and in it the lock of the environment: the batch behind it holds that too while it waits for its
 * turn, so that one who changes a meter and waits for both would keep a new transaction out for ever.
 * spec: catalogue-and-metering §6.3, §12 I3
 */
export async function appendBatch(
  database: Database,
  writer: Writer,
  scope: Scope,
  events: readonly PreparedEvent[],
  load?: Load,
): Promise<readonly UnstorableEvent[]> {
  const { cache, marks } = writer;
  const inOneTransaction = <T>(work: (tx: CopyTransaction, into: Place) => Promise<T>) =>
    inCopyTransaction(database, scope, async (tx) => work(tx, { catalogue: await cache.locked(tx, scope), marks }));
  const { catalogue, subjects, eventNames, written, unstorable } = load
    ? await inOneTransaction((tx, locked) => repeatedAfterDeadlock(() => loaded(tx, locked, events, load)))
    : await withoutUnstorable(
        () => repeatedAfterDeadlock(() => inOneTransaction((tx, locked) => storeIn(tx, locked, events))),
        () => repeatedAfterDeadlock(() => inOneTransaction((tx, locked) => storeStorable(tx, locked, events))),
      );
  cache.remember(catalogue, subjects, eventNames);
  for (const each of written) marks.committed(each);
  return unstorable;
}

/** Where events are stored: in an environment as it is now. */
interface Place {
  readonly catalogue: Catalogue;
  readonly marks: MarkKeeper;
}

/** Result of the first way, which takes all data to be good, or else of the second. */
async function withoutUnstorable(store: () => Promise<Resolved>, otherwise: () => Promise<Resolved>) {
  try {
    return await store();
  } catch (error) {
    if (!isDataError(error)) throw error;
    return otherwise();
  }
}

/** Stores a batch of which some events are known to be bad: the good ones, and the others as rejected. */
async function storeStorable(tx: CopyTransaction, place: Place, events: readonly PreparedEvent[]): Promise<Resolved> {
  const { stored, unstorable } = await storeGoodParts(tx, events, (part, first) => storeIn(tx, place, part, { first }));
  await recordUnstorable(tx, place.catalogue.env, unstorable);
  return {
    catalogue: place.catalogue,
    subjects: new Map(stored.flatMap(({ subjects }) => [...subjects])),
    eventNames: new Map(stored.flatMap(({ eventNames }) => [...eventNames])),
    written: stored.flatMap(({ written }) => written),
    unstorable,
  };
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

/** Stores a load, or after a deadlock nothing of it: the transaction goes on with the locks it had before. */
async function loaded(
  tx: CopyTransaction,
  place: Place,
  events: readonly PreparedEvent[],
  { also, turn }: Load,
): Promise<Resolved> {
  await tx.client.query('savepoint batch');
  try {
    return await withoutUnstorable(
      async () => {
        const stored = await storeIn(tx, place, events, { turn });
        await also(tx, []);
        return stored;
      },
      async () => {
        await tx.client.query('rollback to savepoint batch');
        const stored = await storeStorable(tx, place, events);
        await also(tx, stored.unstorable);
        return stored;
      },
    );
  } catch (error) {
    if (isDeadlock(error)) await tx.client.query('rollback to savepoint batch');
    throw error;
  }
}

interface Resolved {
  catalogue: Catalogue;
  subjects: ReadonlyMap<string, string>;
  eventNames: ReadonlyMap<string, number>;
  written: readonly WrittenMarks[];
  unstorable: readonly UnstorableEvent[];
}

/** The place of a part's first event in its batch, and whose turn comes before it. */
interface Part {
  readonly first?: number;
  readonly turn?: Promise<unknown> | undefined;
}

/** Stores a batch in the caller's transaction, which decides whether it stays. */
export async function appendIn(
  tx: ScopedSql,
  { cache, marks }: Writer,
  scope: Scope,
  events: readonly PreparedEvent[],
): Promise<void> {
  const { written } = await storeIn(tx, { catalogue: await cache.locked(tx, scope), marks }, events);
  for (const each of written) tx.end?.afterCommit.push(() => marks.committed(each));
}

async function storeIn(
  tx: ScopedSql | CopyTransaction,
  place: Place,
  events: readonly PreparedEvent[],
  { first = 0, turn }: Part = {},
): Promise<Resolved> {
  const { catalogue } = place;
  const subjects = await resolveSubjects(tx, catalogue, events, turn);
  const eventNames = await resolveEventNames(tx, catalogue, events, turn);
  const contributions = await contributionsOf(events, catalogue);
  const keys = {
    subjectOf: (text: string) => found(subjects.get(text)),
    eventNameOf: (text: string) => found(eventNames.get(text)),
  };
  if ('canCopy' in tx && events.length >= loadedFrom && first === 0) {
    await loadBatch(tx, { env: catalogue.env, events, keys, contributions }, turn);
  } else {
    await turn;
    await write(tx, catalogue, { events: eventRows(events, keys, first), gains: gainRows(contributions, first) });
  }
  if (catalogue.reportsRejected) await recordRejected(tx, catalogue, { events, contributions, first });
  const written = catalogue.watchesUsage
    ? [await mark(tx, place, events, { contributions, subjectOf: keys.subjectOf })]
    : [];
  return { catalogue, subjects, eventNames, written, unstorable: [] };
}

/** Marks the customers of events, those that begin to count later for then too. */
async function mark(
  tx: ScopedSql,
  { catalogue, marks }: Place,
  events: readonly PreparedEvent[],
  { contributions, subjectOf }: { contributions: readonly EventContribution[]; subjectOf(text: string): string },
): Promise<WrittenMarks> {
  const { env, hasTestClocks } = catalogue;
  const later = laterEvents(events, hasTestClocks).map((event) => ({
    subject: subjectOf(event.externalCustomerId),
    timestamp: event.timestamp ?? '',
  }));
  await dateMarks(tx, { env, environmentId: tx.scope.environmentId }, later);
  const subjects = events.map((event) => subjectOf(event.externalCustomerId));
  return marks.mark(tx, tx.scope, env, { subjects, contributions });
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
