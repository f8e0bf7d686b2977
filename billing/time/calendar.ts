import { Temporal } from 'temporal-polyfill';
import { refuse } from '../refusal.ts';
import {
  clockOf,
  dateOf,
  dayMs,
  daysInMonth,
  epochMs,
  instantAt,
  instantText,
  localMidnight,
  localTime,
  monthsLater,
  weekdayOf,
} from './local-time.ts';

export type BillingPeriod = 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'QUARTERLY' | 'HALF_YEARLY' | 'ANNUAL';
export type BillingCycle = 'anniversary' | 'calendar';

/** Half-open [start, end), ISO instants with milliseconds and Z. */
export interface Interval {
  start: string;
  end: string;
}

/** A period as billed, and the whole one it is (part of): `full` ends at the boundary even where endDate comes first. */
export interface BillingPeriodInterval extends Interval {
  full: Interval;
}

/** Where boundaries lie: on the anchor's day and clock, every `billingPeriodCount` periods, in a zone. */
export interface Cadence {
  anchor: string;
  billingPeriod: BillingPeriod;
  billingPeriodCount: number;
  timezone: string;
  billingCycle: BillingCycle;
}

/** Months of one unit; DAILY and WEEKLY are counted in days. */
export const monthsOfPeriod: Record<BillingPeriod, number> = {
  DAILY: 0,
  WEEKLY: 0,
  MONTHLY: 1,
  QUARTERLY: 3,
  HALF_YEARLY: 6,
  ANNUAL: 12,
};

const walkBound = 10_000;

/**
 * The boundary that ends the period beginning at `periodStart`, or `endDate` if that comes first. The anchor's day is applied
 * afresh every time, so 31 January is followed by 28 February and 31 March. Refuses a count below 1.
 * spec: subscriptions-and-invoicing §2.2.3
 */
export function nextBoundary(input: Cadence & { periodStart: string; endDate?: string | null }): string {
  checkCount(input.billingPeriodCount);
  const start = epochMs(input.periodStart);
  const anchor = epochMs(input.anchor);
  const boundary = instantText(boundaryAfter(start, anchor, input));
  return input.endDate ? earlier(instantText(epochMs(input.endDate)), boundary) : boundary;
}

function boundaryAfter(start: number, anchor: number, cadence: Cadence): number {
  const { billingPeriod, billingPeriodCount: count, timezone } = cadence;
  const startLocal = localTime(start, timezone);
  const anchorLocal = localTime(anchor, timezone);
  const clock = boundaryClock(anchor, anchorLocal, cadence);
  const from = dateOf(startLocal);
  const anchorDate = dateOf(anchorLocal);
  const at = (midnight: number): number => instantAt(midnight + clock, timezone);

  if (billingPeriod === 'DAILY') return at(localMidnight(from) + count * dayMs);
  if (billingPeriod === 'WEEKLY') {
    const days = (weekdayOf(anchorLocal) - weekdayOf(startLocal) + 7) % 7;
    return at(localMidnight(from) + (days === 0 ? count * 7 : days + (count - 1) * 7) * dayMs);
  }
  const months = monthsOfPeriod[billingPeriod] * count;
  if (billingPeriod === 'MONTHLY') {
    const day = Math.min(anchorDate.day, daysInMonth(from.year, from.month));
    if (from.day < day) return at(localMidnight({ ...from, day }));
  } else if (billingPeriod === 'ANNUAL') {
    const inYear = monthsLater({ year: from.year, month: anchorDate.month, day: 1 }, 0, anchorDate.day);
    if (localMidnight(from) < localMidnight(inYear)) return at(localMidnight(inYear));
    return at(localMidnight(monthsLater({ ...inYear, year: from.year + count }, 0, anchorDate.day)));
  } else if (start < anchor) {
    // Backwards from a future anchor in whole periods: the first period is the short one. Days compare by local date.
    const ahead = (anchorDate.year - from.year) * 12 + anchorDate.month - from.month;
    for (let periods = Math.floor(ahead / months) + 1; periods > 0; periods -= 1) {
      const candidate = localMidnight(monthsLater(anchorDate, -periods * months, anchorDate.day));
      if (candidate > localMidnight(from)) return at(candidate);
    }
    return at(localMidnight(anchorDate));
  }
  return at(localMidnight(monthsLater(from, months, anchorDate.day)));
}

