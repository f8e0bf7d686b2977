import { decimal } from '../../billing/money/money.ts';
import { inTransaction } from '../../db/transaction.ts';
import { enterCredit, enterDebit, openLedger } from '../../services/ledger/wallet-ledger.ts';
import { writeLedger } from '../../services/ledger/wallet-ledger-write.ts';
import type { BenchDatabase } from '../platform.ts';

/** A wallet of a customer of its own, with lots of `credits` each. */
export async function makeWallet(
  { api, ...base }: BenchDatabase,
  { name, lots, credits }: { name: string; lots: number; credits: string },
): Promise<{ customerId: string; walletId: string }> {
  const { id: customerId } = await api('POST', '/customers', { external_id: name, name });
  const { id: walletId } = await api('POST', '/wallets', { customer_id: customerId, currency: 'usd' });
  await enter(base, walletId, (ledger, wallet) => {
    for (let index = 0; index < lots; index += 1) {
      enterCredit(ledger, wallet, { ...facts(`${walletId}-lot-${index}`), quantity: { credits: decimal(credits) } });
    }
  });
  return { customerId, walletId };
}

const entriesATransaction = 2_000;

/** Gives a wallet so many debits of 0.01, entered as the product enters them. */
export async function debitOften(
  base: Pick<BenchDatabase, 'database' | 'scope'>,
  walletId: string,
  count: number,
): Promise<void> {
  for (let done = 0; done < count; done += entriesATransaction) {
    await enter(base, walletId, (ledger, wallet) => {
      for (let index = done; index < Math.min(count, done + entriesATransaction); index += 1) {
        const key = `${walletId}-debit-${index}`;
        enterDebit(ledger, wallet, {
          ...facts(key),
          reason: 'MANUAL_BALANCE_DEBIT',
          quantity: { credits: decimal('0.01') },
        });
      }
    });
  }
}

const facts = (key: string) => ({
  reason: 'FREE_CREDIT_GRANT',
  referenceType: 'EXTERNAL' as const,
  referenceId: key,
  idempotencyKey: key,
});

type Ledger = Awaited<ReturnType<typeof openLedger>>;

function enter(
  { database, scope }: Pick<BenchDatabase, 'database' | 'scope'>,
  walletId: string,
  entries: (ledger: Ledger, wallet: NonNullable<ReturnType<Ledger['wallets']['get']>>) => void,
): Promise<void> {
  return inTransaction(database, scope, async (tx) => {
    const ledger = await openLedger(tx, scope, [walletId]);
    const wallet = ledger.wallets.get(walletId);
    if (!wallet) throw new Error(`no wallet ${walletId}`);
    entries(ledger, wallet);
    await writeLedger(ledger);
  });
}
