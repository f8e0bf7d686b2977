import type { GivenCommitmentInfo } from '../line/charge-commitment.ts';
import { type Decimal, decimal, decimalString, roundToCurrency, sum } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import type { InvoiceLineAmounts } from './invoice.ts';

/** A line as a caller gives it; decimals as strings, `amount` may be negative on any type of invoice. */
export interface NewInvoiceLine {
  displayName: string | null;
  amount: string;
  quantity: string;
  priceType: 'FIXED' | 'USAGE' | null;
  priceId: string | null;
  priceUnit: string | null;
  priceUnitAmount: string | null;
  entityType: string | null;
  entityId: string | null;
  planId: string | null;
  planDisplayName: string | null;
  meterId: string | null;
  meterDisplayName: string | null;
  /** Whose charge it is; null is the invoice's own subscription, if it has one. */
  subscriptionId: string | null;
  subscriptionLineItemId: string | null;
  adjustedEntitlementQuantity: string | null;
  periodStart: string | null;
  periodEnd: string | null;
  /** Commitment that the amount came of; it explains and changes nothing. */
  commitmentInfo: GivenCommitmentInfo | null;
  /** Discount that the caller expects coupons to give on the line; null where none is expected. */
  lineItemDiscount: string | null;
  invoiceLevelDiscount: string | null;
  /** Credits of an imported invoice that pay this line; null for none. */
  prepaidCreditsApplied: string | null;
  metadata: Record<string, string>;
}

/** FIXED line of quantity 1 that comes from no price, plan or subscription and has no period. */
export function plainLine(displayName: string, amount: string): NewInvoiceLine {
  return {
    displayName,
    amount,
    quantity: '1',
    priceType: 'FIXED',
    priceId: null,
    priceUnit: null,
    priceUnitAmount: null,
    entityType: null,
    entityId: null,
    planId: null,
    planDisplayName: null,
    meterId: null,
    meterDisplayName: null,
    subscriptionId: null,
    subscriptionLineItemId: null,
    adjustedEntitlementQuantity: null,
    periodStart: null,
    periodEnd: null,
    commitmentInfo: null,
    lineItemDiscount: null,
    invoiceLevelDiscount: null,
    prepaidCreditsApplied: null,
    metadata: {},
  };
}

/** Refuses (validation_error) a subtotal that is not the sum of the lines, exact or rounded. spec: subscriptions-and-invoicing §1.11.1 */
export function checkSubtotal(subtotal: string, lines: readonly NewInvoiceLine[], currency: string): void {
  const exact = sum(lines.map((line) => decimal(line.amount)));
  const rounded = sum(lines.map((line) => roundToCurrency(line.amount, currency)));
  if ([exact, rounded].some((total) => total.equals(decimal(subtotal)))) return;
  throw bad('subtotal', `must be ${decimalString(exact)}, the sum of the amounts of line_items`);
}

/** Refuses (validation_error) a line that ends before it begins. */
export function checkLinePeriods(lines: readonly NewInvoiceLine[]): void {
  for (const [index, line] of lines.entries()) {
    if (line.periodStart !== null && line.periodEnd !== null && line.periodEnd < line.periodStart) {
      throw bad(`line_items[${index}].period_end`, `must not be before period_start, ${line.periodStart}`);
    }
  }
}

/** Credits of an imported invoice by line, as the lines say it; null where none does. */
export function creditsOfLines(lines: readonly NewInvoiceLine[]): Decimal | null {
  const given = lines.flatMap((line) => line.prepaidCreditsApplied ?? []);
  return given.length === 0 ? null : sum(given.map((amount) => decimal(amount)));
}

/** Refuses (validation_error) a total of credits that is not what the lines say. */
export function checkCreditsOfLines(total: string, lines: readonly NewInvoiceLine[]): void {
  const ofLines = creditsOfLines(lines);
  if (ofLines === null || decimal(total).isZero() || ofLines.equals(decimal(total))) return;
  const expected = `${decimalString(ofLines)}, the sum of prepaid_credits_applied of line_items`;
  throw bad('total_prepaid_applied', `must be ${expected}`);
}

/**
 * Refuses (validation_error) what a line says of discounts and credits when the pipeline came to something else: a discount
 * follows from coupons alone, and credits pay what coupons leave, never more than the invoice comes to. Lines and amounts are
 * in the same order. spec: subscriptions-and-invoicing §2.16
 */
export function checkLineAmounts(
  lines: readonly NewInvoiceLine[],
  amounts: readonly Omit<InvoiceLineAmounts, 'id'>[],
): void {
  for (const [index, line] of lines.entries()) {
    const computed = amounts[index]!;
    const expected = [
      ['line_item_discount', line.lineItemDiscount, computed.lineItemDiscount, 'as the coupons of the line come to'],
      [
        'invoice_level_discount',
        line.invoiceLevelDiscount,
        computed.invoiceLevelDiscount,
        "the line's share of what coupons of the invoice take off",
      ],
      [
        'prepaid_credits_applied',
        line.prepaidCreditsApplied,
        computed.prepaidCreditsApplied,
        'all that credits can pay of the line',
      ],
    ] as const;
    for (const [member, given, result, meaning] of expected) {
      if (!given || decimal(given).equals(decimal(result))) continue;
      throw bad(`line_items[${index}].${member}`, `must be ${decimalString(result)}, ${meaning}`);
    }
  }
}

function bad(field: string, problem: string): Error {
  return refuse('validation_error', `${field} ${problem}`, { fields: { [field]: problem } });
}
