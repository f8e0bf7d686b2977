import { type Decimal, decimal, decimalString, sum } from '../../billing/money/money.ts';
import { usableCredits, walletAllowance } from '../../billing/wallet/credit-lot.ts';
import {
  type PayableLine,
  payFromPostpaidWallets,
  type WalletPayment,
  type WalletsFollow,
} from '../../billing/wallet/postpaid-payment.ts';
import { creditValue } from '../../billing/wallet/wallet.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import { enterDebit, type Ledger, type LedgerWallet, openLedger } from '../ledger/wallet-ledger.ts';
import type { PayableInvoiceRow, PaymentTransaction } from './payment-row.ts';

/** Postpaid wallets of the customers of some invoices, locked until the transaction ends, and what they may pay of them. */
export interface PostpaidPurse {
  ledger: Ledger;
  allowedPriceTypes: ReadonlyMap<string, readonly string[]>;
  invoices: ReadonlyMap<string, PursedInvoice>;
}

interface PursedInvoice {
  lines: readonly PayableLine[];
  periodEnd: string | null;
  follow: WalletsFollow;
}

// In strict flows wallets pay with the card or not at all: a change, and the start of a subscription that is incomplete until it is paid.
const invoicesText = `
select i.id, i.period_end, i.billing_reason = 'SUBSCRIPTION_UPDATE' or coalesce(i.billing_reason in ('SUBSCRIPTION_CREATE', 'SUBSCRIPTION_TRIAL_END')
    and (select s.payment_behavior <> 'default_active' from subscription s where s.id = i.subscription_id), false) as is_strict,
  coalesce((select jsonb_agg(jsonb_build_object('priceType', l.price_type,
    'net', (l.amount - l.line_item_discount - l.invoice_level_discount - l.prepaid_credits_applied)::text))
    from invoice_line_item l where l.environment_id = i.environment_id and l.invoice_id = i.id and l.status = 'published'), '[]') as lines
from invoice i where i.environment_id = $1 and i.id = any($2)`;

const walletsText = `
select distinct w.id, w.allowed_price_types from wallet w join invoice i on i.environment_id = w.environment_id and i.customer_id = w.customer_id
where w.environment_id = $1 and i.id = any($2) and w.currency = lower(i.currency) and w.wallet_type = 'POST_PAID'
  and w.wallet_status = 'active' and w.status = 'published'`;

/**
 * Locks the postpaid wallets of the payers of locked invoices, by ascending id, and reads their lots and what they may pay; null when
 * none of them has any. Invoices of purchases of credits are never paid from wallets.
 * spec: wallets-and-payments §2.13; design: money-in-wallets finding 36
 */
export async function openPostpaidPurse(
  tx: PaymentTransaction,
  invoices: readonly PayableInvoiceRow[],
): Promise<PostpaidPurse | null> {
  const ids = invoices.filter((invoice) => invoice.has_postpaid_wallet).map((invoice) => invoice.id);
  if (ids.length === 0) return null;
  const values = [tx.scope.environmentId, ids];
  const wallets = await tx.rows<{ id: string; allowed_price_types: string[] }>(walletsText, values);
  const ledger = await openLedger(
    tx,
    tx.scope,
    wallets.map((wallet) => wallet.id),
  );
  const rows = await tx.rows<{
    id: string;
    period_end: string | null;
    is_strict: boolean;
    lines: { priceType: string | null; net: string }[];
  }>(invoicesText, values);
  return {
    ledger,
    allowedPriceTypes: new Map(wallets.map((wallet) => [wallet.id, wallet.allowed_price_types])),
    invoices: new Map(
      rows.map((row) => [
        row.id,
        {
          lines: row.lines.map(({ priceType, net }) => ({ priceType, net: decimal(net) })),
          periodEnd: row.period_end ? instantText(row.period_end) : null,
          follow: row.is_strict ? 'on_success' : 'in_any_case',
        },
      ]),
    ),
  };
}

/**
 * Locks every wallet that payments of a batch settle with: those whose credits the purchases bought, and the postpaid ones of the payers of
 * `following`. All of them by ascending id in one statement, so that two batches wait for each other instead of deadlocking.
 * spec: wallets-and-payments §0 Locks
 */
export async function lockWalletsToSettle(
  tx: PaymentTransaction,
  purchaseIds: readonly (string | null)[],
  following: readonly { invoice: PayableInvoiceRow }[],
): Promise<void> {
  const purchases = purchaseIds.filter((id) => id !== null);
  const invoices = following.flatMap(({ invoice }) => (invoice.has_postpaid_wallet ? [invoice.id] : []));
  if (purchases.length === 0 && invoices.length === 0) return;
  await tx.rows(lockText, [tx.scope.environmentId, purchases, invoices]);
}

const lockText = `
select id from wallet where environment_id = $1 and id in (
  select wallet_id from wallet_transaction where environment_id = $1 and id = any($2)
  union all
  select w.id from wallet w join invoice i on i.environment_id = w.environment_id and i.customer_id = w.customer_id
  where w.environment_id = $1 and i.id = any($3) and w.currency = lower(i.currency) and w.wallet_type = 'POST_PAID'
    and w.wallet_status = 'active' and w.status = 'published') order by id for update`;

/** Payments that the wallets of a purse can make of what remains of an invoice, after those that were entered before. */
export function walletPayments(purse: PostpaidPurse, invoice: PayableInvoiceRow): WalletPayment[] {
  const pursed = purse.invoices.get(invoice.id);
  if (!pursed) return [];
  const remaining = decimal(decimalText(invoice.amount_remaining));
  const own = [...purse.ledger.wallets.values()].filter((wallet) => wallet.customerId === invoice.customer_id);
  const wallets = own.map((wallet) => ({
    ...wallet,
    allowedPriceTypes: purse.allowedPriceTypes.get(wallet.id) ?? [],
    balance: creditValue(wallet.creditBalance, wallet.conversionRate),
    allowance: allowanceOf(wallet, invoice.currency, pursed.periodEnd),
  }));
  return payFromPostpaidWallets({ currency: invoice.currency, remaining }, wallets, pursed.lines);
}

/** The sum of wallet payments. */
export function totalOf(payments: readonly WalletPayment[]): string {
  return decimalString(sum(payments.map(({ amount }) => decimal(amount))));
}

/** The largest amount that a wallet can pay of an invoice whose period ends at `periodEnd`. spec: wallets-and-payments §2.12 step 2 */
export function allowanceOf(wallet: LedgerWallet, currency: string, periodEnd: string | null): Decimal {
  const usable = usableCredits(wallet.lots, wallet.creditBalance, periodEnd ?? wallet.now);
  return walletAllowance(usable, wallet.conversionRate, currency);
}

/** Enters the debit of a payment from a wallet; its key is the payment's id. spec: wallets-and-payments §2.13 */
export function enterPayment(
  ledger: Ledger,
  wallet: LedgerWallet,
  payment: { id: string; amount: string; invoiceId: string; periodEnd: string | null },
): void {
  enterDebit(ledger, wallet, {
    reason: 'INVOICE_PAYMENT',
    quantity: { amount: decimal(payment.amount) },
    referenceType: 'PAYMENT',
    referenceId: payment.id,
    idempotencyKey: payment.id,
    description: `Payment of invoice ${payment.invoiceId}`,
    metadata: { invoice_id: payment.invoiceId, payment_id: payment.id },
    ...(payment.periodEnd === null ? {} : { referenceTime: payment.periodEnd }),
  });
}
