import { type BillingPeriodInterval, periodFrom } from '../../billing/calendar.ts';
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
