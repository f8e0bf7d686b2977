import { type BillingPeriod, monthsOfPeriod } from './calendar.ts';

/** How often something is charged. */
export interface ChargeCadence {
  billingPeriod: BillingPeriod | 'ONETIME';
  billingPeriodCount: number;
}

/**
 * How a price's cadence stands to its subscription's. `shorter` divides it evenly; `finer` is days or weeks inside a longer
 * period of another kind; `longer` is everything else: a multiple of it, or one that does not divide it.
 */
export type CadenceRelation = 'onetime' | 'equal' | 'shorter' | 'finer' | 'longer';

const daysOfUnit = { DAILY: 1, WEEKLY: 7 } as const;

/**
 * Months compare by number (QUARTERLY × 1 equals MONTHLY × 3); DAILY compares only to DAILY and WEEKLY only to WEEKLY, by
 * count. spec: subscriptions-and-invoicing §2.3.2
 */
export function cadenceRelation(price: ChargeCadence, subscription: ChargeCadence): CadenceRelation {
  if (price.billingPeriod === 'ONETIME' || subscription.billingPeriod === 'ONETIME') return 'onetime';
  const comparable =
    price.billingPeriod === subscription.billingPeriod ||
    (monthsOfPeriod[price.billingPeriod] > 0 && monthsOfPeriod[subscription.billingPeriod] > 0);
  if (!comparable) return roughDays(price) < roughDays(subscription) ? 'finer' : 'longer';
  const own = units(price.billingPeriod) * price.billingPeriodCount;
  const whole = units(subscription.billingPeriod) * subscription.billingPeriodCount;
  if (own === whole) return 'equal';
  return whole % own === 0 ? 'shorter' : 'longer';
}

function units(period: BillingPeriod): number {
  return monthsOfPeriod[period] || 1;
}

function roughDays(cadence: ChargeCadence): number {
  const period = cadence.billingPeriod as BillingPeriod;
  const days = period === 'DAILY' || period === 'WEEKLY' ? daysOfUnit[period] : monthsOfPeriod[period] * 30;
  return days * cadence.billingPeriodCount;
}
