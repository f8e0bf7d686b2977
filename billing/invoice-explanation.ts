import { type ExplanationStep, explainCharge } from './charge-explanation.ts';
import type { Derivation } from './derivation.ts';
import { amountText, moneyText } from './explanation-text.ts';
import type { NoTaxReason } from './tax.ts';

/** An invoice line as it is stored, decimals as strings. */
export interface StoredLine {
  currency: string;
  amount: string;
  lineItemDiscount: string;
  invoiceLevelDiscount: string;
  prepaidCreditsApplied: string;
  /** Null for a line whose amount somebody gave. */
  derivation: Derivation | null;
  /** Null where nothing is measured. */
  meterName: string | null;
  /** What came after the invoice was final; null where nothing is measured. */
  lateUsage: { eventCount: number; voidedCount: number; quantity: string } | null;
}

/** A tax row of an invoice as it is stored. */
export interface StoredTax {
  name: string;
  percentage: string;
  taxBehavior: 'inclusive' | 'exclusive';
  taxableAmount: string;
  taxAmount: string;
}

/** An invoice's amounts and dates as they are stored. */
export interface StoredInvoice {
  currency: string;
  subtotal: string;
  totalDiscount: string;
  totalPrepaidCreditsApplied: string;
  totalTax: string;
  total: string;
  adjustmentAmount: string;
  amountDue: string;
  amountPaid: string;
  amountRemaining: string;
  overpaidAmount: string;
  refundedAmount: string;
  taxes: readonly StoredTax[];
  noTaxReason: NoTaxReason | null;
  lineCount: number;
  invoiceNumber: string | null;
  invoiceStatus: string;
  periodStart: string | null;
  periodEnd: string | null;
  lastComputedAt: string | null;
  issueDate: string | null;
  finalizedAt: string | null;
  dueDate: string | null;
  paidAt: string | null;
  voidedAt: string | null;
}

/** A step of the amount pipeline: `amount` is the stored value of the field that `step` names. */
export interface TotalStep {
  step: string;
  amount: string;
  sentence: string;
}

/** A date of the invoice: `at` is the stored value of the field that `date` names. */
export interface DateStep {
  date: string;
  at: string;
  sentence: string;
}

/** How a line got its amount and what was taken off it afterwards. spec: subscriptions-and-invoicing §2.6, §2.16 */
export function explainLine(line: StoredLine): ExplanationStep[] {
  const { currency } = line;
  const charge: ExplanationStep[] = line.derivation
    ? explainCharge(line.derivation, line.meterName)
    : [{ kind: 'sum', sentence: `The amount of ${moneyText(line.amount, currency)} was given, not computed.` }];
  return [
    ...charge,
    ...unlessZero(line.lineItemDiscount, {
      kind: 'discount',
      sentence: `Coupons of the line take ${moneyText(line.lineItemDiscount, currency)} off.`,
    }),
    ...unlessZero(line.invoiceLevelDiscount, {
      kind: 'discount',
      sentence: `Its share of the invoice's coupons is ${moneyText(line.invoiceLevelDiscount, currency)}.`,
    }),
    ...unlessZero(line.prepaidCreditsApplied, {
      kind: 'credit',
      sentence: `Prepaid credits pay ${moneyText(line.prepaidCreditsApplied, currency)} of it.`,
    }),
    ...explainLateUsage(line.lateUsage),
  ];
}

function explainLateUsage(late: StoredLine['lateUsage']): ExplanationStep[] {
  if (late === null) return [];
  const { eventCount, voidedCount, quantity } = late;
  const events = (count: number) => (count === 1 ? '1 event' : `${count} events`);
  const steps: ExplanationStep[] = [];
  const both = eventCount > 0 && voidedCount > 0 ? ', both together' : '';
  if (eventCount > 0) {
    const sentence = `${events(eventCount)} arrived after this invoice was final (quantity ${quantity}${both}); ${eventCount === 1 ? 'it is' : 'they are'} not billed.`;
    steps.push({ kind: 'late_usage', sentence });
  }
  if (voidedCount > 0) {
    const sentence = `${events(voidedCount)} of this line ${voidedCount === 1 ? 'was' : 'were'} voided after this invoice was final (quantity ${quantity}${both}); the invoice stays as it is.`;
    steps.push({ kind: 'late_correction', sentence });
  }
  return steps;
}

