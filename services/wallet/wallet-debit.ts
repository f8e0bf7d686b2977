import { decimal } from '../../billing/money/money.ts';
import { guardWallet } from '../../billing/wallet/wallet.ts';
import { coalesce } from '../../db/coalesce.ts';
import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inTransaction, type Transaction } from '../../db/transaction.ts';
import { enterDebit, type Ledger, type LedgerEntry, type LedgerWallet, openLedger } from '../ledger/wallet-ledger.ts';
import { takenKey, usedKeys, writeLedger } from '../ledger/wallet-ledger-write.ts';
import { lockWallet } from './wallet-topup.ts';

export interface DebitRequest {
  walletId: string;
  credits: string;
  idempotencyKey: string;
  description: string;
  metadata: Record<string, string>;
}

/** A debit beside others in one transaction, with the request that asked for it. */
type SharedDebit = DebitRequest & { requestId: string };

/** Debits of one wallet, in the order asked. */
interface DebitsOfWallet {
  scope: Scope;
  walletId: string;
  debits: readonly SharedDebit[];
}

/**
 * Takes credits by hand; the balance may fall below zero. Throws `not_found`, `invalid_operation` for a frozen or closed wallet,
 * `already_exists` for a key that was used. spec: wallets-and-payments §1.1 POST debit, §2.4
 */
export async function debitWallet(tx: Transaction, request: DebitRequest): Promise<LedgerEntry | null> {
  const { ledger } = await lockWallet(tx, request.walletId);
  const [entry] = await enterDebits(tx, ledger, [{ ...request, requestId: tx.scope.requestId }]);
  return entry ?? null;
}

/**
 * Debits by hand as the API takes them. Those of one wallet that come while others of it are written share the next transaction, and
 * so do those of different wallets of an environment: one lock, one reading and one writing for many. A debit that comes alone waits for
 * nothing; a refused one is refused alone; one whose wallet another transaction has locked waits by itself. Answers what `read` says
 * of the wallet after its debits. Throws as `debitWallet` does.
 */
export function sharedDebits<T>(
  database: Database,
  read: (tx: Transaction, walletIds: readonly string[]) => Promise<ReadonlyMap<string, T>>,
) {
  const alone = ({ scope, walletId, debits }: DebitsOfWallet) =>
    inTransaction(database, scope, async (tx) => {
      const { ledger } = await lockWallet(tx, walletId);
      await enterDebits(tx, ledger, debits);
      return (await read(tx, [walletId])).get(walletId);
    });
  const besideOthers = coalesce<DebitsOfWallet, T | undefined>({
    gathers: false,
    groupOf: ({ scope }) => `${scope.environmentId} ${scope.actor}`,
    async run(requests) {
      const [{ scope }] = requests as [DebitsOfWallet];
      const answers = await inTransaction(database, scope, async (tx) => {
        const ids = requests.map(({ walletId }) => walletId);
        const ledger = await openLedger(tx, scope, ids, { leaves: 'locked' });
        const free = requests.filter(({ walletId }) => ledger.wallets.has(walletId));
        await enterDebits(
          tx,
          ledger,
          free.flatMap(({ debits }) => debits),
        );
        return read(tx, [...ledger.wallets.keys()]);
      });
      return requests.map(({ walletId }) => answers.get(walletId));
    },
  });
  return coalesce<DebitRequest & { scope: Scope }, T>({
    gathers: false,
    groupOf: ({ scope, walletId }) => `${scope.environmentId} ${scope.actor} ${walletId}`,
    async run(requests) {
      const [{ scope, walletId }] = requests as [DebitRequest & { scope: Scope }];
      const debits = requests.map(({ scope: { requestId }, ...request }) => ({ ...request, requestId }));
      const asked = { scope, walletId, debits };
      const answer = (await besideOthers(asked)) ?? (await alone(asked));
      return requests.map(() => answer as T);
    },
  });
}

/** Enters debits of locked wallets in the order asked, all or none; answers the entry of each, null for one of no credits. */
async function enterDebits(
  tx: Transaction,
  ledger: Ledger,
  debits: readonly SharedDebit[],
): Promise<(LedgerEntry | null)[]> {
  if (debits.length === 0) return [];
  for (const wallet of ledger.wallets.values()) guardWallet(wallet, 'debit');
  const keys = debits.map(({ idempotencyKey }) => idempotencyKey);
  if (new Set(keys).size < keys.length || (await usedKeys(tx, tx.scope, keys)).size > 0) throw takenKey();
  const entries = debits.map((debit) =>
    enterDebit(ledger, ledger.wallets.get(debit.walletId) as LedgerWallet, {
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
