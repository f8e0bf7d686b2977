import { type NewInvoice, plainLine } from '../../../billing/invoice-request.ts';
import { currencyPrecision, decimal, decimalString } from '../../../billing/money.ts';
import { newId } from '../../id.ts';
import { badField } from '../../record.ts';
import type { Transaction } from '../../transaction.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { createInvoice } from '../invoice/invoice-create.ts';
import { attendInvoice, refreshInvoiceAgenda } from '../invoice/invoice-snapshot.ts';
import { readSetting } from '../platform/setting.ts';
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

/**
 * Opens a purchase that its invoice pays: credits and bonus wait for the payment, the invoice is final at once and bears no tax, for
 * what credits pay is taxed when they are used. With the setting `auto_complete_purchased_credit_transaction` the credits come at
 * once and the invoice counts as paid; not so an `automatic` purchase, which nobody pays elsewhere. Throws what `topUpWallet` and
 * `createInvoice` throw, and `validation_error` for an amount below the smallest unit of its currency.
 * spec: wallets-and-payments §2.6; design: money-in-wallets findings 3, 6
 */
export async function buyCredits(
  tx: Transaction,
  request: TopupRequest,
  readUsage: UsageReader,
  automatic: { dueAt: string | null } | null = null,
): Promise<InvoicedPurchase> {
  const config = await readSetting(tx, 'invoice_config');
  const isPaid = config.auto_complete_purchased_credit_transaction === true && automatic === null;
  const { entry, wallet } = await topUpWallet(tx, request, { isPending: !isPaid });
  const amount = decimal(entry.amount as string).toDecimalPlaces(currencyPrecision(wallet.currency));
  if (amount.isZero()) throw badField('credits_to_add', `costs less than the smallest amount of ${wallet.currency}`);
  const invoiceId = newId('inv');
  await createInvoice(
    tx,
    tx.scope,
    {
      invoiceId,
      at: wallet.now,
      purchaseId: entry.id,
      invoice: purchaseInvoice({
        ...wallet,
        amount: decimalString(amount),
        isPaid,
        automatic,
        credits: entry.creditAmount,
        transactionId: entry.id,
      }),
    },
    readUsage,
  );
  // A purchase by hand is collected by its invoice's workflow, an automatic one by its wallet's.
  const followed = automatic === null ? attendInvoice : refreshInvoiceAgenda;
  const { agenda, testClockId } = await followed(tx, tx.scope, invoiceId);
  const { customerId, now: at } = wallet;
  return { transactionId: entry.id, invoiceId, customerId, testClockId, at, invoiceWaits: agenda.length > 0 };
}

interface PurchaseToBill {
  id: string;
  customerId: string;
  currency: string;
  now: string;
  amount: string;
  credits: string;
  transactionId: string;
  isPaid: boolean;
  /** An automatic top-up, and until when its invoice may be paid, null for one that is charged now; null for a purchase by hand. */
  automatic: { dueAt: string | null } | null;
}

/** The invoice of a purchase of credits. */
export function purchaseInvoice({
  amount,
  credits,
  transactionId,
  isPaid,
  automatic,
  ...wallet
}: PurchaseToBill): NewInvoice {
  return {
    customerId: wallet.customerId,
    subscriptionId: null,
    currency: wallet.currency,
    subtotal: amount,
    total: amount,
    amountDue: amount,
    amountPaid: isPaid ? amount : '0',
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
    collectionMethod: 'charge_automatically',
    coupons: [],
    taxes: [],
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
