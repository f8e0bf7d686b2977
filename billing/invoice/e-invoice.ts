import { wholeShares } from '../money/largest-remainder.ts';
import {
  currencyPrecision,
  type Decimal,
  decimal,
  decimalString,
  greatest,
  hundred,
  sum,
  zero,
} from '../money/money.ts';
import { refuse } from '../refusal.ts';

/** VAT categories of EN 16931 (UNTDID 5305) that an invoice of ours can be of. */
export type VatCategory = 'S' | 'Z' | 'E' | 'AE' | 'K' | 'G' | 'O';

/** A stored invoice or credit note as far as its amounts go, decimals as strings. */
export interface EInvoiceInput {
  currency: string;
  /** `amount` before discounts, in the customer's terms: with inclusive tax where there is any. */
  lines: { quantity: string; amount: string; discount: string }[];
  /** What coupons took of the lines and of the whole. */
  totalDiscount: string;
  rates: { percentage: string; taxAmount: string; taxBehavior: string }[];
  /** The category where no rate was charged. */
  untaxed: VatCategory;
  /** What prepaid credits paid. */
  credits: string;
  /** The part of it that was taxed when it was bought, and lowers what is taxed; none where absent. */
  taxedCredits?: string;
  /** What the document asks for; the amounts here must come to it. */
  total: string;
}

/** The price of `perQuantity` units (of one when null), never negative; BT-146, BT-149. */
export interface EInvoiceLine {
  quantity: string;
  price: string;
  perQuantity: string | null;
  /** BT-136; null without a discount. */
  allowance: string | null;
  /** BT-131. */
  net: string;
}

/** The amounts of EN 16931: BG-20 to BG-25. Decimals as strings with the currency's digits, two at most. */
export interface EInvoiceAmounts {
  lines: EInvoiceLine[];
  /** BT-92; null without a discount on the whole. */
  allowance: string | null;
  /** BT-92 likewise: prepaid credits that were taxed when they were bought; null without any. */
  taxedCredits: string | null;
  /** BT-107: both. */
  allowanceTotal: string | null;
  /** BT-99: a negative rest, which is not carried over, so that the document asks for nothing; null without one. */
  charge: string | null;
  category: VatCategory;
  /** BT-119; null for category O. */
  percent: string | null;
  /** BT-106, BT-109, BT-110, BT-112, BT-113, BT-115. */
  lineTotal: string;
  taxable: string;
  tax: string;
  grandTotal: string;
  prepaid: string | null;
  payable: string;
}

/** BR-DEC-01 and its like. */
const digitsAllowed = 2;

/**
 * The amounts of an invoice as EN 16931 counts them. The standard knows lines without tax and one VAT rate a line, so tax that
 * our amounts include is taken out of lines and discounts, largest remainder first, until they add up to what was taxed; rates
 * charged on one base stand as one rate of their sum. Prepaid credits are paid in advance (BT-113); those that were taxed when they were
 * bought are an allowance, for what they pay is not taxed again. Nothing is computed anew that
 * the customer saw: tax, total and what is asked for are the invoice's own. Throws `validation_error` where an amount has more
 * digits than the standard allows. EN 16931-1 §6.5 (BR-CO-10 to BR-CO-17)
 */
