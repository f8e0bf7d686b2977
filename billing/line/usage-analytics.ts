import { decimal, decimalString, storedDecimal, sum, zero } from '../money/money.ts';
import { costOfBuckets, costOfQuantity } from '../price/price.ts';
import type { PriceTerms } from '../price/price-terms.ts';
import { costInCurrency } from '../price/price-unit.ts';

/**
 * What usage costs by a price, unrounded: entitlements forgive nothing here, and each quantity starts at the bottom of the
 * tiers. Of bucketed usage every bucket is priced on its own. A decimal string.
 * spec: catalogue-and-metering §7.6 Costs, §4.3, §4.4, §1.1 N5
 */
export function usageCost(
  price: PriceTerms,
  measured: { readonly usage: string; readonly buckets: readonly { readonly value: string }[] | null },
): string {
  const { usage, buckets } = measured;
  const values = buckets?.map(({ value }) => value);
  const { cost } = values ? costOfBuckets(price, values) : costOfQuantity(price, usage);
  return decimalString(costInCurrency(cost, price));
}

/** Money of an item, of a point or of everything. Decimal strings. */
export interface AnalyticsAmounts {
  subtotal: string;
  discount: string;
  /** subtotal − discount */
  cost: string;
}

/**
 * The sums over items of one currency; items of another one are left out. spec: catalogue-and-metering §7.6
 */
export function analyticsTotals(
  items: readonly (AnalyticsAmounts & { currency: string })[],
  currency: string,
): AnalyticsAmounts {
  const own = items.filter((item) => item.currency === currency);
  const total = (member: 'subtotal' | 'discount') => sum(own.map((item) => decimal(item[member])));
  return amounts(total('subtotal').toFixed(), total('discount').toFixed());
}

/** The three amounts of a subtotal and a discount. */
export function amounts(subtotal: string, discount = '0'): AnalyticsAmounts {
  return { subtotal, discount, cost: decimalString(decimal(subtotal).minus(discount)) };
}

/** How a usage shows in the unit a feature reports in: usage × rate. spec: catalogue-and-metering §5.1 reporting_unit */
export function reportedUsage(usage: string, conversionRate: string): string {
  return decimalString(decimal(usage).times(conversionRate));
}

const nano = decimal('1000000000');

/** Costs added up, in billionths of their currency, exact. spec: catalogue-and-metering §6.1 costNanoUsd */
export function nanoUnits(costs: readonly string[]): string {
  return decimalString(sum(costs.map((cost) => decimal(cost))).times(nano));
}

const minuteMs = 60_000;

/**
 * Revenue divided by the minutes of an interval, to 15 decimals; 0 for an empty interval. What a rule `revenue-per-minute`
 * of the setting `custom_analytics_config` asks (the texts name the rule and not its inner shape).
 */
export function revenuePerMinute(costs: readonly string[], interval: { from: string; to: string }): string {
  const lengthMs = Date.parse(interval.to) - Date.parse(interval.from);
  if (lengthMs <= 0) return '0';
  const revenue = sum(costs.map((cost) => decimal(cost)));
  return decimalString(revenue.isZero() ? zero : storedDecimal(revenue.times(minuteMs).dividedBy(lengthMs)));
}
