import type { Interval } from '../time/calendar.ts';
import { dayMs, epochMs, firstInstantAt, localTime } from '../time/local-time.ts';
import { windowBounds } from '../time/window.ts';
import type { GrantTerms } from './grant.ts';

const hourMs = 3_600_000;
const unitMs = { hour: hourMs, day: dayMs, week: 7 * dayMs };

/** An instant in UTC with six decimals, so that two compare as texts: events have microseconds. */
export type Microsecond = string;

/** An instant's text, with any number of decimals, as a `Microsecond`. */
export function toMicrosecond(instant: string): Microsecond {
  const [, seconds = '', fraction = ''] = /^(.{19})(?:\.(\d+))?Z$/.exec(instant) ?? [];
  if (seconds === '') throw new RangeError(`not an instant in UTC: ${instant}`);
  return `${seconds}.${fraction.slice(0, 6).padEnd(6, '0')}Z`;
}

/** As instants are written everywhere: milliseconds, or microseconds where there are any. */
export function fromMicrosecond(instant: Microsecond): string {
  return instant.endsWith('000Z') ? `${instant.slice(0, -4)}Z` : instant;
}

/** The windows of one budget that usage has opened so far. */
export interface GrantWindows {
  /** In order; grows with the events that were met. */
  readonly opened: readonly Interval[];
  /** Opens what an event at this instant needs. Events are met in time order. */
  meet(instant: Microsecond): void;
}

/**
 * The windows of one budget in a billing period, which the meter's events open one after another. A whole-period budget
 * is one window. Otherwise the first event that no window covers opens the next: at its own time (`first_usage`), or at the
 * start of the stride of local hours, days or weeks that holds it (`unit_start`), but not before the last window's end. A
 * window lasts its elapsed length; it never passes the period's end, and reaches it where less than an hour would remain. A
 * length that is not shorter than the period gives one window, from the first event to the end.
 * spec: catalogue-and-metering §9.1, §9.2
 */
export function grantWindows(
  grant: Pick<GrantTerms, 'durationUnit' | 'durationValue' | 'allocation'>,
  cycle: Interval,
  timezone: string,
): GrantWindows {
  const start = toMicrosecond(cycle.start);
  const end = toMicrosecond(cycle.end);
  if (grant.durationUnit === 'subscription_period') return { opened: [{ start, end }], meet: () => undefined };
  const length = unitMs[grant.durationUnit] * (grant.durationValue ?? 1);
  const isWhole = length > epochMs(end) - epochMs(start) || plus(start, length) >= end;
  const strideHolding = isWhole || grant.allocation === 'first_usage' ? null : strides(grant, start, timezone);
  const opened: Interval[] = [];
  let covered = start;
  return {
    opened,
    meet(instant) {
      while (instant >= covered && instant < end) {
        const stride = strideHolding?.(instant) ?? instant;
        const from = stride > covered ? stride : covered;
        const opens = strideHolding ? from : instant;
        const to = isWhole ? end : plus(opens, length);
        covered = isWhole || plus(to, hourMs) > end ? end : to;
        opened.push({ start: opens, end: covered });
      }
    },
  };
}

/** Where the stride begins that holds an instant, counted from the unit boundary that holds the period's start. */
function strides(
  grant: Pick<GrantTerms, 'durationUnit' | 'durationValue'>,
  cycleStart: Microsecond,
  timezone: string,
): (instant: Microsecond) => Microsecond {
  const unit = grant.durationUnit as 'hour' | 'day' | 'week';
  const windowSize = { hour: 'HOUR', day: 'DAY', week: 'WEEK' }[unit];
  const origin = epochMs(windowBounds({ timestamp: cycleStart, windowSize, timezone }).start);
  const length = unitMs[unit] * (grant.durationValue ?? 1);
  if (unit === 'hour') {
    return (instant) => textOf(origin + Math.floor((epochMs(instant) - origin) / length) * length);
  }
  // Calendar steps: midnights of the local clock, whatever lies between them.
  const firstMidnight = Math.floor(localTime(origin, timezone) / dayMs) * dayMs;
  const boundary = (index: number): number => firstInstantAt(firstMidnight + index * length, timezone);
  return (text) => {
    const instant = epochMs(text);
    let index = Math.floor((localTime(instant, timezone) - firstMidnight) / length);
    while (boundary(index) > instant) index -= 1;
    while (boundary(index + 1) <= instant) index += 1;
    return textOf(boundary(index));
  };
}

function plus(instant: Microsecond, ms: number): Microsecond {
  return `${new Date(epochMs(instant) + ms).toISOString().slice(0, 23)}${instant.slice(23)}`;
}

function textOf(ms: number): Microsecond {
  return toMicrosecond(new Date(ms).toISOString());
}
