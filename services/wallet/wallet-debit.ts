import { decimal } from '../../billing/money/money.ts';
import { guardWallet } from '../../billing/wallet/wallet.ts';
import { coalesce } from '../../db/coalesce.ts';
import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inTransaction, type Transaction } from '../../db/transaction.ts';
import { enterDebit, type LedgerEntry } from './wallet-ledger.ts';
import { takenKey, usedKeys, writeLedger } from './wallet-ledger-write.ts';
import { lockWallet } from './wallet-topup.ts';

export interface DebitRequest {
  walletId: string;
  credits: string;
  idempotencyKey: string;
  description: string;
  metadata: Record<string, string>;
}

/**
 * Takes credits by hand; the balance may fall below zero. Throws `not_found`, `invalid_operation` for a frozen or closed wallet,
 * `already_exists` for a key that was used. spec: wallets-and-payments §1.1 POST debit, §2.4
 */
export async function debitWallet(tx: Transaction, request: DebitRequest): Promise<LedgerEntry | null> {
  const [entry] = await debitAtOnce(tx, [{ ...request, requestId: tx.scope.requestId }]);
  return entry ?? null;
}

/**
 * Debits by hand as the API takes them: those of one wallet that come while another of them is written share the next transaction, so a
 * wallet that everybody debits is locked, read and written once for many. A lonely one waits for nothing; one that is refused is refused
 * alone. Answers what `read` says of the wallet once the debit, and those with it, are entered. Throws as `debitWallet` does.
 */
export function sharedDebits<T>(database: Database, read: (tx: Transaction, walletId: string) => Promise<T>) {
  return coalesce<DebitRequest & { scope: Scope }, T>({
    gathers: false,
    groupOf: ({ scope, walletId }) => `${scope.environmentId} ${scope.actor} ${walletId}`,
    async run(requests) {
      const [first] = requests as [DebitRequest & { scope: Scope }];
      const debits = requests.map(({ scope, ...request }) => ({ ...request, requestId: scope.requestId }));
      const answer = await inTransaction(database, first.scope, async (tx) => {
        await debitAtOnce(tx, debits);
        return read(tx, first.walletId);
      });
      return requests.map(() => answer);
    },
  });
}

/** Enters debits of one wallet in the order asked, all or none; answers the entry of each, null for one of no credits. */
async function debitAtOnce(
  tx: Transaction,
  debits: readonly (DebitRequest & { requestId: string })[],
): Promise<(LedgerEntry | null)[]> {
  const [first] = debits;
  if (!first) return [];
  const { ledger, wallet } = await lockWallet(tx, first.walletId);
  guardWallet(wallet, 'debit');
  const keys = debits.map(({ idempotencyKey }) => idempotencyKey);
  if (new Set(keys).size < keys.length || (await usedKeys(tx, tx.scope, keys)).size > 0) throw takenKey();
  const entries = debits.map((debit) =>
    enterDebit(ledger, wallet, {
      reason: 'MANUAL_BALANCE_DEBIT',
      quantity: { credits: decimal(debit.credits) },
      referenceType: 'EXTERNAL',
      referenceId: debit.idempotencyKey,
      idempotencyKey: debit.idempotencyKey,
      description: debit.description,
      metadata: debit.metadata,
      requestId: debit.requestId,
    }),
  );
  await writeLedger(ledger);
  return entries;
}
