import { refuse } from '../refusal.ts';
import {
  type BillingCycle,
  type BillingPeriod,
  earlier,
  type Interval,
  later,
  nextBoundary,
} from '../time/calendar.ts';

const mostPeriods = 1000;
/** A daily subscription of half a century. */
const walkBound = 20_000;

/** The subscription's members that decide where its billing periods lie. */
export interface PeriodicSubscription {
  startDate: string;
  trialEnd: string | null;
  billingAnchor: string;
  billingPeriod: BillingPeriod;
  billingPeriodCount: number;
  billingCycle: BillingCycle;
  timezone: string;
}

/**
 * The billing periods that a window touches, each cut to it, so that allowances and tiers begin anew where an invoice begins.
 * A trial is a period of its own. Instants are ISO strings; throws `validation_error` where there are more than 1000.
 * spec: catalogue-and-metering §7.8; subscriptions-and-invoicing §2.2.3, §2.10
 */
export function usagePeriods(subscription: PeriodicSubscription, window: Interval): Interval[] {
  const { startDate, trialEnd, billingAnchor: anchor, ...cadence } = subscription;
  const periods: Interval[] = [];
  let start = startDate;
  for (let step = 0; start < window.end; step += 1) {
    const inTrial = trialEnd !== null && start < trialEnd;
    const end = inTrial ? trialEnd : nextBoundary({ ...cadence, anchor, periodStart: start, endDate: null });
    if (end > window.start) periods.push({ start: later(start, window.start), end: earlier(end, window.end) });
    if (periods.length > mostPeriods || step > walkBound) {
      throw refuse('validation_error', `start_time and end_time must span at most ${mostPeriods} billing periods`, {
        fields: { start_time: `more than ${mostPeriods} billing periods before end_time` },
      });
    }
    start = end;
  }
  return periods;
}
