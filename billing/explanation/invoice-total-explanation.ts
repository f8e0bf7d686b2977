import type { NoTaxReason } from '../invoice/tax.ts';
import { type ExplanationWords, exactWords } from './explanation-text.ts';

/** What a coupon took off, as it is stored. */
export interface StoredCoupon {
  name: string;
  /** Null for a fixed amount. */
  percentage: string | null;
  /** What it was computed on: the line's amount, or what earlier coupons left of the invoice. */
  originalPrice: string;
  discountedAmount: string;
}

/** What a prepaid wallet paid of an invoice. */
export interface StoredCredit {
  walletName: string;
  /** In the invoice's currency, and the credits that were. */
  amount: string;
  credits: string;
}

/** A tax row of an invoice as it is stored. */
export interface StoredTax {
  name: string;
  percentage: string;
  taxBehavior: 'inclusive' | 'exclusive';
  taxableAmount: string;
  taxAmount: string;
}

/** An invoice's amounts as they are stored. */
export interface StoredInvoice {
  currency: string;
  subtotal: string;
  totalDiscount: string;
  totalPrepaidCreditsApplied: string;
  /** The part of them that was taxed when it was bought. */
  taxedCreditsApplied: string;
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
}

/** A step of the amount pipeline: `amount` is the stored value of the field that `step` names. */
export interface TotalStep {
  step: string;
  amount: string;
  sentence: string;
}

/** The amount pipeline with the values the invoice stores, in its order; nothing is computed. spec: §2.16 */
export function explainTotals(invoice: StoredInvoice, words: ExplanationWords = exactWords): TotalStep[] {
  const money = (amount: string) => words.money(amount, invoice.currency);
  const digits = (amount: string) => words.digits(amount, invoice.currency);
  const { lineCount, subtotal, totalDiscount, totalPrepaidCreditsApplied: credits, adjustmentAmount } = invoice;
  const { taxedCreditsApplied: taxed } = invoice;
  const lines = lineCount === 1 ? 'The one line comes' : `The ${lineCount} lines add up`;
  const step = (name: string, amount: string, sentence: string): TotalStep => ({ step: name, amount, sentence });
  const always = [
    step('subtotal', subtotal, `${lines} to ${money(subtotal)}.`),
    step('total_discount', totalDiscount, `Coupons take ${money(totalDiscount)} off.`),
    step('total_prepaid_credits_applied', credits, `Prepaid credits pay ${money(credits)}.`),
    ...(isZero(taxed)
      ? []
      : [
          step(
            'taxed_credits_applied',
            taxed,
            `Of them ${money(taxed)} are credits that were taxed when they were bought; what they pay is not taxed again.`,
          ),
        ]),
    step('total_tax', invoice.totalTax, taxSentence(invoice, words)),
    step('total', invoice.total, totalSentence(invoice, words)),
    step(
      'amount_due',
      invoice.amountDue,
      isZero(adjustmentAmount)
        ? `To be paid: ${money(invoice.amountDue)}.`
        : `Credit notes take ${digits(adjustmentAmount)} off, to be paid: ${money(invoice.amountDue)}.`,
    ),
    step('amount_paid', invoice.amountPaid, `Paid: ${money(invoice.amountPaid)}.`),
    step('amount_remaining', invoice.amountRemaining, `Amount due: ${money(invoice.amountRemaining)}.`),
  ];
  const sometimes = [
    step('overpaid_amount', invoice.overpaidAmount, `Paid too much: ${money(invoice.overpaidAmount)}.`),
    step('refunded_amount', invoice.refundedAmount, `Given back: ${money(invoice.refundedAmount)}.`),
  ];
  return [...always, ...sometimes.filter(({ amount }) => !isZero(amount))];
}

