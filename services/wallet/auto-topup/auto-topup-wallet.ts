import type { AutoTopup } from '../../../db/entities/wallet/wallet.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { createWallet, type NewWallet } from '../../ledger/wallet-create.ts';
import { switchAutoTopup, withCollection } from '../../topup/auto-topup-switch.ts';

/**
 * Makes a wallet with the automatic top-ups that it begins with, and returns its id; those that are enabled are looked at at once. Throws like
 * `createWallet`. spec: wallets-and-payments §1.1, §2.1
 */
export async function createToppedUpWallet(
  sql: Sql,
  scope: Scope,
  input: NewWallet & { autoTopup: AutoTopup | null },
): Promise<string> {
  const { customerId, currency } = input;
  const autoTopup = input.autoTopup ? await withCollection(sql, scope, customerId, input.autoTopup) : null;
  const id = await createWallet(sql, scope, { ...input, autoTopup });
  if (autoTopup?.enabled) await switchAutoTopup(sql, scope, { id, customerId, currency, autoTopup });
  return id;
}
