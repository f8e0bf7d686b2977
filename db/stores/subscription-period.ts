import {
  type BillingPeriodInterval,
  firstPeriod,
  later,
  periodFrom,
  previousBoundary,
} from '../../billing/calendar.ts';
import type { SubscriptionRow } from './subscription-row.ts';

/** A period of a subscription as it is billed, beside the whole one it is part of. spec: subscriptions-and-invoicing §2.2.3 */
export function periodOf(row: SubscriptionRow, start: string, end: string): BillingPeriodInterval {
  return periodFrom({
    start,
    endDate: end,
    anchor: row.billingAnchor,
    billingPeriod: row.billingPeriod,
    billingPeriodCount: row.billingPeriodCount,
    billingCycle: row.billingCycle,
    timezone: row.timezone,
  });
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
  const period = currentPeriodOf(row);
  if (row.currentPeriodStart === row.startDate || row.currentPeriodStart === row.trialEnd) return period;
  const whole = previousBoundary({ ...row, anchor: row.billingAnchor, boundary: period.full.end });
  const first = firstPeriod({ ...row, anchor: row.billingAnchor, startDate: row.trialEnd ?? row.startDate });
  // Within the first period the whole one is whatever the opening invoice charged a share of.
  const began = whole < (row.trialEnd ?? row.startDate) ? first.full.start : later(whole, first.full.start);
  return { ...period, full: { start: began < period.start ? began : period.full.start, end: period.full.end } };
}