export function eInvoiceAmounts(input: EInvoiceInput): EInvoiceAmounts {
  const digits = Math.min(digitsAllowed, currencyPrecision(input.currency));
  const text = (value: Decimal) => exactText(value, digits, input.currency);
  const discounted = input.lines.map((line) => decimal(line.amount).minus(line.discount));
  const ofWhole = decimal(input.totalDiscount).minus(sum(input.lines.map((line) => decimal(line.discount))));
  const taxedCredits = decimal(input.taxedCredits ?? '0');
  const rest = sum(discounted).minus(ofWhole).minus(taxedCredits);
  // What was taxed; what is left of a negative sum is not billed.
  const gross = greatest(rest, zero);
  const charge = gross.minus(rest);
  const inclusive = sum(input.rates.filter(isInclusive).map((rate) => decimal(rate.taxAmount)));
  const tax = sum(input.rates.map((rate) => decimal(rate.taxAmount)));
  const base = gross.minus(inclusive);
  const parts = [...discounted, ofWhole.negated(), taxedCredits.negated(), charge];
  const nets = inclusive.isZero() ? parts : withoutTax(parts, gross, base, digits);
  const lines = input.lines.map((line, position) => {
    const discount = decimal(line.discount);
    const allowance = inclusive.isZero() ? discount : discount.times(base).dividedBy(gross).toDecimalPlaces(digits);
    return lineOf(line.quantity, nets[position]!, allowance, text);
  });
  const lineTotal = sum(nets.slice(0, lines.length));
  const [allowance, taxed] = [nets[lines.length]!.negated(), nets[lines.length + 1]!.negated()];
  const textUnlessZero = (amount: Decimal) => (amount.isZero() ? null : text(amount));
  const prepaid = decimal(input.credits).minus(taxedCredits);
  const grandTotal = base.plus(tax);
  const payable = grandTotal.minus(prepaid);
  if (!payable.equals(input.total)) {
    throw new Error(`the e-invoice asks for ${payable.toFixed()}, its invoice for ${input.total}`);
  }
  const percent = sum(input.rates.map((rate) => decimal(rate.percentage)));
  const category = input.rates.length === 0 ? input.untaxed : percent.isZero() ? 'Z' : 'S';
  return {
    lines,
    allowance: textUnlessZero(allowance),
    taxedCredits: textUnlessZero(taxed),
    allowanceTotal: allowance.isZero() && taxed.isZero() ? null : text(allowance.plus(taxed)),
    charge: charge.isZero() ? null : text(nets[lines.length + 2]!),
    category,
    percent: category === 'O' ? null : decimalString(percent),
    lineTotal: text(lineTotal),
    taxable: text(base),
    tax: text(tax),
    grandTotal: text(grandTotal),
    prepaid: textUnlessZero(prepaid),
    payable: text(payable),
  };
}

/**
 * What a credit note's amount holds of tax: its amount is gross as given, so tax is taken out of it at the rates its invoice was
 * charged with. One row, since the document shows them as one. spec: subscriptions-and-invoicing §2.19
 */
export function creditedTax(
  total: string,
  rates: readonly { percentage: string }[],
  currency: string,
): EInvoiceInput['rates'] {
  if (rates.length === 0) return [];
  const percentage = sum(rates.map((rate) => decimal(rate.percentage)));
  const digits = Math.min(digitsAllowed, currencyPrecision(currency));
  const taxAmount = decimal(total).times(percentage).dividedBy(percentage.plus(hundred)).toDecimalPlaces(digits);
  return [{ percentage: decimalString(percentage), taxAmount: decimalString(taxAmount), taxBehavior: 'inclusive' }];
}

function isInclusive(rate: { taxBehavior: string }): boolean {
  return rate.taxBehavior === 'inclusive';
}

/** Parts of `gross` brought down to parts of `base`, which add up to it. */
function withoutTax(parts: readonly Decimal[], gross: Decimal, base: Decimal, digits: number): Decimal[] {
  const unit = decimal(10).pow(-digits);
  const exact = parts.map((part) => part.times(base).dividedBy(gross).dividedBy(unit));
  return wholeShares(exact, base.dividedBy(unit)).map((count) => count.times(unit));
}

/** A line whose quantity times price, less its allowance, is exactly its net amount. */
function lineOf(quantity: string, net: Decimal, allowance: Decimal, text: (value: Decimal) => string): EInvoiceLine {
  const gross = net.plus(allowance);
  const asked = decimal(quantity).abs();
  const count = asked.isZero() ? decimal(1) : asked;
  // The price of a unit where it can be written down, else the price of all of them.
  const each = gross.abs().dividedBy(count);
  const isShort = each.decimalPlaces() <= 10;
  return {
    quantity: decimalString(gross.isNegative() ? count.negated() : count),
    price: isShort ? decimalString(each) : text(gross.abs()),
    perQuantity: isShort ? null : decimalString(count),
    allowance: allowance.isZero() ? null : text(allowance),
    net: text(net),
  };
}

function exactText(value: Decimal, digits: number, currency: string): string {
  if (value.decimalPlaces() > digits) {
    throw refuse(
      'validation_error',
      `an amount of this document has ${value.decimalPlaces()} decimals, and EN 16931 allows ${digits} in ${currency}; send the PDF instead`,
      { fields: { currency: `${value.toFixed()} has more than ${digits} decimals` } },
    );
  }
  return value.toFixed(digits);
}
