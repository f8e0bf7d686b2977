import { type BillingPeriodInterval, firstPeriod, periodFrom } from '../../billing/calendar.ts';
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
