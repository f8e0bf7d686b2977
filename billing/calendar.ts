export type BillingPeriod = 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'QUARTERLY' | 'HALF_YEARLY' | 'ANNUAL';
export type BillingCycle = 'anniversary' | 'calendar';

/** Half-open [start, end), ISO instants with milliseconds and Z. */
export interface Interval {
  start: string;
  end: string;
}

/** Where boundaries lie: anchor + n periods in a zone. */
export interface Cadence {
  anchor: string;
  billingPeriod: BillingPeriod;
  billingPeriodCount: number;
  timezone: string;
  billingCycle: BillingCycle;
}

export declare function nextBoundary(input: Cadence & { periodStart: string; endDate?: string | null }): string;
export declare function previousBoundary(input: Cadence & { boundary: string }): string;
/** Anchor and first period of a subscription. `requestedAnchor` with calendar is refused. */
export declare function billingAnchor(input: Omit<Cadence, 'anchor'> & { startDate: string; requestedAnchor?: string | null }): string;
/** First billing period, with `full` and the coefficient of an advance FIXED charge. spec: §2.2.4 */
export declare function firstPeriod(
  input: Cadence & { startDate: string; endDate?: string | null; prorationBehavior: 'create_prorations' | 'none' },
): Interval & { full: Interval };
/** The period after (or beginning at) `start`, cut by endDate, with `full` uncut. */
export declare function periodFrom(input: Cadence & { start: string; endDate?: string | null }): Interval & { full: Interval };
/** The period that holds an instant, walking from the first one, at most 10 000 steps. */
export declare function periodContaining(input: Cadence & { firstPeriodStart: string; instant: string; endDate?: string | null }): Interval;
export declare function trialEnd(input: { startDate: string; days: number; timezone: string }): string;
export declare function isTimeZone(name: string): boolean;
export declare function addHours(instant: string, hours: number): string;
export declare function millisecondsBetween(from: string, to: string): number;
/** Any accepted timestamp text as the canonical instant, truncated to milliseconds; null when it is none. */
export declare function canonicalInstant(text: string): string | null;
