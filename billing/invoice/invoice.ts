import { decimal, greatest, moneyString, roundToCurrency, sum, zero } from '../money/money.ts';
import { usedCredit } from './carried-credit.ts';
import { applyInvoiceCoupons, applyLineCoupons, type DiscountedLine } from './discount.ts';
import type { CouponApplicationAmounts, InvoiceInput, InvoiceInputLine, TaxAmounts } from './invoice-input.ts';
import { applyImportedCredits, applyPrepaidCredits } from './prepaid-credit.ts';
import { computeTaxes, type NoTaxReason } from './tax.ts';
import { taxedPart } from './taxed-credit.ts';

export interface InvoiceLineAmounts {
  id: string;
  amount: string;
  lineItemDiscount: string;
  invoiceLevelDiscount: string;
  prepaidCreditsApplied: string;
}

export interface InvoiceAmounts {
  lines: InvoiceLineAmounts[];
  subtotal: string;
  totalDiscount: string;
  totalPrepaidCreditsApplied: string;
  /** The part of them that was taxed when it was bought, by which the taxable amount is lower. */
  taxedCreditsApplied: string;
  taxableAmount: string;
  inclusiveTax: string;
  exclusiveTax: string;
  totalTax: string;
  total: string;
  amountDue: string;
  amountRemaining: string;
  couponApplications: CouponApplicationAmounts[];
  walletUses: { walletId: string; amount: string }[];
  taxes: TaxAmounts[];
  noTaxReason: NoTaxReason | null;
}

/**
 * From lines to what is due: line coupons, invoice coupons and their distribution, credit of earlier changes, prepaid credits on
 * usage, taxes on the discounted amount (of credits only those reduce it that were taxed when they were bought), total. Each amount is rounded once; sums are exact. Every result has the
 * currency's digits. A negative rest is not carried: the total is 0 at least. spec: subscriptions-and-invoicing §2.16;
 * design: money-in-wallets finding 6
 */
export function computeInvoice(input: InvoiceInput): InvoiceAmounts {
  const { currency } = input;
  const money = (value: Parameters<typeof moneyString>[0]): string => moneyString(value, currency);
  const lines: DiscountedLine[] = input.lines.map(({ id, amount, creditLeft }) => ({
    id,
    amount: creditLeft === undefined ? roundToCurrency(amount, currency) : zero,
    lineItemDiscount: zero,
    invoiceLevelDiscount: zero,
  }));
  const ofLines = applyLineCoupons(
    lines,
    input.coupons.filter((coupon) => coupon.lineId !== null),
    currency,
  );
  const ofInvoice = applyInvoiceCoupons(
    lines,
    input.coupons.filter((coupon) => coupon.lineId === null),
    currency,
  );
  useCredits(lines, input.lines);
  const subtotal = sum(lines.map((line) => line.amount));
  const totalDiscount = sum(lines.map((line) => line.lineItemDiscount)).plus(ofInvoice.total);
  const discounted = greatest(subtotal.minus(totalDiscount), zero);
  const creditable = lines.map((line, position) => ({
    priceType: input.lines[position]!.priceType,
    net: netOf(line),
    given: decimal(input.lines[position]!.importedCredit ?? '0'),
  }));
  const credits =
    input.importedCredits === undefined
      ? applyPrepaidCredits(creditable, input.preview ? [] : input.wallets, discounted, currency)
      : applyImportedCredits(creditable, decimal(input.importedCredits), discounted);
  const taxedCredits = sum(
    input.wallets.map(({ lots }, position) => taxedPart(credits.ofWallet[position] ?? zero, lots, currency)),
  );
  const taxable = discounted.minus(taxedCredits);
  const taxes = computeTaxes(taxable, input.taxes, input.taxExempt, currency);
  const total = greatest(subtotal.minus(totalDiscount).minus(credits.total).plus(taxes.exclusive), zero);
  const amountDue = total.minus(decimal(input.adjustmentAmount ?? '0'));
  return {
    lines: lines.map((line, position) => ({
      id: line.id,
      amount: money(line.amount),
      lineItemDiscount: money(line.lineItemDiscount),
      invoiceLevelDiscount: money(line.invoiceLevelDiscount),
      prepaidCreditsApplied: money(credits.ofLine[position]!),
    })),
    subtotal: money(subtotal),
    totalDiscount: money(totalDiscount),
    totalPrepaidCreditsApplied: money(credits.total),
    taxedCreditsApplied: money(taxedCredits),
    taxableAmount: money(taxable),
    inclusiveTax: money(taxes.inclusive),
    exclusiveTax: money(taxes.exclusive),
    totalTax: money(taxes.inclusive.plus(taxes.exclusive)),
    total: money(total),
    amountDue: money(amountDue),
    amountRemaining: money(greatest(amountDue.minus(decimal(input.amountPaid ?? '0')), zero)),
    couponApplications: [...ofLines, ...ofInvoice.applications],
    walletUses: input.wallets.flatMap(({ id }, position) => {
      const used = credits.ofWallet[position] ?? zero;
      return used.isZero() ? [] : [{ walletId: id, amount: money(used) }];
    }),
    taxes: taxes.rows,
    noTaxReason: taxes.noTaxReason,
  };
}

/** Gives lines of credits their amounts, which are not discounted: a credit is worth what was charged and not used. */
function useCredits(lines: DiscountedLine[], input: readonly InvoiceInputLine[]): void {
  for (const [position, { creditLeft }] of input.entries()) {
    if (creditLeft !== undefined) lines[position]!.amount = usedCredit(creditLeft, lines.map(netOf)).negated();
  }
}

const netOf = ({ amount, lineItemDiscount, invoiceLevelDiscount }: DiscountedLine) =>
  amount.minus(lineItemDiscount).minus(invoiceLevelDiscount);

/**
 * The status a computed SUBSCRIPTION draft gets: SKIPPED when there is nothing to bill, except the note that a trial began.
 * spec: subscriptions-and-invoicing §2.15.1
 */
export function computedStatus(input: {
  billingReason: string;
  subtotal: string;
  lineAmounts: readonly string[];
}): 'DRAFT' | 'SKIPPED' {
  if (input.billingReason === 'SUBSCRIPTION_TRIAL_START') return 'DRAFT';
  const empty = decimal(input.subtotal).isZero() && input.lineAmounts.every((amount) => decimal(amount).isZero());
  return empty ? 'SKIPPED' : 'DRAFT';
}
