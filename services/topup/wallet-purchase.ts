import { decimal, decimalString } from '../../billing/money/money.ts';
import { planCredit } from '../../billing/wallet/wallet-ledger.ts';
import { type Columns, updateText, writeRows } from '../../db/rows/bulk.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import { countCredits } from '../ledger/credit-day.ts';
import { followLedger } from '../ledger/ledger-alert.ts';
import { noteLots } from '../ledger/wallet-agenda.ts';
import { settledEntryEvent, type ToldEntry } from '../ledger/wallet-entry-event.ts';
import { type Ledger, lotOf, openLedger } from '../ledger/wallet-ledger.ts';
import { writeWallets } from '../ledger/wallet-ledger-write.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { endAttempts } from './auto-topup-end.ts';

/** A bought lot or its bonus, as named SQL reads it. */
export interface PurchaseRow {
  id: string;
  wallet_id: string;
  parent_transaction_id: string | null;
  transaction_status: string;
  transaction_reason: string;
  credit_amount: string;
  credits_available: string;
  amount: string;
  [column: string]: unknown;
}

/** Outcome of a purchase whose invoice is paid. */
export type PurchaseOutcome = 'completed' | 'orphaned' | 'wallet_closed';

// A purchase comes before its bonus.
const purchaseText = `
select t.*, coalesce(t.parent_transaction_id, t.id) as purchase_id from wallet_transaction t
where t.environment_id = $1 and (t.id = any($2) or t.parent_transaction_id = any($2)) order by t.parent_transaction_id nulls first, t.id`;

const completeRows = updateText('wallet_transaction', {
  id: 'text',
  position: 'int',
  transactionStatus: 'text',
  creditBalanceBefore: 'numeric',
  creditBalanceAfter: 'numeric',
  creditsAvailable: 'numeric',
  occurredAt: 'timestamptz',
  updatedAt: 'timestamptz',
  updatedBy: 'text',
} satisfies Columns);

/** The rows of purchases, and the ledger of their wallets, which are locked first. */
export async function lockPurchases(
  sql: Sql,
  scope: Scope,
  purchaseIds: readonly string[],
): Promise<{ ledger: Ledger; rows: PurchaseRow[] }> {
  const values = [scope.environmentId, purchaseIds];
  const before = await sql.rows<PurchaseRow>(purchaseText, values);
  const ledger = await openLedger(sql, scope, [...new Set(before.map((row) => row.wallet_id))]);
  // Another transaction may have moved them while this one waited for the wallet.
  return { ledger, rows: await sql.rows<PurchaseRow>(purchaseText, values) };
}

/**
 * Completes the purchases whose invoices are paid, each with its bonus: balances before and after are stamped anew, the lots first pay
 * what their wallets owe. Doing it again changes nothing. A purchase that had failed stays so, and one of a closed wallet fails:
 * the answers, by purchase, say whose money is to go back. spec: wallets-and-payments §2.6, README decision 40
 */
export async function completePurchases(
  sql: Sql,
  scope: Scope,
  purchaseIds: readonly string[],
): Promise<Map<string, PurchaseOutcome>> {
  if (purchaseIds.length === 0) return new Map();
  const { ledger, rows } = await lockPurchases(sql, scope, purchaseIds);
  const outcomes = new Map<string, PurchaseOutcome>();
  const completed: PurchaseRow[] = [];
  const closed: PurchaseRow[] = [];
  for (const row of rows) {
    const wallet = ledger.wallets.get(row.wallet_id)!;
    const isClosed = wallet.walletStatus === 'closed';
    const outcome = row.transaction_status === 'failed' ? 'orphaned' : isClosed ? 'wallet_closed' : 'completed';
    if (row.parent_transaction_id === null) outcomes.set(row.id, outcome);
    if (row.transaction_status !== 'pending') continue;
    (isClosed ? closed : completed).push(row);
  }
  await writeCompleted(ledger, completed);
  await writeFailed(ledger, closed, 'the wallet was closed before the payment came');
  return outcomes;
}

/** Fails a pending purchase and its bonus; one that is settled stays. spec: wallets-and-payments §2.6 */
export async function failPurchase(sql: Sql, scope: Scope, purchaseId: string, reason: string): Promise<void> {
  const { ledger, rows } = await lockPurchases(sql, scope, [purchaseId]);
  await writeFailed(
    ledger,
    rows.filter((row) => row.transaction_status === 'pending'),
    reason,
  );
}

