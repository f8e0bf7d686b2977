import type { CopyTransaction, SqlTransaction } from '../../../db/transaction.ts';
import type { PreparedEvent } from '../../event.ts';
import {
  copiesFoundText,
  copiesText,
  distinctValuesText,
  eventsText,
  keysText,
  newKeysText,
  rollupsText,
} from '../text/load-text.ts';
import type { EventContribution, ShortKeys } from './batch-columns.ts';
import { type BatchSums, distinctParameters, rollupParameters, sumsOf } from './batch-sums.ts';
import { stageBatch } from './stage-batch.ts';

/** A batch whose meters have looked at it. Repeats inside it contribute nothing. */
export interface LargeBatch {
  readonly env: number;
  readonly events: readonly PreparedEvent[];
  readonly keys: ShortKeys;
  readonly contributions: readonly EventContribution[];
}

/**
 * Stores a large batch in the caller's transaction: copied into a table of the connection, from where its keys and events are
 * taken, while the sums that its new events add to roll-ups are made here. What is new is decided by the keys alone, before
 * anything is counted. Nothing that others see is written before `turn` is over. design: usage.md Writing
 */
export async function loadBatch(
  tx: CopyTransaction,
  batch: LargeBatch,
  turn: Promise<unknown> | undefined,
): Promise<void> {
  const { env, events, keys, contributions } = batch;
  const instant = events.some(({ timestamp }) => timestamp === null) ? await transactionTime(tx) : '';
  const timeOf = (event: PreparedEvent) => event.timestamp ?? instant;
  const distinctKeys = await stageBatch(tx, events, { ...keys, timeOf });
  await turn;
  const fresh = await keepKeys(tx, env);
  const known = fresh === distinctKeys ? new Set<number>() : await copiesFound(tx, env);
  const [sums] = await Promise.all([
    sumsOf(contributions, {
      events,
      isNew: (ord) => !known.has(ord),
      subjectOf: (event) => keys.subjectOf(event.externalCustomerId),
      timeOf,
    }),
    tx.client.query(eventsText, [env]),
  ]);
  if (fresh !== events.length) await tx.client.query(copiesText, [env]);
  await addSums(tx, env, sums);
}

/**
 * Keeps the keys of a staged batch and returns how many were new. Most batches bring nothing that was there: they are spared what
 * asking for each key costs, and the others are stopped at the first known one and begin again.
 */
async function keepKeys(tx: SqlTransaction, env: number): Promise<number | null> {
  await tx.client.query('savepoint keys');
  try {
    return (await tx.client.query(newKeysText, [env])).rowCount;
  } catch (error) {
    if ((error as { code?: string }).code !== uniqueViolation) throw error;
    await tx.client.query('rollback to savepoint keys');
    return (await tx.client.query(keysText, [env])).rowCount;
  }
}

const uniqueViolation = '23505';

/** What `now()` is in the transaction, as events have their times. */
async function transactionTime(tx: SqlTransaction): Promise<string> {
  const [row] = await tx.rows<{ at: string }>(
    `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`,
  );
  return row?.at ?? '';
}

async function copiesFound(tx: SqlTransaction, env: number): Promise<Set<number>> {
  const rows = await tx.rows<{ ord: number }>(copiesFoundText, [env]);
  return new Set(rows.map(({ ord }) => ord));
}

async function addSums(tx: SqlTransaction, env: number, { rollups, distinct }: BatchSums): Promise<void> {
  if (rollups.length > 0) {
    const keepsLatest = rollups.some(({ latest }) => latest !== null);
    await tx.client.query(rollupsText(keepsLatest), [env, ...rollupParameters(rollups)]);
  }
  if (distinct.length > 0) await tx.client.query(distinctValuesText, [env, ...distinctParameters(distinct)]);
}
