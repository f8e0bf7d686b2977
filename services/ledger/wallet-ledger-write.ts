import { decimalString } from '../../billing/money/money.ts';
import { refuse } from '../../billing/refusal.ts';
import { creditValue } from '../../billing/wallet/wallet.ts';
import {
  type Columns,
  insertText,
  recordColumnTypes,
  updateText,
  writeRows,
  writeRowsAndWait,
} from '../../db/rows/bulk.ts';
import type { Scope } from '../../db/scope.ts';
import { type Sql, violatedUniqueIndex } from '../../db/transaction.ts';
import { type AuditRecord, writeAudit } from '../platform/audit.ts';
import type { OutboundEvent } from '../platform/event-catalogue/event-catalogue.ts';
import { writeEvents } from '../platform/outbox.ts';
import { countCredits } from './credit-day.ts';
import { followLedger } from './ledger-alert.ts';
import { noteLots } from './wallet-agenda.ts';
import { entryEvent } from './wallet-entry-event.ts';
import type { Ledger, LedgerEntry, LedgerWallet } from './wallet-ledger.ts';

const entryColumns: Columns = {
  ...recordColumnTypes,
  walletId: 'text',
  customerId: 'text',
  currency: 'text',
  position: 'int',
  type: 'text',
  creditAmount: 'numeric',
  amount: 'numeric',
  creditBalanceBefore: 'numeric',
  creditBalanceAfter: 'numeric',
  transactionStatus: 'text',
  transactionReason: 'text',
  referenceType: 'text',
  referenceId: 'text',
  creditsAvailable: 'numeric',
  expiryDate: 'timestamptz',
  priority: 'int',
  paysFrom: 'timestamptz',
  isTaxed: 'boolean',
  parentTransactionId: 'text',
  conversionRate: 'numeric',
  topupConversionRate: 'numeric',
  idempotencyKey: 'text',
  description: 'text',
  consumedLots: 'jsonb',
  occurredAt: 'timestamptz',
  metadata: 'jsonb',
};
const insertEntries = insertText('wallet_transaction', entryColumns);
const updateLots = updateText('wallet_transaction', {
  id: 'text',
  creditsAvailable: 'numeric',
  updatedAt: 'timestamptz',
});
const updateWallets = updateText('wallet', {
  id: 'text',
  balance: 'numeric',
  creditBalance: 'numeric',
  version: 'int',
  updatedAt: 'timestamptz',
  updatedBy: 'text',
});

/** What the same transaction did to wallets beside the ledger; told before the entries. */
export interface WalletChanges {
  events: readonly OutboundEvent[];
  audit: readonly AuditRecord[];
}

/**
 * Writes the entries, what they left of lots and wallets, their events and the audit: six statements at most for any number of entries
 * and wallets. Throws `already_exists` for a key that an entry which did not fail has. spec: wallets-and-payments §2.3
 */
export async function writeLedger(ledger: Ledger, before: WalletChanges = { events: [], audit: [] }): Promise<void> {
  const { sql, scope, entries } = ledger;
  for (const entry of entries) {
    const left = ledger.usedLots.get(entry.id);
    if (left) entry.creditsAvailable = decimalString(left);
  }
  await insertKeyed(sql, entries);
  const now = new Date().toISOString();
  const own = new Set(entries.map((entry) => entry.id));
  const lots = [...ledger.usedLots].filter(([id]) => !own.has(id));
  await writeRows(
    sql,
    updateLots,
    lots.map(([id, left]) => ({ id, creditsAvailable: decimalString(left), updatedAt: now })),
  );
  const wallets = await writeWallets(ledger, new Set(entries.map((entry) => entry.walletId)));
  await writeEvents(sql, scope, [...before.events, ...entries.map((entry) => entryEvent(entry))]);
  await writeAudit(sql, scope, [...before.audit, ...entries.map(entryAudit)]);
  const completed = entries.filter((entry) => entry.type === 'credit' && entry.transactionStatus === 'completed');
  const credited = new Set(completed.map((entry) => entry.walletId));
  await countCredits(sql, scope, completed);
  await followLedger(sql, scope, wallets, credited);
  noteExpiries(ledger);
}

/** Has agendas follow lots with an expiry that came, or that nothing is left of. */
function noteExpiries({ sql, scope, entries, usedLots, wallets }: Ledger): void {
  const came = entries.filter(({ expiryDate, transactionStatus }) => expiryDate && transactionStatus === 'completed');
  const emptied = [...wallets.values()].filter(({ lots }) =>
    lots.some(({ id, expiryDate }) => expiryDate !== null && usedLots.get(id)?.isZero()),
  );
  const walletIds = [...came.map(({ walletId }) => walletId), ...emptied.map(({ id }) => id)];
  if (walletIds.length > 0) noteLots(sql, scope, walletIds);
}

/** Writes the balances and versions that entries left of wallets; answers those. */
export async function writeWallets(
  { sql, scope, wallets: locked }: Ledger,
  touched: ReadonlySet<string>,
): Promise<LedgerWallet[]> {
  const now = new Date().toISOString();
  const wallets = [...locked.values()].filter((wallet) => touched.has(wallet.id));
  await writeRows(
    sql,
    updateWallets,
    wallets.map((wallet) => ({
      id: wallet.id,
      balance: decimalString(creditValue(wallet.creditBalance, wallet.conversionRate)),
      creditBalance: decimalString(wallet.creditBalance),
      version: wallet.version,
      updatedAt: now,
      updatedBy: scope.actor,
    })),
  );
  return wallets;
}

async function insertKeyed(sql: Sql, entries: readonly LedgerEntry[]): Promise<void> {
  try {
    await writeRowsAndWait(sql, insertEntries, entries);
  } catch (error) {
    if (violatedUniqueIndex(error) === 'wallet_transaction_key_unique') throw takenKey();
    throw error;
  }
}

/** The refusal of a key that was used before, for the same or another operation. spec: wallets-and-payments §3 row 15 */
export function takenKey(): Error {
  return refuse('already_exists', 'idempotency_key was used by another wallet transaction; send a new one', {
    fields: { idempotency_key: 'used' },
  });
}

/** Which of the keys entries that did not fail have. */
export async function usedKeys(sql: Sql, scope: Scope, keys: readonly string[]): Promise<Set<string>> {
  const rows = await sql.rows<{ idempotency_key: string }>(
    `select idempotency_key from wallet_transaction
     where environment_id = $1 and idempotency_key = any($2) and transaction_status <> 'failed'`,
    [scope.environmentId, keys],
  );
  return new Set(rows.map((row) => row.idempotency_key));
}

function entryAudit(entry: LedgerEntry): AuditRecord {
  return {
    objectType: 'wallet',
    objectId: entry.walletId,
    action:
      entry.transactionStatus === 'pending' ? 'purchase opened' : entry.type === 'credit' ? 'credited' : 'debited',
    version: entry.position,
    occurredAt: entry.occurredAt,
    requestId: entry.requestId,
    detail: { transaction_id: entry.id, credits: entry.creditAmount, reason: entry.transactionReason },
  };
}
