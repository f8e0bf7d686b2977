import { type Decimal, sum } from './money.ts';

/**
 * Whole shares that add up to `total`, or to the next whole number above it: each of `exact` rounded down, and what is missing given one
 * by one to the largest remainders, ties in order.
 */
export function wholeShares(exact: readonly Decimal[], total: Decimal): Decimal[] {
  const shares = exact.map((value) => value.floor());
  const missing = total.minus(sum(shares));
  const order = exact
    .map((value, position) => ({ rest: value.minus(shares[position]!), position }))
    .sort((a, b) => b.rest.comparedTo(a.rest) || a.position - b.position);
  for (const [rank, { position }] of order.entries()) {
    if (missing.greaterThan(rank)) shares[position] = shares[position]!.plus(1);
  }
  return shares;
}
