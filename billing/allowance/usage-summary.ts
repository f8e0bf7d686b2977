import { decimal, decimalString, hundred, storedDecimal } from '../money/money.ts';
import { earlier, type Interval, later } from '../time/calendar.ts';
import { epochMs, instantText } from '../time/local-time.ts';
import { type Allowance, type AllowanceCadence, resetWindows } from './allowance.ts';

/** The subscription's members that decide when an allowance began and when it begins anew. */
export interface SummarizedSubscription extends AllowanceCadence {
  startDate: string;
  /** When the subscription ends, if that is known. */
  endDate: string | null;
  currentPeriod: Interval;
}

/** The time one allowance counts from, and when it begins anew; null where it never does. */
export interface UsageWindow {
  start: string;
  nextResetAt: string | null;
}

/**
 * The window of a reset period that holds `now`: the current period where it is the billing period, else the reset window of
 * billing; it starts with the subscription at the earliest and is over with it. NEVER counts from the subscription's start.
 * spec: catalogue-and-metering §7.7, §8.4
 */
export function usageWindow(
  subscription: SummarizedSubscription,
  usageResetPeriod: Allowance['usageResetPeriod'],
  now: string,
): UsageWindow {
  const { startDate, endDate, currentPeriod } = subscription;
  if (usageResetPeriod === 'NEVER') return { start: startDate, nextResetAt: null };
  const [window = currentPeriod] = resetWindows({
    allowance: { usageLimit: null, usageResetPeriod },
    cadence: subscription,
    chargeWindow: currentPeriod,
    firstStart: startDate,
    from: now,
    to: instantText(epochMs(now) + 1),
  });
  return {
    start: later(window.start, startDate),
    nextResetAt: endDate === null ? window.end : earlier(window.end, endDate),
  };
}

/**
 * Of the windows that several subscriptions give one feature: the one that is over first, so that the usage shown is the usage
 * of the reset shown; among equals, and where none is ever over, the one that began first. Undefined without any.
 * spec: platform §10.3
 */
export function earliestWindow(windows: readonly UsageWindow[]): UsageWindow | undefined {
  const key = ({ nextResetAt, start }: UsageWindow): string => `${nextResetAt ?? '~'} ${start}`;
  return windows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))[0];
}

/**
 * Usage as part of its limit: a ratio, `0.25` for a quarter; 0 where nothing limits it, and 100 for a limit of zero. Decimal
 * strings. spec: catalogue-and-metering §7.7
 */
export function usagePercent(currentUsage: string, usageLimit: string | null): string {
  if (usageLimit === null) return '0';
  const limit = decimal(usageLimit);
  if (limit.lessThanOrEqualTo(0)) return decimalString(hundred);
  return decimalString(storedDecimal(decimal(currentUsage).dividedBy(limit)));
}
