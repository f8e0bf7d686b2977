import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';

/**
 * Locks the plans that own the prices of one transaction, in the order of their ids. Sequences are given under this lock
 * only, so of two prices of a plan the one with the lower sequence was committed first: a price sync, or a subscription
 * that begins, which has seen a sequence has seen all before it. spec: catalogue-and-metering §3.1, §4.2 Sequence
 */
export async function lockPlans(tx: Sql & { scope: Scope }, planIds: readonly string[]): Promise<void> {
  await tx.rows('select id from plan where environment_id = $1 and id = any($2) order by id for no key update', [
    tx.scope.environmentId,
    [...new Set(planIds)],
  ]);
}

/** As many sequences, the lowest first. spec: catalogue-and-metering §4.2 */
export async function nextPriceSequences(sql: Sql, count: number): Promise<number[]> {
  const rows = await sql.rows<{ next: string }>(
    `select nextval('price_sequence') as next from generate_series(1, $1::int)`,
    [count],
  );
  return rows.map(({ next }) => Number(next)).sort((one, other) => one - other);
}

/** The sequence of a price that is created or ended, higher than every one given before. spec: catalogue-and-metering §4.2 */
export async function nextPriceSequence(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ next: string }>(`select nextval('price_sequence') as next`);
  return Number(row!.next);
}
