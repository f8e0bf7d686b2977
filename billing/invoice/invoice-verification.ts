import { type Decimal, decimal, decimalString, greatest, roundToCurrency, sum, zero } from '../money/money.ts';
import { proratedCost } from '../price/charge-amount.ts';
import type { Derivation, DerivedPart } from '../price/derivation.ts';
import { costOfBuckets, costOfQuantity } from '../price/price.ts';
import { costInCurrency } from '../price/price-unit.ts';

/** One line as it is stored; decimals as strings. */
export interface VerifiableLine {
  id: string;
  amount: string;
  lineItemDiscount: string;
  invoiceLevelDiscount: string;
  prepaidCreditsApplied: string;
  derivation: Derivation | null;
}

/** The totals of an invoice as they are stored. */
export interface VerifiableTotals {
  currency: string;
  subtotal: string;
  totalDiscount: string;
  totalPrepaidCreditsApplied: string;
  totalTax: string;
  total: string;
  taxes: readonly { taxBehavior: string; taxAmount: string }[];
}

/** What a recomputation found; an empty list is a document that adds up. */
export interface Mismatch {
  /** The line, or null for a total of the invoice. */
  lineId: string | null;
  what: string;
  stored: string;
  recomputed: string;
}

/**
 * Computes a line again from its derivation: the price walked anew for each quantity, prorated and rounded once, and the parts
 * added up. A part that a commitment changed is rounded again from what the commitment made of it.
 * spec: subscriptions-and-invoicing §2.6.2; design: architecture §7
 */
export function recomputeLine(line: VerifiableLine): Mismatch[] {
  const { derivation } = line;
  if (derivation === null) return [];
  const parts = derivation.parts.flatMap((part, index) => recomputePart(line.id, derivation, part, index));
  const amount = sum(derivation.parts.map((part) => decimal(part.amount)));
  return [...parts, ...differing(line.id, 'amount', line.amount, amount)];
}

function recomputePart(lineId: string, derivation: Derivation, part: DerivedPart, index: number): Mismatch[] {
  const named = (what: string) => `parts[${index}].${what}`;
  const cost = part.commitment ? null : costOfPart(derivation, part);
  const exact = cost === null ? decimal(part.exactAmount) : proratedCost(cost, part.proration);
  return [
    ...(cost === null ? [] : differing(lineId, named('cost'), part.cost, cost)),
    ...differing(lineId, named('amount'), part.amount, roundToCurrency(exact, derivation.currency)),
  ];
}

/** The exact cost of a part from its price; null where the buckets it was made of are not listed. */
function costOfPart({ price }: Derivation, part: DerivedPart): Decimal | null {
  if (part.buckets !== null) {
    const { cost } = costOfBuckets(
      price,
      part.buckets.map((bucket) => bucket.billable),
    );
    return costInCurrency(cost, price);
  }
  if (part.bucketCount !== null) {
    if (!part.bucketValues) return null;
    const costs = part.bucketValues.map(({ billable, count }) => costOfQuantity(price, billable).cost.times(count));
    return costInCurrency(sum(costs), price);
  }
  return costInCurrency(costOfQuantity(price, part.quantity).cost, price);
}

/** Adds an invoice up again from its lines and taxes. spec: subscriptions-and-invoicing §2.16 */
export function recomputeTotals(lines: readonly VerifiableLine[], invoice: VerifiableTotals): Mismatch[] {
  const over = (of: (line: VerifiableLine) => string) => sum(lines.map((line) => decimal(of(line))));
  const subtotal = over((line) => line.amount);
  const discount = over((line) => line.lineItemDiscount).plus(over((line) => line.invoiceLevelDiscount));
  const credits = over((line) => line.prepaidCreditsApplied);
  const tax = (behavior: string | null) =>
    sum(
      invoice.taxes
        .filter((row) => behavior === null || row.taxBehavior === behavior)
        .map((row) => decimal(row.taxAmount)),
    );
  const total = greatest(subtotal.minus(discount).minus(credits).plus(tax('exclusive')), zero);
  return [
    ...differing(null, 'subtotal', invoice.subtotal, subtotal),
    ...differing(null, 'total_discount', invoice.totalDiscount, discount),
    ...differing(null, 'total_prepaid_credits_applied', invoice.totalPrepaidCreditsApplied, credits),
    ...differing(null, 'total_tax', invoice.totalTax, tax(null)),
    ...differing(null, 'total', invoice.total, total),
  ];
}

function differing(lineId: string | null, what: string, stored: string, recomputed: Decimal): Mismatch[] {
  if (decimal(stored).equals(recomputed)) return [];
  return [{ lineId, what, stored, recomputed: decimalString(recomputed) }];
}
