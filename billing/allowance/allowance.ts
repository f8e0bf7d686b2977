import { type Decimal, decimal, greatest, least, storedDecimal, zero } from '../money/money.ts';
import { cadenceRelation } from '../time/cadence.ts';
import type { BillingPeriod, Interval } from '../time/calendar.ts';
import { monthsOfPeriod } from '../time/calendar.ts';
import {
  dateOf,
  dayMs,
  epochMs,
  firstInstantAt,
  instantText,
  localMidnight,
  localTime,
  monthsLater,
  weekdayOf,
} from '../time/local-time.ts';
import type { SharedLimit } from './shared-limit.ts';

/** The aggregated, enabled metered entitlement of a meter's feature. spec: catalogue-and-metering §8.3, §8.4 */
export interface Allowance {
  /** null is unlimited. */
  usageLimit: string | null;
  /** DAILY … ANNUAL, NEVER; null is the billing period. */
  usageResetPeriod: BillingPeriod | 'NEVER' | null;
  /** Where a window's limit may be another one: after a change of plan, and in a first calendar period. */
  shared?: SharedLimit;
}

/**
 * The allowance of a meter's aggregated entitlement; none and a disabled one leave everything billable (null).
 * spec: catalogue-and-metering §8.4
 */
export function allowanceOf(entitlement: (Allowance & { isEnabled: boolean }) | null): Allowance | null {
  if (!entitlement?.isEnabled) return null;
  return { usageLimit: entitlement.usageLimit, usageResetPeriod: entitlement.usageResetPeriod };
}

/** What decides reset windows: the subscription's cadence. */
export interface AllowanceCadence {
  billingPeriod: BillingPeriod;
  billingPeriodCount: number;
  billingAnchor: string;
  timezone: string;
}

/**
 * Usage of one reset window: by the line, and by the lines ahead of it on the same meter, which use the allowance first.
 * `before` until the charged time began, `total` until it ended.
 */
export interface WindowUsage {
  before: Decimal;
  total: Decimal;
  aheadBefore?: Decimal;
  aheadTotal?: Decimal;
  /** In place of the allowance's. */
  limit?: string | null;
}

export interface BillableQuantity {
  billable: Decimal;
  /** raw − billable: what the entitlement forgave. */
  adjusted: Decimal;
  /** Billable part of each window, in their order. */
  ofWindow: Decimal[];
}

/** A bucket's measured value and what remains of it after the allowance. */
export interface BillableBucket {
  start: string;
  group: string;
  value: Decimal;
  billable: Decimal;
}

/**
 * The reset windows that overlap a charged time. A reset period of the billing period's length, or none, is the charge window
 * itself; NEVER is one window from the first line's start; the others are local days, weeks from the anchor's weekday, or
 * months from the anchor's day (clamped), all at local midnight. spec: catalogue-and-metering §8.4
 */
export function resetWindows(input: {
  allowance: Allowance;
  cadence: AllowanceCadence;
  /** The time one allowance covers when it resets with the billing period. */
  chargeWindow: Interval;
  /** Start of the first line on the meter. */
  firstStart: string;
  /** The charged time, within chargeWindow. */
  from: string;
  to: string;
}): Interval[] {
  const { usageResetPeriod: reset } = input.allowance;
  if (reset === null) return [input.chargeWindow];
  if (reset === 'NEVER') return [{ start: input.firstStart, end: input.to }];
  if (cadenceRelation({ billingPeriod: reset, billingPeriodCount: 1 }, input.cadence) === 'equal')
    return [input.chargeWindow];
  const windows: Interval[] = [];
  const until = epochMs(input.to);
  let window = windowHolding(epochMs(input.from), reset, input.cadence);
  while (window.start < until) {
    windows.push({ start: instantText(window.start), end: instantText(window.end) });
    window = windowHolding(window.end, reset, input.cadence);
  }
  return windows;
}

