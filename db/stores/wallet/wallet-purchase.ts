import { type Decimal, decimal, decimalString, sum } from '../../../billing/money.ts';
import { refuse } from '../../../billing/refusal.ts';
import { creditValue } from '../../../billing/wallet.ts';
import { planCredit } from '../../../billing/wallet-ledger.ts';
import { writeAudit } from '../../audit.ts';
import { type Columns, updateText, writeRows } from '../../bulk.ts';
import { decimalText, instantText } from '../../columns.ts';
import { writeEvents } from '../../outbox.ts';
import type { Scope } from '../../scope.ts';
import type { Sql } from '../../transaction.ts';
import { followLedger } from '../alert/ledger-alert.ts';
import { noteLots } from './wallet-agenda.ts';
import { enterDebitOf, type Ledger, type LedgerWallet, lotOf, openLedger } from './wallet-ledger.ts';
import { entryEvent, writeLedger, writeWallets } from './wallet-ledger-write.ts';

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

/** Money of a paid purchase that leaves. */
export interface TakenBack {
  purchaseId: string;
  /** The part of what was paid that leaves; `paid` is above zero. */
  amount: string;
  paid: string;
  /** The id of the refund, note or dispute: the same takes credits once. */
  key: string;
  description: string;
  /** Refuses more than is left of what was bought, where a person decides; otherwise the balance falls below zero. */
  refusesBeyondLot: boolean;
}

/**
 * Takes the credits of a purchase back with the money that leaves: its lot, then its bonus pro rata, then the balance below zero. A
 * purchase that did not complete has none. Throws `invalid_operation` for more than is left, where that is refused.
 * spec: wallets-and-payments §2.14; design: money-in-wallets finding 5
 */
export async function takeBackPurchase(sql: Sql, scope: Scope, taken: TakenBack): Promise<void> {
  const { ledger, rows } = await lockPurchases(sql, scope, [taken.purchaseId]);
  const lots = rows.filter((row) => row.transaction_status === 'completed');
  const [lot] = lots;
  if (!lot) return;
  const before = await takenBefore(sql, scope, lot);
  const upTo = (credits: string, amount: Decimal) =>
    decimal(credits).times(amount).dividedBy(taken.paid).toDecimalPlaces(9);
  // Rounded as a whole and not each by itself, so that several parts of the money take what all of it takes.
  const wanted = lots.map((row) => ({
    row,
    credits: upTo(row.credit_amount, before.plus(taken.amount)).minus(upTo(row.credit_amount, before)),
  }));
  if (taken.refusesBeyondLot && wanted[0]!.credits.greaterThan(lot.credits_available)) {
    const left = decimalText(lot.credits_available);
    throw refuse(
      'invalid_operation',
      `only ${left} of the ${decimalText(lot.credit_amount)} credits of this purchase are left; give back the money of those at most`,
      { credits_available: left },
    );
  }
  enterTakenBack(ledger, ledger.wallets.get(lot.wallet_id)!, wanted, taken);
  await writeLedger(ledger);
}

/** Money of a purchase that has left before, as the debits say that took its credits back. */
async function takenBefore(sql: Sql, scope: Scope, lot: PurchaseRow): Promise<Decimal> {
  const [row] = await sql.rows<{ amount: string }>(
    `select coalesce(sum((metadata->>'taken_back_amount')::numeric), 0) as amount from wallet_transaction
     where environment_id = $1 and wallet_id = $2 and type = 'debit' and metadata->>'taken_back' = $3`,
    [scope.environmentId, lot.wallet_id, lot.id],
  );
  return decimal(row!.amount);
}

function enterTakenBack(
  ledger: Ledger,
  wallet: LedgerWallet,
  wanted: readonly { row: PurchaseRow; credits: Decimal }[],
  { key, purchaseId, description, amount }: TakenBack,
): void {
  const uses = wanted
    .map(({ row, credits }) => {
      const available = decimal(row.credits_available);
      const taken = credits.lessThan(available) ? credits : available;
      return { id: row.id, taken, left: available.minus(taken) };
    })
    .filter(({ taken }) => taken.greaterThan(0));
  const credits = sum(wanted.map((each) => each.credits));
  const creditBalanceAfter = wallet.creditBalance.minus(credits);
  // The losses of the lots are written with the entry.
  for (const use of uses) {
    const lot = wallet.lots.find((one) => one.id === use.id);
    if (lot) lot.creditsAvailable = use.left;
  }
  enterDebitOf(
    ledger,
    wallet,
    {
      reason: 'CREDIT_ADJUSTMENT',
      referenceType: 'REQUEST',
      referenceId: key,
      idempotencyKey: key,
      description,
      metadata: { taken_back: purchaseId, taken_back_amount: amount },
      quantity: { credits },
    },
    {
      credits,
      amount: creditValue(credits, wallet.conversionRate),
      creditBalanceAfter,
      balanceAfter: creditValue(creditBalanceAfter, wallet.conversionRate),
      uses,
    },
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
  const credited = new Set(rows.map((row) => row.wallet_id));
  const wallets = await writeWallets(ledger, credited);
  await report(ledger, written, 'purchase completed');
  await followLedger(sql, scope, wallets, credited);
  if (written.some(({ expiryDate }) => expiryDate !== null)) noteLots(sql, scope, [...credited]);
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
}

type Reported = ReturnType<typeof entryOf> & { occurredAt: string; version: number };

async function report({ sql, scope }: Ledger, entries: readonly Reported[], action: string): Promise<void> {
  await writeEvents(
    sql,
    scope,
    entries.map((entry) => entryEvent(entry, 'wallet.transaction.updated')),
  );
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
    type: row.type as string,
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
    metadata: row.metadata,
  };
}
