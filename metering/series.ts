import { type Decimal, decimal, decimalString, zero } from '../billing/money/money.ts';
import { refuse } from '../billing/refusal.ts';
import { isTimeZone } from '../billing/time/calendar.ts';
import { windowBounds, windowSizes } from '../billing/time/window.ts';
import type { SeriesWindow, SeriesWindows } from './series-window.ts';
import type { UsageBucket, UsageQuestion } from './usage-store.ts';

const maxWindows = 20_000;

/** About how long a window of each size lasts, and the next larger size whose windows end where some of it do. */
const lengths: Readonly<Record<string, { readonly ms: number; readonly within: string | null }>> = {
  MINUTE: { ms: 60_000, within: 'HOUR' },
  '15MIN': { ms: 15 * 60_000, within: 'HOUR' },
  '30MIN': { ms: 30 * 60_000, within: 'HOUR' },
  HOUR: { ms: 3_600_000, within: 'DAY' },
  '3HOUR': { ms: 3 * 3_600_000, within: 'DAY' },
  '6HOUR': { ms: 6 * 3_600_000, within: 'DAY' },
  '12HOUR': { ms: 12 * 3_600_000, within: 'DAY' },
  DAY: { ms: 86_400_000, within: null },
};

/**
 * The windows that `[from, to)` touches, clipped to it, in order. Throws `validation_error` for an unknown size, or when
 * they are more than 20 000. spec: catalogue-and-metering §7.2
 */
export function seriesWindows(interval: { from: string; to: string }, windows: SeriesWindows): SeriesWindow[] {
  const list: SeriesWindow[] = [];
  for (let from = interval.from; from < interval.to; ) {
    const { start, end } = windowAt(from, windows);
    const isLast = end >= interval.to;
    const to = isLast ? interval.to : end;
    list.push({ start, from, to });
    if (list.length > maxWindows) throw tooManyWindows();
    from = to;
  }
  return list;
}

/**
 * The windows of `[from, to)` that may hold an event, clipped to it, in order. Where they are many, larger windows are asked
 * about first, and only those that `holding` finds an event in are taken apart: a month of minutes has 44 640 windows, and
 * most customers have events in few of them. Throws as `seriesWindows` does, for the windows that are left.
 * spec: catalogue-and-metering §7.2
 */
export async function windowsToAsk(
  interval: { from: string; to: string },
  windows: SeriesWindows,
  holding: (larger: readonly SeriesWindow[]) => Promise<readonly SeriesWindow[]>,
): Promise<SeriesWindow[]> {
  const length = lengths[windows.windowSize];
  const isMany = length && Date.parse(interval.to) - Date.parse(interval.from) > (length.ms * maxWindows) / 2;
  if (!isMany || length.within === null) return seriesWindows(interval, windows);
  const larger = await windowsToAsk(interval, { ...windows, windowSize: length.within }, holding);
  const pieces: SeriesWindow[] = [];
  for (const window of await holding(larger)) {
    pieces.push(...seriesWindows(window, windows));
    if (pieces.length > maxWindows) throw tooManyWindows();
  }
  return pieces;
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
  const from = sixDecimals(interval.from);
  const sums = new Map<string, Decimal>();
  let window = { start: '', end: '' };
  for (const row of rows) {
    const natural = sixDecimals(row.start);
    const clipped = natural < from ? from : natural;
    if (isLarger && clipped >= window.end) window = windowAt(clipped, windows);
    const start = isLarger ? window.start : row.start;
    sums.set(start, (sums.get(start) ?? zero).plus(decimal(row.value)));
  }
  return [...sums].map(([start, sum]) => ({ start, value: decimalString(sum) }));
}

/** The window that holds an instant; its end with six decimals, as instants of questions have them. */
export function windowAt(timestamp: string, windows: SeriesWindows): { start: string; end: string } {
  const { windowSize, billingAnchor } = windows;
  const bounds = windowBounds({ timestamp, windowSize, timezone: knownZone(windows.timezone), billingAnchor });
  return { start: bounds.start, end: sixDecimals(bounds.end) };
}

function tooManyWindows() {
  const problem = `gives more than ${maxWindows} windows: choose a larger one`;
  return refuse('validation_error', `window_size ${problem}`, { fields: { window_size: problem } });
}

/** An unknown zone is UTC. spec: catalogue-and-metering §1.2 T3 */
export function knownZone(timezone: string | null | undefined): string {
  return timezone && isTimeZone(timezone) ? timezone : 'UTC';
}

function sixDecimals(instant: string): string {
  return instant.length === 24 ? `${instant.slice(0, 23)}000Z` : instant;
}
