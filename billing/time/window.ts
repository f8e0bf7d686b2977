import { refuse } from '../refusal.ts';
import type { Interval } from './calendar.ts';
import {
  dateOf,
  dayMs,
  epochMs,
  firstInstantAt,
  instantText,
  lastOffsetChange,
  localMidnight,
  localTime,
  monthsLater,
  nextOffsetChange,
} from './local-time.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Sizes of elapsed length, on the local clock's grid. */
const elapsedSizes: Record<string, number> = {
  MINUTE: minuteMs,
  '15MIN': 15 * minuteMs,
  '30MIN': 30 * minuteMs,
  HOUR: hourMs,
};

/** Sizes of wall-clock length, from one local boundary to the next. */
const wallSizes: Record<string, number> = {
  '3HOUR': 3 * hourMs,
  '6HOUR': 6 * hourMs,
  '12HOUR': 12 * hourMs,
  DAY: dayMs,
  WEEK: 7 * dayMs,
};

/** 1970-01-05, a Monday: where the grid of weeks lies. */
const firstMonday = 4 * dayMs;

export const windowSizes = [...Object.keys(elapsedSizes), ...Object.keys(wallSizes), 'MONTH'];

/**
 * The usage window that holds an instant. `billingAnchor` gives a MONTH its day (clamped in shorter months); its clock is
 * ignored. Refuses an unknown size. spec: catalogue-and-metering §7.2
 */
export function windowBounds(input: {
  timestamp: string;
  windowSize: string;
  timezone: string;
  billingAnchor?: string | null;
}): Interval {
  const { windowSize, timezone } = input;
  const instant = epochMs(input.timestamp);
  const elapsed = elapsedSizes[windowSize];
  if (elapsed !== undefined) return text(elapsedWindow(instant, elapsed, timezone));
  const wall = wallSizes[windowSize];
  if (wall !== undefined) {
    const origin = windowSize === 'WEEK' ? firstMonday : 0;
    const local = localTime(instant, timezone);
    return text(
      windowBetween(instant, Math.floor((local - origin) / wall), (index) =>
        firstInstantAt(origin + index * wall, timezone),
      ),
    );
  }
  if (windowSize === 'MONTH') return text(monthWindow(instant, timezone, input.billingAnchor ?? null));
  throw refuse('validation_error', `window_size must be one of ${windowSizes.join(', ')}`, {
    fields: { window_size: `must be one of ${windowSizes.join(', ')}` },
  });
}

/**
 * All windows that an interval touches, as arithmetic can find them: a window begins at every `from`, and, where there is
 * a step, between them at every multiple of it counted from `origin`. Milliseconds since 1970.
 */
export interface WindowGrid {
  readonly segments: readonly { readonly from: number; readonly origin: number }[];
  readonly stepMs: number | null;
}

/**
 * The grid of the windows of an interval: a segment a clock change that moves the windows for sizes up to an hour, one a
 * window above. It gives the same windows as `windowBounds`. Refuses an unknown size and more than `maxSegments`.
 * spec: catalogue-and-metering §7.2
 */
export function windowGrid(
  interval: Interval,
  windows: { windowSize: string; timezone: string; billingAnchor?: string | null },
  maxSegments: number,
): WindowGrid {
  const until = epochMs(interval.end);
  const first = windowBounds({ ...windows, timestamp: interval.start });
  const stepMs = elapsedSizes[windows.windowSize] ?? null;
  const segments: { from: number; origin: number }[] = [];
  if (stepMs !== null) {
    const originAt = (at: number): number => {
      const local = localTime(at, windows.timezone);
      return at - (local - Math.floor(local / stepMs) * stepMs);
    };
    segments.push({ from: epochMs(first.start), origin: originAt(epochMs(interval.start)) });
    let change = nextOffsetChange(epochMs(interval.start), windows.timezone);
    for (; change !== null && change <= until; change = nextOffsetChange(change, windows.timezone)) {
      const origin = originAt(change);
      if ((origin - segments.at(-1)!.origin) % stepMs !== 0) segments.push({ from: change, origin });
    }
    return { segments, stepMs };
  }
  for (let window = first; ; window = windowBounds({ ...windows, timestamp: window.end })) {
    const from = epochMs(window.start);
    if (from > until) return { segments, stepMs };
    segments.push({ from, origin: from });
    if (segments.length > maxSegments) {
      throw refuse(
        'validation_error',
        `${windows.windowSize} gives more than ${maxSegments} windows: choose a larger one`,
      );
    }
  }
}

/**
 * The local clock floored to the size by the offset in force, of elapsed length; a clock change that is no multiple of the
 * size ends one window and begins the next.
 */
function elapsedWindow(instant: number, size: number, timezone: string): { start: number; end: number } {
  const local = localTime(instant, timezone);
  const start = instant - (local - Math.floor(local / size) * size);
  const window = { start, end: start + size };
  const offset = (at: number): number => localTime(at, timezone) - at;
  const moved = (other: number): boolean => (offset(other) - offset(instant)) % size !== 0;
  if (moved(window.start)) window.start = lastOffsetChange(instant, timezone) ?? window.start;
  if (moved(window.end - 1)) window.end = nextOffsetChange(instant, timezone) ?? window.end;
  return window;
}

function monthWindow(instant: number, timezone: string, billingAnchor: string | null): { start: number; end: number } {
  const day = billingAnchor === null ? 1 : dateOf(localTime(epochMs(billingAnchor), timezone)).day;
  const date = dateOf(localTime(instant, timezone));
  const boundary = (index: number): number =>
    firstInstantAt(
      localMidnight(monthsLater({ year: Math.floor(index / 12), month: 1, day: 1 }, index % 12, day)),
      timezone,
    );
  return windowBetween(instant, date.year * 12 + date.month - 1, boundary);
}

/**
 * The pair of neighbouring boundaries around an instant, searched from a first guess: near a clock change the guess can be one
 * off, and where a whole day does not exist two boundaries are one instant.
 */
function windowBetween(
  instant: number,
  guess: number,
  boundary: (index: number) => number,
): { start: number; end: number } {
  let index = guess;
  while (boundary(index) > instant) index -= 1;
  while (boundary(index + 1) <= instant) index += 1;
  return { start: boundary(index), end: boundary(index + 1) };
}

function text(window: { start: number; end: number }): Interval {
  return { start: instantText(window.start), end: instantText(window.end) };
}
