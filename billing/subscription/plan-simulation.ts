import { type Decimal, decimal, decimalString, moneyString, sum, zero } from '../money/money.ts';
import {
  type BillingPeriodInterval,
  earlier,
  firstPeriod,
  later,
  periodFrom,
  previousBoundary,
} from '../time/calendar.ts';
import type { SubscriptionState } from './subscription.ts';

/** What decides the periods of a subscription. */
export type SimulatedTimeline = SubscriptionState & { prorationBehavior: 'create_prorations' | 'none' };

/** A billing period that is over: as arrears and usage are billed for it, and as its advance charges are. */
export interface EndedPeriod {
  start: string;
  end: string;
  elapsed: BillingPeriodInterval;
  advance: BillingPeriodInterval;
}

/** What a period, a subscription or a customer costs under both plans. */
export interface Comparison {
  current: string;
  simulated: string;
  difference: string;
  /** A winner pays less than now. */
  outcome: 'winner' | 'loser' | 'unchanged';
}

const walkBound = 10_000;

/**
 * The billing periods of a subscription that ended after `window.start` and until `window.end`, and not after `now`; a trial is
 * none. They are those the subscription had: its own boundaries, the first and the last one cut where it began and ended.
 * spec: subscriptions-and-invoicing §2.2.3, §2.10
 */
export function endedPeriods(
  row: SimulatedTimeline,
  window: { start: string; end: string },
  now: string,
): EndedPeriod[] {
  const first = row.trialEnd ?? row.startDate;
  const until = earlier(window.end, now);
  const cadence = { ...row, anchor: row.billingAnchor };
  const periods: EndedPeriod[] = [];
  let start = row.currentPeriodStart;
  let boundary = row.currentPeriodEnd;
  for (let step = 0; step < walkBound && start >= first && boundary > window.start; step += 1) {
    const end = row.endDate === null ? boundary : earlier(boundary, row.endDate);
    if (start < end && end > window.start && end <= until) {
      const elapsed = periodFrom({ ...cadence, start, endDate: end });
      const opens = start === first && row.trialEnd === null;
      const advance = opens ? firstPeriod({ ...cadence, startDate: start, endDate: end }) : elapsed;
      periods.unshift({ start, end, elapsed, advance });
    }
    if (start <= first) break;
    boundary = start;
    start = later(previousBoundary({ ...cadence, boundary }), first);
  }
  return periods;
}

/** Both sums and who is better off. Amounts are those of lines, so sums have the currency's decimals. */
export function comparison(current: readonly string[], simulated: readonly string[], currency: string): Comparison {
  const [now, then] = [total(current), total(simulated)];
  const difference = then.minus(now);
  const outcome = difference.isZero() ? 'unchanged' : difference.isNegative() ? 'winner' : 'loser';
  return {
    current: decimalString(moneyString(now, currency)),
    simulated: decimalString(moneyString(then, currency)),
    difference: decimalString(difference),
    outcome,
  };
}

/** The order of an answer: by currency, who gains most first. */
export function byGain<Row extends { currency: string; difference: string; customer_id: string }>(
  a: Row,
  b: Row,
): number {
  if (a.currency !== b.currency) return a.currency < b.currency ? -1 : 1;
  return decimal(a.difference).comparedTo(b.difference) || (a.customer_id < b.customer_id ? -1 : 1);
}

function total(amounts: readonly string[]): Decimal {
  return amounts.length === 0 ? zero : sum(amounts.map((amount) => decimal(amount)));
}