function windowHolding(
  instant: number,
  reset: BillingPeriod,
  cadence: AllowanceCadence,
): { start: number; end: number } {
  const { timezone } = cadence;
  const local = localTime(instant, timezone);
  const anchorLocal = localTime(epochMs(cadence.billingAnchor), timezone);
  const at = (midnight: number): number => firstInstantAt(midnight, timezone);
  const midnight = Math.floor(local / dayMs) * dayMs;
  if (reset === 'DAILY' || reset === 'WEEKLY') {
    const back = reset === 'DAILY' ? 0 : (weekdayOf(local) - weekdayOf(anchorLocal) + 7) % 7;
    const length = reset === 'DAILY' ? 1 : 7;
    const start = midnight - back * dayMs;
    return { start: at(start), end: at(start + length * dayMs) };
  }
  const anchor = dateOf(anchorLocal);
  const date = dateOf(local);
  const step = monthsOfPeriod[reset];
  const apart = (date.year - anchor.year) * 12 + date.month - anchor.month;
  let months = Math.floor(apart / step) * step;
  if (localMidnight(monthsLater(anchor, months, anchor.day)) > local) months -= step;
  return {
    start: at(localMidnight(monthsLater(anchor, months, anchor.day))),
    end: at(localMidnight(monthsLater(anchor, months + step, anchor.day))),
  };
}

/**
 * What is charged of a measured quantity: everything without an entitlement, nothing when it is unlimited, else per reset
 * window the growth of max(0, usage − limit) during the charged time. Lines ahead on the same meter use the allowance first:
 * the sum over all lines is then the growth of the whole meter's overage. spec: catalogue-and-metering §8.4
 */
export function billableQuantity(
  allowance: Allowance | null,
  raw: Decimal,
  windows: readonly WindowUsage[],
): BillableQuantity {
  if (!allowance) return { billable: raw, adjusted: zero, ofWindow: [] };
  const limitOf = ({ limit = allowance.usageLimit }: Pick<WindowUsage, 'limit'>): string | null => limit;
  if (limitOf({}) === null && windows.every((window) => limitOf(window) === null)) {
    return { billable: zero, adjusted: raw, ofWindow: windows.map(() => zero) };
  }
  const ofWindow = windows.map((window) => {
    const limit = limitOf(window);
    if (limit === null) return zero;
    const { before, total, aheadBefore = zero, aheadTotal = zero } = window;
    const over = (usage: Decimal): Decimal => greatest(usage.minus(storedDecimal(limit)), zero);
    const atEnd = over(aheadTotal.plus(total)).minus(over(aheadTotal));
    const atStart = over(aheadBefore.plus(before)).minus(over(aheadBefore));
    return atEnd.minus(atStart);
  });
  const billable = ofWindow.reduce((all, part) => all.plus(part), zero);
  return { billable, adjusted: raw.minus(billable), ofWindow };
}

/**
 * What remains of each bucket when `forgiven` of each reset window is used up in time order.
 * spec: catalogue-and-metering §8.4 (bucketed SUM meter)
 */
export function billableBuckets(
  buckets: readonly { start: string; group: string; value: string }[],
  windows: readonly Interval[],
  forgiven: readonly Decimal[],
): BillableBucket[] {
  const left = forgiven.map((amount) => greatest(amount, zero));
  const positions = bucketWindows(
    buckets.map((bucket) => bucket.start),
    windows,
  );
  return buckets.map(({ start, group, value: text }, index) => {
    const position = positions[index]!;
    const value = decimal(text);
    const taken = least(value, left[position]!);
    left[position] = left[position]!.minus(taken);
    return { start, group, value, billable: value.minus(taken) };
  });
}

/**
 * For each bucket the position of the window it counts in: the last one that has begun, and the first for a bucket that began
 * before it and is cut by it. There is at least one window.
 */
export function bucketWindows(starts: readonly string[], windows: readonly Interval[]): number[] {
  const opens = windows.map((window) => epochMs(window.start));
  return starts.map((start) => {
    const instant = epochMs(start);
    let low = 0;
    let high = opens.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (opens[middle]! <= instant) low = middle;
      else high = middle - 1;
    }
    return low;
  });
}