/** The amount pipeline with the values the invoice stores, in its order; nothing is computed. spec: §2.16 */
export function explainTotals(invoice: StoredInvoice): TotalStep[] {
  const money = (amount: string) => moneyText(amount, invoice.currency);
  const digits = (amount: string) => amountText(amount, invoice.currency);
  const step = (name: string, amount: string, sentence: string): TotalStep => ({ step: name, amount, sentence });
  return [
    step(
      'subtotal',
      invoice.subtotal,
      `${invoice.lineCount === 1 ? 'The one line comes' : `The ${invoice.lineCount} lines add up`} to ${money(invoice.subtotal)}.`,
    ),
    step('total_discount', invoice.totalDiscount, `Coupons take ${money(invoice.totalDiscount)} off.`),
    step(
      'total_prepaid_credits_applied',
      invoice.totalPrepaidCreditsApplied,
      `Prepaid credits pay ${money(invoice.totalPrepaidCreditsApplied)}.`,
    ),
    step('total_tax', invoice.totalTax, taxSentence(invoice)),
    step(
      'total',
      invoice.total,
      `The total is ${digits(invoice.subtotal)} − ${digits(invoice.totalDiscount)} − ${digits(invoice.totalPrepaidCreditsApplied)} plus exclusive tax, at least 0: ${money(invoice.total)}.`,
    ),
    step(
      'amount_due',
      invoice.amountDue,
      `Less adjustments of ${digits(invoice.adjustmentAmount)}, due are ${money(invoice.amountDue)}.`,
    ),
    step('amount_paid', invoice.amountPaid, `Payments received: ${money(invoice.amountPaid)}.`),
    step('amount_remaining', invoice.amountRemaining, `Left to pay: ${money(invoice.amountRemaining)}.`),
    ...(isZero(invoice.overpaidAmount)
      ? []
      : [step('overpaid_amount', invoice.overpaidAmount, `Paid too much: ${money(invoice.overpaidAmount)}.`)]),
    ...(isZero(invoice.refundedAmount)
      ? []
      : [step('refunded_amount', invoice.refundedAmount, `Given back: ${money(invoice.refundedAmount)}.`)]),
  ];
}

const withoutTax: Record<NoTaxReason, string> = {
  customer_exempt: 'No tax: the customer is exempt.',
  no_tax_rates: 'No tax: no rate is linked to the subscription for this period.',
  zero_taxable_amount: 'No tax: nothing remains after coupons.',
};

/** Each rate with what it came to, in order of application. spec: §2.18.3 */
function taxSentence({ taxes, noTaxReason, totalTax, currency }: StoredInvoice): string {
  if (noTaxReason !== null) return withoutTax[noTaxReason];
  const parts = taxes.map((tax) => {
    const amount = moneyText(tax.taxAmount, currency);
    const base = moneyText(tax.taxableAmount, currency);
    const how = tax.taxBehavior === 'exclusive' ? 'added' : 'contained in the prices';
    return `${tax.name}, ${tax.percentage} % of ${base}, is ${amount} (${how})`;
  });
  return `Taxes on what remains after coupons are ${moneyText(totalTax, currency)}: ${parts.join('; ')}.`;
}

/** The dates the invoice has, in the order they come about. spec: subscriptions-and-invoicing §2.15.2–2.15.7 */
export function explainDates(invoice: StoredInvoice): DateStep[] {
  const number = invoice.invoiceNumber === null ? 'without a number' : `as ${invoice.invoiceNumber}`;
  const candidates: [string, string | null, string][] = [
    ['period_start', invoice.periodStart, 'The billed period begins at this instant, which belongs to it.'],
    ['period_end', invoice.periodEnd, 'The billed period ends at this instant, which does not belong to it.'],
    ['last_computed_at', invoice.lastComputedAt, 'Lines and amounts were last computed; later usage is not on them.'],
    ['issue_date', invoice.issueDate, 'The invoice was issued.'],
    ['finalized_at', invoice.finalizedAt, `The invoice was finalized ${number}; its amounts do not change any more.`],
    [
      'due_date',
      invoice.dueDate,
      'Payment is due: the end of the period plus the payment terms, not before the invoice was finalized, unless somebody moved it.',
    ],
    ['paid_at', invoice.paidAt, 'Paid in full at this instant.'],
    ['voided_at', invoice.voidedAt, 'The invoice was voided: it keeps its number and is not collected.'],
  ];
  return candidates.flatMap(([date, at, sentence]) => (at === null ? [] : [{ date, at, sentence }]));
}

/** How the number came about. spec: subscriptions-and-invoicing §2.15.5 */
export function explainNumber(invoice: StoredInvoice): string {
  if (invoice.invoiceNumber === null) {
    return `An invoice gets its number when it is finalized; this one is ${invoice.invoiceStatus}.`;
  }
  return `${invoice.invoiceNumber} is the next number of its series without a gap, given in the transaction that finalized the invoice.`;
}

function unlessZero(amount: string, step: ExplanationStep): ExplanationStep[] {
  return isZero(amount) ? [] : [step];
}

function isZero(amount: string): boolean {
  return /^-?[0.]*$/.test(amount);
}
