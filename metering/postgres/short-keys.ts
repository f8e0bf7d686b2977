import type { Sql } from '../../db/transaction.ts';
import type { PreparedEvent } from '../event.ts';
import type { Catalogue } from './catalogue-cache.ts';

/**
 * The subjects of a batch. Makes those this process has not met yet, sorted, so two writers wait in one order; when it is the batch's
 * turn, because the one before it may want the same.
 */
export async function resolveSubjects(
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

/** The short keys of the event names of a batch, made in the same way. */
export async function resolveEventNames(
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
export function found<T>(number: T | undefined): T {
  if (number === undefined) throw new Error('a short key of the batch was not resolved');
  return number;
}
