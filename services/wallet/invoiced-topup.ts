import { plainLine } from '../../billing/invoice/invoice-line-request.ts';
import type { NewInvoice } from '../../billing/invoice/invoice-request.ts';
import { computeTaxes } from '../../billing/invoice/tax.ts';
import { currencyPrecision, decimal, decimalString } from '../../billing/money/money.ts';
import { newId } from '../../db/id.ts';
import { badField } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { createInvoice } from '../invoice/draft/invoice-create.ts';
import { attendInvoice, refreshInvoiceAgenda } from '../invoice/read/invoice-snapshot.ts';
import type { LedgerEntry, LedgerWallet } from '../ledger/wallet-ledger.ts';
import { readSetting } from '../platform/setting.ts';
import { givenTaxes, markTaxed, type PurchaseTaxes, purchaseTaxes } from '../topup/purchase-tax.ts';
import type { UsageReader } from '../usage-reader.ts';
import { type TopupRequest, topUpWallet } from './wallet-topup.ts';

/** A purchase of credits and the invoice that bills it. */
export interface InvoicedPurchase {
  transactionId: string;
  invoiceId: string;
  customerId: string;
  testClockId: string | null;
  /** The customer's present. */
  at: string;
  /** True when time will bring something to the invoice, so that it needs its workflow. */
  invoiceWaits: boolean;
}

/** Terms of a purchase beside the wish of its buyer. */
export interface PurchaseTerms {
  /** An automatic top-up, and until when its invoice may be paid, null for one that is charged now; null for a purchase by hand. */
  automatic?: { dueAt: string | null } | null;
  /** True of a purchase that a customer began itself, whose invoice is paid by money alone. spec: wallets-and-payments §2.6 auto_complete */
  byCustomer?: boolean;
  /** True where nothing may be charged to a saved method for it. */
  waitsForPayer?: boolean;
}

/**
 * Opens a purchase that its invoice pays: credits and bonus wait for the payment, the invoice is final at once. It bears no tax, for
 * what credits pay is taxed when they are used, unless the setting `wallet_topup_config.tax` says that they are taxed as they are bought. With the setting `auto_complete_purchased_credit_transaction` the credits come at
 * once and the invoice counts as paid; not so an `automatic` purchase, which nobody pays elsewhere, nor one that a customer began. Throws what `topUpWallet` and
 * `createInvoice` throw, and `validation_error` for an amount below the smallest unit of its currency.
 * spec: wallets-and-payments §2.6; design: money-in-wallets findings 3, 6
 */
export async function buyCredits(
  tx: Transaction,
  request: TopupRequest,
  readUsage: UsageReader,
  { automatic = null, byCustomer = false, waitsForPayer = false }: PurchaseTerms = {},
): Promise<InvoicedPurchase> {
  const config = await readSetting(tx, 'invoice_config');
  const isPaid = config.auto_complete_purchased_credit_transaction === true && automatic === null && !byCustomer;
  const { entry, wallet } = await topUpWallet(tx, request, { isPending: !isPaid });
  const amount = decimal(entry.amount as string).toDecimalPlaces(currencyPrecision(wallet.currency));
  if (amount.isZero()) throw badField('credits_to_add', `costs less than the smallest amount of ${wallet.currency}`);
  const invoiceId = newId('inv');
  const bill = { amount: decimalString(amount), isPaid, automatic, waitsForPayer };
  await billPurchase(tx, { ...bill, wallet, entry, invoiceId, checkoutSessionId: null }, readUsage);
  // A purchase by hand is collected by its invoice's workflow, an automatic one by its wallet's.
  const followed = automatic === null ? attendInvoice : refreshInvoiceAgenda;
  const { agenda, testClockId } = await followed(tx, tx.scope, invoiceId);
  const { customerId, now: at } = wallet;
  return { transactionId: entry.id, invoiceId, customerId, testClockId, at, invoiceWaits: agenda.length > 0 };
}

/** A purchase as its invoice bills it. */
export interface PurchaseToBill {
  wallet: Pick<LedgerWallet, 'id' | 'customerId' | 'currency' | 'walletType' | 'now'>;
  entry: Pick<LedgerEntry, 'id' | 'creditAmount'>;
  invoiceId: string;
  /** Price of the credits, without tax that is added to it. */
  amount: string;
  isPaid: boolean;
  automatic: NonNullable<PurchaseTerms['automatic']> | null;
  waitsForPayer?: boolean;
  /** The session that collects it; null for none. */
  checkoutSessionId: string | null;
}

/**
 * Makes the invoice of a purchase of credits, with the taxes that the setting `wallet_topup_config.tax` wants of it, and marks the
 * purchase where it bears any. Throws what `createInvoice` throws. spec: wallets-and-payments §2.6; design: money-in-wallets finding 6
 */
export async function billPurchase(tx: Transaction, bill: PurchaseToBill, readUsage: UsageReader): Promise<void> {
  const { wallet, entry, invoiceId, checkoutSessionId } = bill;
  const taxes = await purchaseTaxes(tx, tx.scope, wallet);
  const creation = { invoiceId, at: wallet.now, purchaseId: entry.id, invoice: purchaseInvoice(bill, taxes) };
  const gate = checkoutSessionId === null ? {} : { checkoutSessionId };
  await createInvoice(tx, tx.scope, { ...creation, ...gate }, readUsage);
  if (taxes.rates.length > 0) await markTaxed(tx, tx.scope, { id: entry.id, invoiceId });
}

function purchaseInvoice(
  { wallet, entry, amount, isPaid, automatic, waitsForPayer }: PurchaseToBill,
  taxes: PurchaseTaxes,
): NewInvoice {
  const { id: transactionId, creditAmount: credits } = entry;
  const { exclusive } = computeTaxes(decimal(amount), taxes.rates, taxes.exempt, wallet.currency);
  const total = decimalString(exclusive.plus(amount));
  return {
    customerId: wallet.customerId,
    subscriptionId: null,
    currency: wallet.currency,
    subtotal: amount,
    total,
    amountDue: total,
    amountPaid: isPaid ? total : '0',
    lines: [plainLine(`Purchase ${credits} Credits`, amount)],
    invoiceType: 'ONE_OFF',
    billingReason: automatic ? 'WALLET_AUTO_TOPUP' : 'MANUAL',
    billingPeriod: null,
    periodStart: null,
    periodEnd: null,
    issueDate: null,
    dueDate: automatic?.dueAt ?? wallet.now,
    idempotencyKey: `${transactionId}_invoice`,
    invoiceNumber: null,
    staysDraft: false,
    paymentStatus: isPaid ? 'SUCCEEDED' : null,
    collectionMethod: waitsForPayer ? 'send_invoice' : 'charge_automatically',
    coupons: [],
    taxes: givenTaxes(taxes),
    totalPrepaidApplied: '0',
    invoicePdfUrl: null,
    description: '',
    metadata: {
      wallet_id: wallet.id,
      wallet_transaction_id: transactionId,
      credits_amount: credits,
      ...(automatic ? { auto_topup: 'true' } : {}),
    },
  };
}
