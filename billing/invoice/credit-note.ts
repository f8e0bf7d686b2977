import { type Decimal, decimal, decimalString, greatest, roundToCurrency, sum, zero } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import { invoicePayment } from './invoice-payment.ts';

export type CreditNoteType = 'ADJUSTMENT' | 'REFUND';

/** What a credit note reads of its invoice; decimals as strings. */
export interface CreditableInvoice {
  invoiceStatus: string;
  paymentStatus: string;
  currency: string;
  total: string;
  amountPaid: string;
  adjustmentAmount: string;
  refundedAmount: string;
}

/** One line of a credit note and what stands against it. */
export interface CreditedLine {
  invoiceLineItemId: string;
  amount: string;
  /** The stored amount of the invoice line, discounts not deducted. */
  lineAmount: string;
  /** What earlier live credit notes took off the same invoice line. */
  creditedBefore?: string | undefined;
}

/** An invoice's amounts after a credit note. */
export interface CreditedInvoice {
  adjustmentAmount: string;
  amountDue: string;
  amountRemaining: string;
  overpaidAmount: string;
  refundedAmount: string;
  paymentStatus: string;
}

const refundable = ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED'];
const adjustable = ['INITIATED', 'PENDING', 'PROCESSING', 'FAILED'];

/**
 * The type of a credit note on an invoice as it stands and the most it may give: of a paid one what was paid and not given back,
 * of an unpaid one what is still to be paid. Refuses (validation_error) an invoice that is not FINALIZED or has nothing to give.
 * spec: subscriptions-and-invoicing §2.19
 */
export function creditLimit(invoice: CreditableInvoice): { type: CreditNoteType; maximum: string } {
  if (invoice.invoiceStatus !== 'FINALIZED') {
    throw refuse(
      'validation_error',
      `invoice_id names an invoice that is ${invoice.invoiceStatus}; only a FINALIZED one is credited`,
      { fields: { invoice_id: 'must name a FINALIZED invoice' } },
    );
  }
  if (refundable.includes(invoice.paymentStatus)) {
    return { type: 'REFUND', maximum: remainder(decimal(invoice.amountPaid).minus(invoice.refundedAmount)) };
  }
  if (adjustable.includes(invoice.paymentStatus)) {
    const open = decimal(invoice.total).minus(invoice.adjustmentAmount).minus(invoice.amountPaid);
    return { type: 'ADJUSTMENT', maximum: remainder(open) };
  }
  throw refuse(
    'validation_error',
    `invoice_id names an invoice whose payment is ${invoice.paymentStatus}; nothing is left to credit`,
    { fields: { invoice_id: 'nothing is left to credit' } },
  );
}

/**
 * Type and total of a credit note. Refuses (validation_error) a line that is not above zero, finer than the currency or, with
 * the note's other lines and earlier live notes, above the invoice line; and a total above the maximum.
 * spec: subscriptions-and-invoicing §1.12.1, §2.19
 */
export function planCreditNote(
  invoice: CreditableInvoice,
  lines: readonly CreditedLine[],
): { type: CreditNoteType; maximum: string; totalAmount: string } {
  const { type, maximum } = creditLimit(invoice);
  const known = { credit_note_type: type, max_creditable: maximum };
  if (lines.length === 0) throw badAmount('line_items', 'must name at least one line of the invoice', known);
  const taken = new Map<string, Decimal>();
  for (const [index, line] of lines.entries()) {
    const field = `line_items[${index}].amount`;
    const amount = decimal(line.amount);
    if (!amount.greaterThan(zero)) throw badAmount(field, 'must be above zero', known);
    if (!roundToCurrency(amount, invoice.currency).equals(amount)) {
      throw badAmount(field, `is finer than ${invoice.currency} is paid in; round it`, known);
    }
    const before = taken.get(line.invoiceLineItemId) ?? decimal(line.creditedBefore ?? '0');
    const after = before.plus(amount);
    if (after.greaterThan(line.lineAmount)) {
      const left = remainder(decimal(line.lineAmount).minus(before));
      throw badAmount(field, `is more than the ${left} that invoice line ${line.invoiceLineItemId} has left`, known);
    }
    taken.set(line.invoiceLineItemId, after);
  }
  const total = sum(lines.map((line) => decimal(line.amount)));
  if (total.greaterThan(maximum)) {
    throw badAmount('line_items', `sum to ${decimalString(total)}; this invoice can give at most ${maximum}`, known);
  }
  return { type, maximum, totalAmount: decimalString(total) };
}

/**
 * The invoice after a credit note of `amount`: an adjustment lowers what is due, and settles the invoice when nothing remains; a
 * refund is counted as given back at once. Taxes and coupons stay. spec: subscriptions-and-invoicing §2.19
 */
export function applyCreditNote(invoice: CreditableInvoice, type: CreditNoteType, amount: string): CreditedInvoice {
  if (type === 'REFUND') {
    const refundedAmount = decimalString(decimal(invoice.refundedAmount).plus(amount));
    return amountsOf(invoice, invoice.adjustmentAmount, refundedAmount);
  }
  const adjusted = decimalString(decimal(invoice.adjustmentAmount).plus(amount));
  const after = amountsOf(invoice, adjusted, invoice.refundedAmount);
  const isSettled = decimal(after.amountRemaining).isZero();
  return { ...after, paymentStatus: isSettled ? 'SUCCEEDED' : invoice.paymentStatus };
}

/**
 * The invoice after its adjustment of `amount` was voided: it is due again, and no longer paid when something remains.
 * spec: subscriptions-and-invoicing §2.19
 */
export function reverseAdjustment(invoice: CreditableInvoice, amount: string): CreditedInvoice {
  const adjusted = decimalString(decimal(invoice.adjustmentAmount).minus(amount));
  const after = amountsOf(invoice, adjusted, invoice.refundedAmount);
  const wasPaid = invoice.paymentStatus === 'SUCCEEDED' || invoice.paymentStatus === 'OVERPAID';
  return { ...after, paymentStatus: wasPaid ? after.paymentStatus : invoice.paymentStatus };
}

function amountsOf(invoice: CreditableInvoice, adjustmentAmount: string, refundedAmount: string): CreditedInvoice {
  const amountDue = decimalString(decimal(invoice.total).minus(adjustmentAmount));
  const { amountRemaining, overpaidAmount, paymentStatus } = invoicePayment(
    amountDue,
    invoice.amountPaid,
    refundedAmount,
  );
  return { adjustmentAmount, amountDue, amountRemaining, overpaidAmount, refundedAmount, paymentStatus };
}

function remainder(value: Decimal): string {
  return decimalString(greatest(value, zero));
}

function badAmount(field: string, problem: string, known: Record<string, string>): Error {
  return refuse('validation_error', `${field} ${problem}`, { fields: { [field]: problem }, ...known });
}
