import type { Derivation } from '../price/derivation.ts';
import { explainCharge } from './charge-explanation.ts';
import type { ExplanationStep } from './explanation-step.ts';
import { type ExplanationWords, exactWords } from './explanation-text.ts';
import { couponText, isZero, type StoredCoupon } from './invoice-total-explanation.ts';

/** An invoice line as it is stored, decimals as strings. */
export interface StoredLine {
  currency: string;
  amount: string;
  lineItemDiscount: string;
  invoiceLevelDiscount: string;
  prepaidCreditsApplied: string;
  /** Coupons of the line itself, in order of application. */
  coupons: readonly StoredCoupon[];
  /** Null for a line whose amount somebody gave, and for a credit. */
  derivation: Derivation | null;
  /** Credit that earlier changes of the subscription left. */
  isCarriedCredit?: boolean;
  /** Null where nothing is measured. */
  meterName: string | null;
  /** What came after the invoice was final; null where nothing is measured. */
  lateUsage: { eventCount: number; voidedCount: number; quantity: string } | null;
}

/** An invoice's number and dates as they are stored. */
export interface StoredDates {
  invoiceNumber: string | null;
  /** The number came with the invoice instead of the own sequence. */
  isNumberGiven: boolean;
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

/** A date of the invoice: `at` is the stored value of the field that `date` names. */
export interface DateStep {
  date: string;
  at: string;
  sentence: string;
}

/** How a line got its amount and what was taken off it afterwards. spec: subscriptions-and-invoicing §2.6, §2.16 */
export function explainLine(line: StoredLine, words: ExplanationWords = exactWords): ExplanationStep[] {
  const { currency, amount, invoiceLevelDiscount, prepaidCreditsApplied } = line;
  const money = (value: string) => words.money(value, currency);
  const given = line.isCarriedCredit
    ? `Earlier changes of the subscription left credit for time that was paid and is not used; ${money(amount)} of it is used here, at most what the other lines come to.`
    : `The amount of ${money(amount)} was given, not computed.`;
  const charge: ExplanationStep[] = line.derivation
    ? explainCharge(line.derivation, line.meterName, words)
    : [{ kind: 'sum', sentence: given, amount }];
  return [
    ...charge,
    ...explainLineCoupons(line, words),
    ...unlessZero(invoiceLevelDiscount, {
      kind: 'discount',
      sentence: `Its share of the invoice's coupons, by what is left of each line, is ${money(invoiceLevelDiscount)}.`,
      amount: `-${invoiceLevelDiscount}`,
    }),
    ...unlessZero(prepaidCreditsApplied, {
      kind: 'credit',
      sentence: `Prepaid credits pay ${money(prepaidCreditsApplied)} of it.`,
      amount: `-${prepaidCreditsApplied}`,
    }),
    ...explainLateUsage(line.lateUsage, words),
  ];
}

function explainLineCoupons(
  { coupons, lineItemDiscount, currency }: StoredLine,
  words: ExplanationWords,
): ExplanationStep[] {
  if (coupons.length === 0) {
    const sentence = `Coupons of the line take ${words.money(lineItemDiscount, currency)} off.`;
    return unlessZero(lineItemDiscount, { kind: 'discount', sentence, amount: `-${lineItemDiscount}` });
  }
  return coupons.map((coupon) => ({
    kind: 'discount',
    sentence: `${couponText(coupon, currency, words)}.`,
    amount: `-${coupon.discountedAmount}`,
  }));
}

function explainLateUsage(late: StoredLine['lateUsage'], words: ExplanationWords): ExplanationStep[] {
  if (late === null) return [];
  const { eventCount, voidedCount } = late;
  const quantity = words.quantity(late.quantity);
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

/** The dates the invoice has, in the order they come about. spec: subscriptions-and-invoicing §2.15.2–2.15.7 */
export function explainDates(invoice: StoredDates): DateStep[] {
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
export function explainNumber({ invoiceNumber, invoiceStatus, isNumberGiven }: StoredDates): string {
  if (invoiceNumber === null) {
    return `An invoice gets its number when it is finalized; this one is ${invoiceStatus}.`;
  }
  if (isNumberGiven) return `${invoiceNumber} was given with the invoice and stands outside the own number sequence.`;
  return `${invoiceNumber} is the next number of its series without a gap, given in the transaction that finalized the invoice.`;
}

function unlessZero(amount: string, step: ExplanationStep): ExplanationStep[] {
  return isZero(amount) ? [] : [step];
}
