import { decimal, decimalString, greatest, zero } from '../money/money.ts';
import { refuse } from '../refusal.ts';

export interface VoidableInvoice {
  invoiceStatus: string;
  paymentStatus: string;
  amountPaid: string;
  totalPrepaidCreditsApplied: string;
  refundedAmount: string;
}

export interface VoidPlan {
  /** What goes back to the prepaid wallet: paid money not refunded yet and the credits that were applied. */
  walletCredit: string;
  /** The part of it that was paid. */
  refundedMoney: string;
  /** The part of it that prepaid credits paid. */
  returnedCredits: string;
  /** What is refunded of the invoice afterwards; only money counts. */
  refundedAmount: string;
  paymentStatus: string;
}

const voidableStatuses = ['DRAFT', 'FINALIZED', 'SKIPPED'];
const voidablePayments = ['INITIATED', 'PENDING', 'FAILED', 'SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED'];

/**
 * What voiding an invoice returns and leaves; refuses what may not be voided. Credits count as returned once the invoice is
 * REFUNDED with more given back than was paid. spec: subscriptions-and-invoicing §2.15.1, §2.15.7; README decision 16
 */
export function planVoid(invoice: VoidableInvoice): VoidPlan {
  if (!voidableStatuses.includes(invoice.invoiceStatus)) {
    throw refuse('validation_error', `an invoice that is ${invoice.invoiceStatus} cannot be voided`, {
      invoice_status: invoice.invoiceStatus,
    });
  }
  if (invoice.paymentStatus === 'PROCESSING') {
    throw refuse('invalid_operation', 'a payment of this invoice is being processed: wait for its answer, then void');
  }
  if (!voidablePayments.includes(invoice.paymentStatus)) {
    throw refuse('validation_error', `an invoice whose payment is ${invoice.paymentStatus} cannot be voided`, {
      payment_status: invoice.paymentStatus,
    });
  }
  const refundedMoney = greatest(decimal(invoice.amountPaid).minus(invoice.refundedAmount), zero);
  const returned = refundedMoney.plus(invoice.totalPrepaidCreditsApplied);
  if (invoice.paymentStatus === 'REFUNDED' && returned.isZero()) {
    throw refuse('validation_error', 'everything paid on this invoice was returned already; there is nothing to void');
  }
  return {
    walletCredit: decimalString(returned),
    refundedMoney: decimalString(refundedMoney),
    returnedCredits: decimalString(decimal(invoice.totalPrepaidCreditsApplied)),
    refundedAmount: decimalString(decimal(invoice.refundedAmount).plus(refundedMoney)),
    paymentStatus: returned.isZero() ? invoice.paymentStatus : 'REFUNDED',
  };
}
