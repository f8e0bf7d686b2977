import type { InvoiceWallet } from '../../../billing/invoice/invoice-input.ts';
import { payingLots } from '../../../billing/invoice/taxed-credit.ts';
import { decimal, decimalString } from '../../../billing/money/money.ts';
import { lotsPaying, usableCredits, walletAllowance } from '../../../billing/wallet/credit-lot.ts';
import { inOrderOfPaying } from '../../../billing/wallet/wallet.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { enterDebit, type Ledger, openLedger } from '../../ledger/wallet-ledger.ts';
import { writeLedger } from '../../ledger/wallet-ledger-write.ts';

/** An invoice that prepaid credits may pay. */
export interface CreditableInvoice {
  id: string;
  customerId: string;
  /** Lower case. */
  currency: string;
  /** Lots that expired before it are not used; for an invoice without a period the customer's now. */
  periodEnd: string | null;
}

/** The prepaid wallets of the customers of some invoices, locked until the transaction ends. */
export interface PrepaidPurse {
  ledger: Ledger | null;
  /** How often a wallet paid an invoice before, by `<invoice>:<wallet>`: its credits were returned in between. */
  generations: ReadonlyMap<string, number>;
}

/** As a column of a statement over `invoice i`: whether the invoiced customer has prepaid credits in its currency. */
export const hasPrepaidCredits = `exists (select from wallet w where w.environment_id = i.environment_id and w.customer_id = i.customer_id
    and w.currency = lower(i.currency) and w.wallet_type = 'PRE_PAID' and w.wallet_status = 'active' and w.status = 'published'
    and w.balance > 0)`;

/**
 * Locks the prepaid wallets of the invoices' customers, by ascending id, and reads their lots: four statements for any number of
 * invoices, none when there is no invoice. spec: wallets-and-payments §2.12
 */
export async function openPurse(sql: Sql, scope: Scope, invoices: readonly CreditableInvoice[]): Promise<PrepaidPurse> {
  if (invoices.length === 0) return { ledger: null, generations: new Map() };
  const customers = invoices.map(({ customerId, currency }) => ({ customerId, currency }));
  const rows = await sql.rows<{ id: string }>(
    `select distinct w.id from wallet w
     join jsonb_to_recordset($2::jsonb) as t("customerId" text, currency text) on t."customerId" = w.customer_id and t.currency = w.currency
     where w.environment_id = $1 and w.wallet_type = 'PRE_PAID' and w.wallet_status = 'active' and w.status = 'published'`,
    [scope.environmentId, JSON.stringify(customers)],
  );
  const walletIds = rows.map((row) => row.id);
  const ledger = await openLedger(sql, scope, walletIds);
  const paid = await sql.rows<{ key: string; times: string }>(
    `select reference_id || ':' || wallet_id as key, count(*) as times from wallet_transaction
     where environment_id = $1 and reference_id = any($2) and reference_type = 'INVOICE' and type = 'debit' group by 1`,
    [scope.environmentId, invoices.map((invoice) => invoice.id)],
  );
  return { ledger, generations: new Map(paid.map((row) => [row.key, Number(row.times)])) };
}

/** What each wallet can pay of an invoice after those before it, in order of use: balance descending, age, id. spec: wallets-and-payments §2.12 */
export function walletsOf(purse: PrepaidPurse, invoice: CreditableInvoice): InvoiceWallet[] {
  const own = inOrderOfPaying([...(purse.ledger?.wallets.values() ?? [])], invoice);
  return own.map((wallet) => {
    const lots = invoice.periodEnd === null ? wallet.lots : lotsPaying(wallet.lots, invoice.periodEnd);
    const referenceTime = invoice.periodEnd ?? wallet.now;
    const usable = usableCredits(lots, wallet.creditBalance, referenceTime);
    const paying = payingLots({ ...wallet, lots }, referenceTime);
    return {
      id: wallet.id,
      allowance: decimalString(walletAllowance(usable, wallet.conversionRate, invoice.currency)),
      ...(paying ? { lots: paying } : {}),
    };
  });
}

/** Enters the debits of an invoice, one for each wallet that pays. spec: wallets-and-payments §2.12 step 5 */
export function payFromPurse(
  { ledger, generations }: PrepaidPurse,
  invoice: CreditableInvoice,
  uses: readonly { walletId: string; amount: string }[],
): void {
  for (const { walletId, amount } of uses) {
    const wallet = ledger?.wallets.get(walletId);
    if (!ledger || !wallet) throw new Error(`wallet ${walletId} pays invoice ${invoice.id} without being locked`);
    const key = `${invoice.id}:${walletId}`;
    enterDebit(ledger, wallet, {
      reason: 'CREDIT_ADJUSTMENT',
      quantity: { amount: decimal(amount) },
      referenceType: 'INVOICE',
      referenceId: invoice.id,
      idempotencyKey: `${key}:${generations.get(key) ?? 0}`,
      description: `Prepaid credits on invoice ${invoice.id}`,
      metadata: { invoice_id: invoice.id },
      ...(invoice.periodEnd === null ? {} : { referenceTime: invoice.periodEnd }),
    });
  }
}

/** Writes what the invoices of a purse took; nothing when they took nothing. */
export async function closePurse({ ledger }: PrepaidPurse): Promise<void> {
  if (ledger && ledger.entries.length > 0) await writeLedger(ledger);
}
