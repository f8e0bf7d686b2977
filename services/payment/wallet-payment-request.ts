import { currencyPrecision, decimal, decimalString } from '../../billing/money/money.ts';
import { refuse } from '../../billing/refusal.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import { badField, missing } from '../../db/rows/record.ts';
import type { PayableInvoiceRow, PaymentRow, PaymentTransaction } from '../collection/payment-row.ts';
import { allowanceOf, enterPayment } from '../collection/postpaid-purse.ts';
import { type LedgerWallet, openLedger } from '../ledger/wallet-ledger.ts';
import { writeLedger } from '../ledger/wallet-ledger-write.ts';

/** A payment from a wallet as a caller asks for it. */
interface AskedWalletPayment {
  /** Null: the only postpaid wallet that fits. */
  walletId: string | null;
  amount: string;
}

/**
 * The wallet that a CREDITS payment of a locked invoice is to be taken from; nothing is taken yet. Throws `not_found`;
 * `validation_error` for too many decimals; `invalid_operation` for a wallet that is not the payer's active postpaid one in the currency,
 * for none or several where none is named, for more than it has or than remains of the invoice, and for an invoice that bills credits.
 * spec: wallets-and-payments §2.13, §2.19, §3 row 40; design: money-in-wallets finding 36
 */
export async function walletToPayFrom(
  tx: PaymentTransaction,
  invoice: PayableInvoiceRow,
  asked: AskedWalletPayment,
): Promise<string> {
  const decimals = currencyPrecision(invoice.currency);
  if (decimal(asked.amount).decimalPlaces() > decimals)
    throw badField('amount', `must have at most ${decimals} decimals`);
  const walletId = asked.walletId ?? (await onlyWallet(tx, invoice));
  const wallet = (await openLedger(tx, tx.scope, [walletId])).wallets.get(walletId);
  if (!wallet) throw missing('wallet', walletId, 'payment_method_id');
  const problem = await problemOf(tx, wallet, invoice, asked.amount);
  if (problem !== null) throw refuse('invalid_operation', problem, { wallet_id: walletId });
  return walletId;
}

/**
 * Takes a requested CREDITS payment, which is locked behind its invoice, from its wallet. Answers why not, where wallet or invoice have
 * changed so that it cannot; then nothing is taken. The key is the payment's id. spec: wallets-and-payments §2.19 process
 */
export async function takeFromWallet(
  tx: PaymentTransaction,
  payment: PaymentRow,
  invoice: PayableInvoiceRow,
): Promise<string | null> {
  const walletId = payment.payment_method_id ?? '';
  const ledger = await openLedger(tx, tx.scope, [walletId]);
  const wallet = ledger.wallets.get(walletId);
  const amount = decimalText(payment.amount);
  const problem = wallet ? await problemOf(tx, wallet, invoice, amount) : `wallet ${walletId} is gone`;
  if (!wallet || problem !== null) return problem;
  const periodEnd = await periodEndOf(tx, invoice);
  enterPayment(ledger, wallet, { id: payment.id, amount, invoiceId: invoice.id, periodEnd });
  await writeLedger(ledger);
  return null;
}

async function onlyWallet(tx: PaymentTransaction, invoice: PayableInvoiceRow): Promise<string> {
  const rows = await tx.rows<{ id: string }>(
    `select id from wallet where environment_id = $1 and customer_id = $2 and currency = lower($3) and wallet_type = 'POST_PAID'
       and wallet_status = 'active' and status = 'published' order by id`,
    [tx.scope.environmentId, invoice.customer_id, invoice.currency],
  );
  const [only] = rows;
  if (only && rows.length === 1) return only.id;
  const found = rows.length === 0 ? 'no' : 'several';
  throw refuse(
    'invalid_operation',
    `payment_method_id is required: customer ${invoice.customer_id} has ${found} active postpaid wallets in ${invoice.currency}`,
    { wallets: rows.map(({ id }) => id) },
  );
}

async function problemOf(
  tx: PaymentTransaction,
  wallet: LedgerWallet,
  invoice: PayableInvoiceRow,
  amount: string,
): Promise<string | null> {
  const { id, walletType, walletStatus, customerId, currency } = wallet;
  if (invoice.purchase_id !== null) return `invoice ${invoice.id} bills credits, which are not paid for from wallets`;
  if (walletType !== 'POST_PAID') return `wallet ${id} is ${walletType}; payments are taken from POST_PAID wallets`;
  if (walletStatus !== 'active') return `wallet ${id} is ${walletStatus}`;
  if (customerId !== invoice.customer_id) return `wallet ${id} belongs to another customer than the invoice`;
  if (currency !== invoice.currency.toLowerCase())
    return `wallet ${id} is in ${currency}, the invoice in ${invoice.currency}`;
  const remaining = decimalText(invoice.amount_remaining);
  if (decimal(amount).greaterThan(remaining)) return `only ${remaining} of invoice ${invoice.id} remain to be paid`;
  const allowance = allowanceOf(wallet, invoice.currency, await periodEndOf(tx, invoice));
  if (decimal(amount).lessThanOrEqualTo(allowance)) return null;
  return `insufficient balance: wallet ${id} can pay ${decimalString(allowance)} ${currency} of this invoice`;
}

async function periodEndOf(tx: PaymentTransaction, invoice: PayableInvoiceRow): Promise<string | null> {
  const [row] = await tx.rows<{ period_end: string | null }>(
    'select period_end from invoice where environment_id = $1 and id = $2',
    [tx.scope.environmentId, invoice.id],
  );
  return row?.period_end ? instantText(row.period_end) : null;
}
