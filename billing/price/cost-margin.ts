import { decimal, decimalString, hundred, storedDecimal, zero } from '../money/money.ts';

/** What was earned against what it cost. Decimal strings; the ratios have at most 15 decimals. */
export interface CostMargin {
  /** revenue − cost */
  margin: string;
  /** margin ÷ revenue × 100; 0 without revenue. */
  marginPercent: string;
  /** margin ÷ cost; 0 without cost. */
  roi: string;
  /** margin ÷ cost × 100; 0 without cost. */
  roiPercent: string;
}

/** Each quotient is rounded once, from exact operands. spec: catalogue-and-metering §10.2, §1.1 N4 */
export function costMargin(totals: { revenue: string; cost: string }): CostMargin {
  const revenue = decimal(totals.revenue);
  const cost = decimal(totals.cost);
  const margin = revenue.minus(cost);
  const percent = margin.times(hundred);
  const ratio = (numerator: typeof margin, of: typeof margin) =>
    decimalString(of.isZero() ? zero : storedDecimal(numerator.dividedBy(of)));
  return {
    margin: decimalString(margin),
    marginPercent: ratio(percent, revenue),
    roi: ratio(margin, cost),
    roiPercent: ratio(percent, cost),
  };
}