/** The total from what takes part in it; a sum below zero is not carried over. spec: §2.16 step 9 */
function totalSentence(invoice: StoredInvoice, words: ExplanationWords): string {
  const { currency, subtotal, totalDiscount, totalPrepaidCreditsApplied: credits, taxes } = invoice;
  const term = (sign: string, amount: string) => (isZero(amount) ? [] : [`${sign} ${words.digits(amount, currency)}`]);
  const added = taxes.filter(({ taxBehavior }) => taxBehavior === 'exclusive');
  const terms = [
    ...term('−', totalDiscount),
    ...term('−', credits),
    ...added.flatMap((tax) => term('+', tax.taxAmount)),
  ];
  const total = words.money(invoice.total, currency);
  if (subtotal.startsWith('-')) return `The sum is below zero, which is not carried over: the total is ${total}.`;
  if (terms.length === 0) return `The total is the subtotal: ${total}.`;
  return `The total is ${[words.digits(subtotal, currency), ...terms].join(' ')} = ${total}.`;
}

const withoutTax: Record<NoTaxReason, string> = {
  customer_exempt: 'No tax: the customer is exempt.',
  no_tax_rates: 'No tax: no rate is linked to the subscription for this period.',
  zero_taxable_amount: 'No tax: nothing remains after coupons.',
};

/**
 * Why an invoice has no tax; `taxedCredits` is what credits pay of it that were taxed when they were bought.
 * spec: subscriptions-and-invoicing §1.11.3, §2.18.4; design: money-in-wallets finding 6
 */
export function noTaxText(reason: NoTaxReason, taxedCredits = '0'): string {
  if (reason === 'zero_taxable_amount' && !isZero(taxedCredits))
    return `No tax: nothing remains after ${deducted(taxedCredits)}.`;
  return withoutTax[reason];
}

function deducted(taxedCredits: string): string {
  return isZero(taxedCredits) ? 'coupons' : 'coupons and credits that were taxed when they were bought';
}

/** Each rate with what it came to, in order of application. spec: §2.18.3 */
function taxSentence(invoice: StoredInvoice, words: ExplanationWords): string {
  const { taxes, noTaxReason, totalTax, currency, taxedCreditsApplied } = invoice;
  if (noTaxReason !== null) return noTaxText(noTaxReason, taxedCreditsApplied);
  const parts = taxes.map((tax) => taxText(tax, currency, words));
  return `Taxes on what remains after ${deducted(taxedCreditsApplied)} are ${words.money(totalTax, currency)}: ${parts.join('; ')}.`;
}

/** One tax row in words, without a full stop. spec: subscriptions-and-invoicing §2.18.3 */
export function taxText(tax: StoredTax, currency: string, words: ExplanationWords = exactWords): string {
  const amount = words.money(tax.taxAmount, currency);
  const base = words.money(tax.taxableAmount, currency);
  const how = tax.taxBehavior === 'exclusive' ? 'added' : 'contained in the prices';
  return `${tax.name}, ${tax.percentage} % of ${base}, is ${amount} (${how})`;
}

/** What one coupon took off and what that was computed on, without a full stop. spec: subscriptions-and-invoicing §2.17.5 */
export function couponText(coupon: StoredCoupon, currency: string, words: ExplanationWords = exactWords): string {
  const { name, percentage, originalPrice, discountedAmount } = coupon;
  const base = words.money(originalPrice, currency);
  const taken = words.money(discountedAmount, currency);
  const how = percentage === null ? `${taken} off ${base}` : `${percentage} % of ${base} is ${taken} off`;
  return `Coupon ${words.name(name)}: ${how}`;
}

/** What one wallet paid, without a full stop. spec: wallets-and-payments §2.12 */
export function creditText(credit: StoredCredit, currency: string, words: ExplanationWords = exactWords): string {
  const { walletName, amount, credits } = credit;
  return `Wallet ${words.name(walletName)} pays ${words.money(amount, currency)} with ${words.quantity(credits)} prepaid credits`;
}

/** Whether a stored decimal is nothing. */
export function isZero(amount: string): boolean {
  return /^-?[0.]*$/.test(amount);
}
