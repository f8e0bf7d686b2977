import { isTimeZone } from '../billing/calendar.ts';
import { type Decimal, decimal, decimalString, zero } from '../billing/money.ts';
import { refuse } from '../billing/refusal.ts';
import { windowBounds, windowSizes } from '../billing/window.ts';
import type { UsageBucket, UsageQuestion } from './usage-store.ts';

/** The windows a series is cut into. An unknown zone is UTC (§1.2 T3). `billingAnchor` gives a MONTH its day. spec: catalogue-and-metering §7.2 */
export interface SeriesWindows {
  readonly windowSize: string;
  readonly timezone: string;
  readonly billingAnchor: string | null;
}

export interface SeriesWindow {
  /** Where the window begins by itself, also where the question's interval begins later. */
  readonly start: string;
  readonly from: string;
  readonly to: string;
}

const maxWindows = 20_000;

/**
 * The windows that `[from, to)` touches, clipped to it, in order. Throws `validation_error` for an unknown size, or when
 * they are more than 20 000. spec: catalogue-and-metering §7.2
 */
export function seriesWindows(interval: { from: string; to: string }, windows: SeriesWindows): SeriesWindow[] {
  const list: SeriesWindow[] = [];
  for (let from = interval.from; from < interval.to; ) {
    const bounds = windowBounds({
      timestamp: from,
      windowSize: windows.windowSize,
      timezone: knownZone(windows.timezone),
      billingAnchor: windows.billingAnchor,
    });
    const end = sixDecimals(bounds.end);
    const isLast = end >= interval.to;
    const to = isLast ? interval.to : end;
    list.push({ start: bounds.start, from, to });
    if (list.length > maxWindows) {
      throw refuse('validation_error', `window_size gives more than ${maxWindows} windows: choose a larger one`);
    }
    from = to;
  }
  return list;
}

/** One question a window. A WEIGHTED_SUM is weighed over the whole interval, so its windows add up to the whole. */
export function seriesQuestions(question: UsageQuestion, windows: readonly SeriesWindow[]): UsageQuestion[] {
  const weighedOver = { from: question.from, to: question.to };
  return windows.map((window) => ({
    ...question,
    key: `${question.key} ${window.from}`,
    from: window.from,
    to: window.to,
    weighedOver,
  }));
}

/**
 * The values of windows over buckets: of the buckets themselves where windows are not larger, else of each window the sum
 * of the buckets whose start, clipped to the interval, falls inside. Rows are by start. spec: catalogue-and-metering §7.2
 */
export function bucketPoints(
  rows: readonly UsageBucket[],
  bucketSize: string | null,
  interval: { from: string; to: string },
  windows: SeriesWindows,
): { start: string; value: string }[] {
  const isLarger = windowSizes.indexOf(windows.windowSize) > windowSizes.indexOf(bucketSize ?? '');
  const larger = isLarger ? seriesWindows(interval, windows) : null;
  const from = sixDecimals(interval.from);
  const sums = new Map<string, Decimal>();
  let at = 0;
  for (const row of rows) {
    const natural = sixDecimals(row.start);
    const clipped = natural < from ? from : natural;
    while (larger && (larger[at + 1]?.from ?? '~') <= clipped) at += 1;
    const start = larger?.[at]?.start ?? row.start;
    sums.set(start, (sums.get(start) ?? zero).plus(decimal(row.value)));
  }
  return [...sums].map(([start, sum]) => ({ start, value: decimalString(sum) }));
}

/** An unknown zone is UTC. spec: catalogue-and-metering §1.2 T3 */
export function knownZone(timezone: string | null | undefined): string {
  return timezone && isTimeZone(timezone) ? timezone : 'UTC';
}

function sixDecimals(instant: string): string {
  return instant.length === 24 ? `${instant.slice(0, 23)}000Z` : instant;
}