/**
 * The anchor's wall clock; on a calendar cycle midnight, even where a gap in the zone moved the anchor itself. An anchor that
 * is no midnight (after a trial) keeps its clock on either cycle.
 */
function boundaryClock(anchor: number, anchorLocal: number, cadence: Cadence): number {
  const clock = clockOf(anchorLocal);
  if (cadence.billingCycle === 'calendar' && clock !== 0 && instantAt(anchorLocal - clock, cadence.timezone) === anchor)
    return 0;
  return clock;
}

/** A boundary minus one period, same clamping and clock: the start of the full period that ends there. spec: §2.2.3 */
export function previousBoundary(input: Cadence & { boundary: string }): string {
  const { billingPeriod, billingPeriodCount: count, timezone } = input;
  checkCount(count);
  const anchor = epochMs(input.anchor);
  const anchorLocal = localTime(anchor, timezone);
  const clock = boundaryClock(anchor, anchorLocal, input);
  const date = dateOf(localTime(epochMs(input.boundary), timezone));
  const days = billingPeriod === 'DAILY' ? count : billingPeriod === 'WEEKLY' ? count * 7 : 0;
  const midnight = days
    ? localMidnight(date) - days * dayMs
    : localMidnight(monthsLater(date, -monthsOfPeriod[billingPeriod] * count, dateOf(anchorLocal).day));
  return instantText(instantAt(midnight + clock, timezone));
}

/**
 * The anchor of a subscription. Anniversary: the requested one, else the start. Calendar: the first calendar boundary after
 * the start, count − 1 units further, so that it ends the first period; a requested anchor is refused.
 * spec: subscriptions-and-invoicing §2.2.2
 */
export function billingAnchor(
  input: Omit<Cadence, 'anchor'> & { startDate: string; requestedAnchor?: string | null },
): string {
  checkCount(input.billingPeriodCount);
  if (input.billingCycle === 'anniversary') return instantText(epochMs(input.requestedAnchor ?? input.startDate));
  if (input.requestedAnchor) {
    throw refuse('validation_error', 'billing_anchor is only accepted with billing_cycle anniversary: leave it out', {
      fields: { billing_anchor: 'not accepted with billing_cycle calendar' },
    });
  }
  const { billingPeriod, billingPeriodCount: count, timezone } = input;
  const local = localTime(epochMs(input.startDate), timezone);
  const date = dateOf(local);
  if (billingPeriod === 'DAILY') return instantText(instantAt(localMidnight(date) + count * dayMs, timezone));
  if (billingPeriod === 'WEEKLY') {
    return instantText(instantAt(localMidnight(date) + (7 - weekdayOf(local) + (count - 1) * 7) * dayMs, timezone));
  }
  const unit = monthsOfPeriod[billingPeriod];
  const unitStart = { year: date.year, month: date.month - ((date.month - 1) % unit), day: 1 };
  return instantText(instantAt(localMidnight(monthsLater(unitStart, unit * count, 1)), timezone));
}

/** The period beginning at `start`, cut by `endDate`; `full` is the uncut one. spec: §2.2.3 */
export function periodFrom(input: Cadence & { start: string; endDate?: string | null }): BillingPeriodInterval {
  const start = instantText(epochMs(input.start));
  const fullEnd = nextBoundary({ ...input, periodStart: start, endDate: null });
  const end =
    input.endDate && epochMs(input.endDate) < epochMs(fullEnd) ? instantText(epochMs(input.endDate)) : fullEnd;
  return { start, end, full: { start, end: fullEnd } };
}

/** The start and the boundaries of the next `periods` periods, fewer when `endDate` comes first. spec: §2.2.3 */
export function periodSeries(input: Cadence & { start: string; periods: number; endDate?: string | null }): string[] {
  const boundaries = [instantText(epochMs(input.start))];
  while (boundaries.length <= input.periods) {
    const last = boundaries[boundaries.length - 1]!;
    if (input.endDate && epochMs(last) >= epochMs(input.endDate)) break;
    boundaries.push(nextBoundary({ ...input, periodStart: last }));
  }
  return boundaries;
}

