import { type BillingPeriodInterval, earlier, firstPeriod } from '../../billing/time/calendar.ts';
import { wholeAdvancePeriodAt, wholePeriodAt } from '../../billing/time/whole-period.ts';
import type { SubscriptionRow } from './subscription-row.ts';

/**
 * A period of a subscription as it is billed, beside the whole one it is part of; it ends with the whole one at the latest.
 * spec: subscriptions-and-invoicing §2.2.3, §2.11
 */
export function periodOf(row: SubscriptionRow, start: string, end: string): BillingPeriodInterval {
  const whole = wholePeriodAt(row, start);
  return { start, end: earlier(end, whole.end), full: whole };
}

/**
 * The current period beside the whole one: the first period of a calendar cycle may be the end of a whole one.
 * spec: subscriptions-and-invoicing §2.2.4
 */
export function currentPeriodOf(row: SubscriptionRow): BillingPeriodInterval {
  const { currentPeriodStart: start, currentPeriodEnd: end, billingAnchor: anchor } = row;
  return start === row.startDate ? firstPeriod({ ...row, anchor, endDate: end }) : periodOf(row, start, end);
}

/**
 * The current period beside the whole one that its FIXED amounts pay for, also where a pause or an intermediate invoice began
 * it anew in its middle. spec: subscriptions-and-invoicing §2.8.1, §2.11
 */
export function runningPeriodOf(row: SubscriptionRow): BillingPeriodInterval {
  return { ...currentPeriodOf(row), full: wholeAdvancePeriodAt(row, row.currentPeriodStart) };
}

/** The first billed period beside the whole one: on a calendar cycle the first advance charge may pay for a part only. spec: §2.2.4 */
export function openingPeriod(row: SubscriptionRow): BillingPeriodInterval {
  if (row.status === 'trialing') {
    const period = { start: row.currentPeriodStart, end: row.currentPeriodEnd };
    return { ...period, full: period };
  }
  return firstPeriod({
    startDate: row.startDate,
    endDate: row.endDate,
    anchor: row.billingAnchor,
    billingPeriod: row.billingPeriod,
    billingPeriodCount: row.billingPeriodCount,
    billingCycle: row.billingCycle,
    timezone: row.timezone,
    prorationBehavior: row.prorationBehavior,
  });
}
