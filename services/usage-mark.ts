import { decimal } from '../billing/money/money.ts';
import type { Scope } from '../db/scope.ts';
import type { Sql, TransactionEnd } from '../db/transaction.ts';

/** Customers to be marked when a transaction ends, and whom that is told to. */
const noted = new WeakMap<TransactionEnd, Set<string>>();

let tell: (scope: Scope) => void = () => undefined;

/** Sets whom the marks of this process are told to, besides those of its usage engine. One a process; the next replaces it. */
export function onCustomersMarked(told: (scope: Scope) => void): void {
  tell = told;
}

/**
 * Marks customers whose balances moved without events (a debit, a payment, a new period, settings), to be looked at by every
 * evaluator of usage: in the transaction that moved them, as its last statement, so that nobody who marks waits for another's locks.
 * Those who answer for their usage are marked with them. Nothing where the environment watches nothing. design: money-in §1 The trigger
 */
export function markCustomers(sql: Sql, scope: Scope, customerIds: readonly string[]): void {
  if (!sql.end) throw new Error('a transaction that only reads marks nobody');
  const known = noted.get(sql.end);
  const marked = known ?? new Set<string>();
  for (const id of customerIds) marked.add(id);
  if (known) return;
  noted.set(sql.end, marked);
  const { beforeCommit, afterCommit } = sql.end;
  beforeCommit.push(async () => {
    const [row] = await sql.rows<{ marked: number }>(
      'select usage.mark_customers($1, $2) as marked',
      [scope.environmentId, [...marked]],
      'mark-customers',
    );
    if (row && row.marked > 0) afterCommit.push(() => tell(scope));
  });
}

/** From now on the usage of the environment is watched, if the threshold is one. */
export async function watchThreshold(sql: Sql, scope: Scope, threshold: string | null | undefined): Promise<void> {
  if (!threshold || decimal(threshold).isZero()) return;
  await sql.rows('select usage.watch_environment($1)', [scope.environmentId]);
}