/** The whole calendar period that a calendar subscription's first period is the end of. spec: §2.2.4 */
export function firstCalendarPeriod(input: Omit<Cadence, 'anchor' | 'billingCycle'> & { startDate: string }): Interval {
  const cadence = { ...input, billingCycle: 'calendar' as const };
  const anchor = billingAnchor(cadence);
  const start = previousBoundary({ ...cadence, anchor, boundary: anchor });
  const end = nextBoundary({ ...cadence, anchor, periodStart: input.startDate });
  return {
    start: start < end && epochMs(start) < epochMs(input.startDate) ? start : instantText(epochMs(input.startDate)),
    end,
  };
}

/**
 * The first billing period. `full.start` lies before the start only on a calendar cycle with create_prorations and without a
 * trial before it: then an ADVANCE FIXED charge pays for (end − start) / (full.end − full.start). spec: §2.2.4, §2.10
 */
export function firstPeriod(
  input: Cadence & { startDate: string; endDate?: string | null; prorationBehavior: 'create_prorations' | 'none' },
): BillingPeriodInterval {
  const period = periodFrom({ ...input, start: input.startDate });
  const afterTrial = epochMs(input.anchor) === epochMs(input.startDate);
  if (input.billingCycle !== 'calendar' || input.prorationBehavior !== 'create_prorations' || afterTrial) return period;
  const start = previousBoundary({ ...input, boundary: period.full.end });
  return { ...period, full: { start: earlier(start, period.start), end: period.full.end } };
}

/**
 * The period that holds an instant, walking forward from the first one; null before the first and after `endDate`. Refuses
 * after 10 000 periods. spec: §2.2.3
 */
export function periodContaining(
  input: Cadence & { firstPeriodStart: string; instant: string; endDate?: string | null },
): BillingPeriodInterval | null {
  const wanted = epochMs(input.instant);
  if (wanted < epochMs(input.firstPeriodStart)) return null;
  let start = input.firstPeriodStart;
  for (let step = 0; step < walkBound; step += 1) {
    const period = periodFrom({ ...input, start });
    if (wanted < epochMs(period.end)) return period;
    if (period.end !== period.full.end || (input.endDate && epochMs(period.end) >= epochMs(input.endDate))) return null;
    start = period.end;
  }
  throw refuse(
    'validation_error',
    `no period holds ${input.instant} within ${walkBound} periods of ${input.firstPeriodStart}`,
  );
}

/** Local start date + days at the start's wall clock. spec: subscriptions-and-invoicing §2.10 */
export function trialEnd(input: { startDate: string; days: number; timezone: string }): string {
  const local = localTime(epochMs(input.startDate), input.timezone);
  return instantText(
    input.days === 0 ? epochMs(input.startDate) : instantAt(local + input.days * dayMs, input.timezone),
  );
}

/** Days between the local dates of two instants: the length of a trial given by its ends. spec: §1.2 */
export function localDaysBetween(from: string, to: string, timezone: string): number {
  const day = (instant: string): number => Math.floor(localTime(epochMs(instant), timezone) / dayMs);
  return day(to) - day(from);
}

/** The local date of an instant, as YYYY-MM-DD. */
export function localDate(instant: string, timezone: string): string {
  return instantText(localTime(epochMs(instant), timezone)).slice(0, 10);
}

/** True for an IANA name the zone rules know; offsets such as `+02:00` are not names. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

export function addHours(instant: string, hours: number): string {
  return instantText(epochMs(instant) + hours * 3_600_000);
}

export function millisecondsBetween(from: string, to: string): number {
  return epochMs(to) - epochMs(from);
}

/** The earlier of two canonical instants. */
export function earlier(a: string, b: string): string {
  if (a <= b) return a;
  return b;
}

/** The later of two canonical instants. */
export function later(a: string, b: string): string {
  if (a >= b) return a;
  return b;
}

/** An ISO 8601 timestamp with zone or offset as the canonical instant, truncated to milliseconds; null when it is none. */
export function canonicalInstant(text: string): string | null {
  try {
    const value = Temporal.Instant.from(text).epochMilliseconds;
    return value >= Date.UTC(1000, 0, 1) && value <= Date.UTC(9999, 11, 31, 23, 59, 59, 999)
      ? new Date(value).toISOString()
      : null;
  } catch {
    return null;
  }
}

function checkCount(count: number): void {
  if (!Number.isSafeInteger(count) || count < 1) {
    throw refuse('validation_error', 'billing_period_count must be a whole number of at least 1', {
      fields: { billing_period_count: 'must be a whole number of at least 1' },
    });
  }
}
