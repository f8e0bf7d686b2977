import { wholeShares } from '../money/largest-remainder.ts';
import { currencyPrecision, decimal, decimalString, greatest, sum, zero } from '../money/money.ts';

/** What a source or group used of an invoice line. */
export interface UsedPart {
  usage: string;
  eventCount: number;
}

/** Its share of the line: `percentage` of the usage to 2 decimals, and that much of the line's amount. */
export interface UsageShare extends UsedPart {
  percentage: string;
  cost: string;
}

/**
 * Takes an invoice line's amount apart by usage, so that a bill can be passed on inside a house: each part costs the line's
 * average price, and the costs add up to the amount exactly (largest remainder, ties in order). Usage below zero has no share;
 * where nothing was used nothing has a share. spec: subscriptions-and-invoicing §1.11 expand_by_source, group_by
 */
export function usageShares<Part extends UsedPart>(
  parts: readonly Part[],
  amount: string,
  currency: string,
): (Part & UsageShare)[] {
  const weights = parts.map(({ usage }) => greatest(decimal(usage), zero));
  const whole = sum(weights);
  const unit = decimal(10).pow(-currencyPrecision(currency));
  const units = whole.isZero() ? zero : decimal(amount).dividedBy(unit);
  const exact = weights.map((weight) => (whole.isZero() ? zero : units.abs().times(weight).dividedBy(whole)));
  // Of a credit as of a charge: shares are cut without their sign.
  const costs = wholeShares(exact, units.abs()).map((cost) => (units.isNegative() ? cost.negated() : cost));
  return parts.map((part, index) => ({
    ...part,
    percentage: decimalString(whole.isZero() ? zero : weights[index]!.times(100).dividedBy(whole).toDecimalPlaces(2)),
    cost: decimalString(costs[index]!.times(unit)),
  }));
}
