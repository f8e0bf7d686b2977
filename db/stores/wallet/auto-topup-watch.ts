import type { Scope } from '../../scope.ts';
import type { Sql, Transaction } from '../../transaction.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { isLow } from './auto-topup-open.ts';
import { readAutoTopup } from './auto-topup-read.ts';
import { lockAutoTopup, refreshAutoTopup } from './auto-topup-standing.ts';
import { findWallet } from './wallet.ts';
import { walletBalances } from './wallet-balance.ts';

const isWaiting = `(state = 'armed' or (state = 'blocked' and reason in ('no_use', 'suspended'))) and evaluate_at is null`;

/** Wallets of customers that wait for nothing but their balance to fall, and are not told of it yet. */
export async function waitingWallets(
  sql: Sql,
  scope: Scope,
  customerIds: readonly string[],
): Promise<{ id: string; customerId: string; testClockId: string | null }[]> {
  const rows = await sql.rows<{ id: string; customer_id: string; test_clock_id: string | null }>(
    `select id, customer_id, test_clock_id from wallet_auto_topup where environment_id = $1 and customer_id = any($2) and ${isWaiting}
     order by id`,
    [scope.environmentId, customerIds],
  );
  return rows.map(({ id, customer_id: customerId, test_clock_id: testClockId }) => ({ id, customerId, testClockId }));
}

/**
 * Measures a waiting wallet; where it is low, it is put on the agenda for now, once. Answers the customer's present then, null where there is
 * nothing to tell.
 */
export async function claimLowWallet(
  tx: Transaction,
  walletId: string,
  readUsage: UsageReader,
): Promise<string | null> {
  const read = await readAutoTopup(tx, tx.scope, walletId);
  if (!read || read.facts.isUnused || read.facts.isTenantSuspended) return null;
  const wallet = await findWallet(tx, walletId);
  const balance = (await walletBalances(tx, read.customerId, [wallet], readUsage)).get(walletId);
  if (!balance || !isLow(read, balance)) return null;
  // Somebody may have looked meanwhile.
  if (!(await lockAutoTopup(tx, tx.scope, walletId))) return null;
  const { now } = read.facts;
  const [claimed] = await tx.rows(
    `update wallet_auto_topup set evaluate_at = $3 where environment_id = $1 and id = $2 and ${isWaiting} returning id`,
    [tx.scope.environmentId, walletId, now],
  );
  if (!claimed) return null;
  await refreshAutoTopup(tx, tx.scope, walletId);
  return now;
}
