import { type Decimal, decimal, decimalString, greatest, sum, zero } from '../money/money.ts';
import { refuse } from '../refusal.ts';

/** What has been paid of an invoice; decimals as strings. */
export interface InvoicePayment {
  amountPaid: string;
  amountRemaining: string;
  overpaidAmount: string;
  paymentStatus: string;
}

/** Payment records that stand for money received; refunds are counted apart. spec: wallets-and-payments §2.20 */
const captured = new Set(['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED']);

/** Moves of payment_status a person may make. spec: subscriptions-and-invoicing §2.15.1, §2.15.12 */
const movesByHand: Record<string, readonly string[]> = {
  INITIATED: ['PENDING', 'SUCCEEDED', 'OVERPAID', 'FAILED'],
  PENDING: ['PENDING', 'SUCCEEDED', 'OVERPAID', 'FAILED'],
  FAILED: ['PENDING', 'FAILED', 'SUCCEEDED', 'OVERPAID'],
  SUCCEEDED: ['SUCCEEDED', 'OVERPAID'],
  OVERPAID: ['OVERPAID'],
};

/**
 * Status and remainders of an invoice from what was due and paid; partly paid stays PENDING. With a refund it is REFUNDED when
 * everything paid came back, else PARTIALLY_REFUNDED. spec: wallets-and-payments §2.20, subscriptions-and-invoicing §2.15.12
 */
export function invoicePayment(amountDue: string, amountPaid: string, refundedAmount = '0'): InvoicePayment {
  const due = decimal(amountDue);
  const paid = decimal(amountPaid);
  const refunded = decimal(refundedAmount);
  const order = paid.comparedTo(due);
  const settled = order < 0 ? 'PENDING' : order === 0 ? 'SUCCEEDED' : 'OVERPAID';
  const status = refunded.greaterThan(0)
    ? refunded.greaterThanOrEqualTo(paid)
      ? 'REFUNDED'
      : 'PARTIALLY_REFUNDED'
    : settled;
  return paymentOf(due, paid, status);
}

/**
 * The payment of a draft whose amounts were computed again: what was paid of it settles it or does not, and a draft of which
 * nothing was paid keeps the status that it was given, except that it is not settled any more once something is due.
 * spec: subscriptions-and-invoicing §2.15.12
 */
export function draftPayment(
  draft: { amountPaid: string; paymentStatus: string },
  amountDue: string,
): Pick<InvoicePayment, 'overpaidAmount' | 'paymentStatus'> {
  const { overpaidAmount, paymentStatus, amountRemaining } = invoicePayment(amountDue, draft.amountPaid);
  const isSettled = decimal(amountRemaining).isZero();
  if (isSettled && !decimal(draft.amountPaid).isZero()) return { overpaidAmount, paymentStatus };
  const wasSettled = ['SUCCEEDED', 'OVERPAID'].includes(draft.paymentStatus);
  return { overpaidAmount, paymentStatus: wasSettled && !isSettled ? 'PENDING' : draft.paymentStatus };
}

/** The invoice after one more successful payment. spec: subscriptions-and-invoicing §2.15.12 */
export function addPayment(
  amountDue: string,
  amountPaid: string,
  payment: string,
  refundedAmount = '0',
): InvoicePayment {
  return invoicePayment(amountDue, decimalString(decimal(amountPaid).plus(decimal(payment))), refundedAmount);
}

/** Σ of the payment records that received money; declined and open attempts change nothing. spec: wallets-and-payments §2.20 */
export function paidByPayments(payments: readonly { amount: string; paymentStatus: string }[]): string {
  return decimalString(
    sum(payments.filter((payment) => captured.has(payment.paymentStatus)).map(({ amount }) => decimal(amount))),
  );
}

/**
 * PUT payment: what a person recorded. Refuses (validation_error) a move that is not allowed, a negative amount, PENDING with
 * an amount not below what is due, SUCCEEDED with another amount than that and OVERPAID without more; refuses (invalid_operation) once a payment record
 * succeeded. SUCCEEDED means all of it, FAILED nothing, PENDING alone keeps what was paid.
 * spec: subscriptions-and-invoicing §2.15.12
 */
export function paymentByHand(
  invoice: { paymentStatus: string; amountDue: string; amountPaid: string; hasSucceededPayment?: boolean },
  update: { paymentStatus: string; amount?: string | null },
): InvoicePayment {
  if (invoice.hasSucceededPayment) {
    throw refuse('invalid_operation', 'the invoice has a succeeded payment: its payment status follows the payments');
  }
  const from = invoice.paymentStatus;
  const to = update.paymentStatus;
  if (!movesByHand[from]?.includes(to)) {
    const allowed = movesByHand[from]?.join(', ') ?? 'nothing by hand';
    throw refuse('validation_error', `payment_status cannot move from ${from} to ${to}: accepted is ${allowed}`, {
      fields: { payment_status: `accepted from ${from}: ${allowed}` },
    });
  }
  const due = decimal(invoice.amountDue);
  const amount = update.amount === null || update.amount === undefined ? null : decimal(update.amount);
  if (amount?.lessThan(0)) throw badAmount('must not be negative');
  return paymentOf(due, paidByHand(to, due, decimal(invoice.amountPaid), amount), to);
}

function paidByHand(status: string, due: Decimal, paid: Decimal, amount: Decimal | null): Decimal {
  if (status === 'SUCCEEDED') {
    if (amount !== null && !amount.equals(due)) {
      throw badAmount(
        `must be amount_due, ${decimalString(due)}, for SUCCEEDED; for a part send PENDING, for more OVERPAID`,
      );
    }
    return due;
  }
  if (status === 'FAILED') return zero;
  if (status === 'OVERPAID') {
    if (!amount?.greaterThan(due)) throw badAmount(`must be more than amount_due, ${decimalString(due)}, for OVERPAID`);
    return amount;
  }
  if (amount === null) return paid;
  if (!amount.lessThan(due))
    throw badAmount(`must be less than amount_due, ${decimalString(due)}, for PENDING; for all of it send SUCCEEDED`);
  return amount;
}

function paymentOf(due: Decimal, paid: Decimal, paymentStatus: string): InvoicePayment {
  return {
    amountPaid: decimalString(paid),
    amountRemaining: decimalString(greatest(due.minus(paid), zero)),
    overpaidAmount: decimalString(greatest(paid.minus(due), zero)),
    paymentStatus,
  };
}

function badAmount(problem: string): Error {
  return refuse('validation_error', `amount ${problem}`, { fields: { amount: problem } });
}
