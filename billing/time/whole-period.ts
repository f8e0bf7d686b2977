import {
  type BillingCycle,
  type BillingPeriod,
  type Cadence,
  firstPeriod,
  type Interval,
  later,
  nextBoundary,
  periodContaining,
  previousBoundary,
} from './calendar.ts';

/** The members of a subscription that decide where its charge periods lie. */
interface Timeline {
  billingAnchor: string;
  billingPeriod: BillingPeriod;
  billingPeriodCount: number;
  billingCycle: BillingCycle;
  timezone: string;
  startDate: string;
  trialEnd?: string | null;
  status?: string;
}

/** One unit whose boundaries repeat every day, week, month or year: any instant finds its own boundary from the anchor alone. */
const selfEvident: readonly BillingPeriod[] = ['DAILY', 'WEEKLY', 'MONTHLY', 'ANNUAL'];

/** True for periods of one day, week, month or year, whose boundaries follow from the anchor alone, wherever billing began. */
export function findsItsBoundaries(cadence: Pick<Timeline, 'billingPeriod' | 'billingPeriodCount'>): boolean {
  return cadence.billingPeriodCount === 1 && selfEvident.includes(cadence.billingPeriod);
}

/**
 * The whole charge period that holds an instant, whatever cut the current period short at either side: a pause, a resume, an
 * intermediate invoice, an end. Its start is never before billing began. spec: subscriptions-and-invoicing §2.2.3, §2.11 S_full
 */
export function wholePeriodAt(timeline: Timeline, instant: string): Interval {
  const cadence = cadenceOf(timeline);
  const first = billingBegan(timeline);
  if (instant <= first) return { start: first, end: nextBoundary({ ...cadence, periodStart: first }) };
  if (findsItsBoundaries(timeline)) {
    let end = nextBoundary({ ...cadence, periodStart: instant });
    let start = previousBoundary({ ...cadence, boundary: end });
    // On the date of a boundary and before its hour, the walk from the date alone goes one period too far.
    while (start > instant) {
      end = start;
      start = previousBoundary({ ...cadence, boundary: end });
    }
    return { start: later(start, first), end };
  }
  const period = periodContaining({ ...cadence, firstPeriodStart: first, instant });
  if (period === null) throw new Error(`${instant} lies before the first period, which starts at ${first}`);
  return period.full;
}

/**
 * What the amount of an ADVANCE charge pays for at an instant: the whole period, which for the first one on a calendar cycle
 * with prorations begins before the subscription does. spec: subscriptions-and-invoicing §2.2.4, §2.11
 */
export function wholeAdvancePeriodAt(
  timeline: Timeline & { prorationBehavior: 'create_prorations' | 'none' },
  instant: string,
): Interval {
  const whole = wholePeriodAt(timeline, instant);
  if (whole.start !== timeline.startDate) return whole;
  return firstPeriod({ ...timeline, ...cadenceOf(timeline) }).full;
}

/**
 * The start of the first billed period: the end of the trial if there was one and billing anchors there. A child in a group ends its
 * trial inside a period of its parent and pays its share of that.
 */
function billingBegan({ startDate, trialEnd, status, billingAnchor }: Timeline): string {
  return trialEnd && status !== 'trialing' && billingAnchor === trialEnd ? later(startDate, trialEnd) : startDate;
}

function cadenceOf(timeline: Timeline): Cadence {
  return {
    anchor: timeline.billingAnchor,
    billingPeriod: timeline.billingPeriod,
    billingPeriodCount: timeline.billingPeriodCount,
    billingCycle: timeline.billingCycle,
    timezone: timeline.timezone,
  };
}
