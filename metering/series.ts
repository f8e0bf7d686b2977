import { isTimeZone } from '../billing/calendar.ts';
import { refuse } from '../billing/refusal.ts';
import { windowBounds } from '../billing/window.ts';
import type { UsageQuestion } from './usage-store.ts';

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
      timezone: isTimeZone(windows.timezone) ? windows.timezone : 'UTC',
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

function sixDecimals(instant: string): string {
  return instant.length === 24 ? `${instant.slice(0, 23)}000Z` : instant;
}