async function writeCompleted(ledger: Ledger, rows: readonly PurchaseRow[]): Promise<void> {
  const { sql, scope } = ledger;
  if (rows.length === 0) return;
  const now = new Date().toISOString();
  const written = rows.map((row) => {
    const wallet = ledger.wallets.get(row.wallet_id)!;
    const plan = planCredit(wallet, { credits: decimal(row.credit_amount), amount: decimal(row.amount) });
    const before = wallet.creditBalance;
    wallet.creditBalance = plan.creditBalanceAfter;
    wallet.version += 1;
    wallet.lots.push({ ...lotOf(row), creditsAvailable: plan.available, transactionStatus: 'completed' });
    return {
      ...entryOf(row),
      position: wallet.version,
      version: wallet.version,
      transactionStatus: 'completed',
      creditBalanceBefore: decimalString(before),
      creditBalanceAfter: decimalString(plan.creditBalanceAfter),
      creditsAvailable: decimalString(plan.available),
      occurredAt: wallet.now,
      updatedAt: now,
      updatedBy: scope.actor,
    };
  });
  await writeRows(sql, completeRows, written);
  await countCredits(sql, scope, written);
  const credited = new Set(rows.map((row) => row.wallet_id));
  const wallets = await writeWallets(ledger, credited);
  await report(ledger, written, 'purchase completed');
  await followLedger(sql, scope, wallets, credited);
  if (written.some(({ expiryDate }) => expiryDate !== null)) noteLots(sql, scope, [...credited]);
  await endAttempts(sql, scope, endedOf(ledger, rows, true));
}

/** Purchases, without their bonuses, as the attempts that opened them hear of it. */
function endedOf(ledger: Ledger, rows: readonly PurchaseRow[], isCompleted: boolean) {
  return rows
    .filter((row) => row.parent_transaction_id === null)
    .map((row) => ({
      purchaseId: row.id,
      walletId: row.wallet_id,
      isCompleted,
      at: ledger.wallets.get(row.wallet_id)!.now,
    }));
}

async function writeFailed(ledger: Ledger, rows: readonly PurchaseRow[], reason: string): Promise<void> {
  const { sql, scope } = ledger;
  if (rows.length === 0) return;
  await sql.rows(
    `update wallet_transaction set transaction_status = 'failed', metadata = metadata || jsonb_build_object('failure_reason', $3::text),
       updated_at = $4, updated_by = $5 where environment_id = $1 and id = any($2)`,
    [scope.environmentId, rows.map((row) => row.id), reason, new Date().toISOString(), scope.actor],
  );
  const failed = rows.map((row) => {
    const wallet = ledger.wallets.get(row.wallet_id)!;
    wallet.version += 1;
    const metadata = { ...(row.metadata as Record<string, string>), failure_reason: reason };
    return { ...entryOf(row), transactionStatus: 'failed', version: wallet.version, occurredAt: wallet.now, metadata };
  });
  await writeWallets(ledger, new Set(rows.map((row) => row.wallet_id)));
  await report(ledger, failed, 'purchase failed');
  await endAttempts(sql, scope, endedOf(ledger, rows, false));
}

type Reported = ReturnType<typeof entryOf> & { occurredAt: string; version: number };

async function report({ sql, scope }: Ledger, entries: readonly Reported[], action: string): Promise<void> {
  await writeEvents(sql, scope, entries.map(settledEntryEvent));
  await writeAudit(
    sql,
    scope,
    entries.map((entry) => ({
      objectType: 'wallet',
      objectId: entry.walletId,
      action,
      version: entry.version,
      occurredAt: entry.occurredAt,
      detail: { transaction_id: entry.id, credits: entry.creditAmount, reason: entry.transactionReason },
    })),
  );
}

/** The members that events of a transaction carry. */
function entryOf(row: PurchaseRow) {
  return {
    id: row.id,
    walletId: row.wallet_id,
    customerId: row.customer_id as string,
    currency: row.currency as string,
    type: row.type as ToldEntry['type'],
    amount: decimalText(row.amount),
    creditAmount: decimalText(row.credit_amount),
    creditBalanceBefore: decimalText(row.credit_balance_before as string),
    creditBalanceAfter: decimalText(row.credit_balance_after as string),
    transactionStatus: row.transaction_status,
    transactionReason: row.transaction_reason,
    referenceType: row.reference_type as string,
    referenceId: row.reference_id as string,
    description: row.description as string,
    expiryDate: row.expiry_date ? instantText(row.expiry_date as string) : null,
    metadata: row.metadata as Record<string, string>,
  };
}
