import { shownAt } from '../support/local-clock.ts';
import type { BucketSize, Cadence } from './life.ts';

/**
 * Wall clocks and boundaries for the oracle, from the chapter alone: offsets are what Intl shows, found once a zone by looking
 * at every day; no code of `billing/`. spec: subscriptions-and-invoicing §2.2
 */
const dayMs = 86_400_000;
const first = Date.UTC(2018, 0, 1);
const last = Date.UTC(2045, 0, 1);
const changesOf = new Map<string, { at: number; offset: number }[]>();

/** Every change of the zone's offset, the last one first. */
function changes(timezone: string): { at: number; offset: number }[] {
  const known = changesOf.get(timezone);
  if (known) return known;
  const offset = (at: number) => shownAt(at, timezone) - at;
  const found = [{ at: first, offset: offset(first) }];
  for (let day = first; day < last; day += dayMs) {
    if (offset(day) === offset(day + dayMs)) continue;
    let [before, after] = [day, day + dayMs];
    while (after - before > 1000) {
      const middle = Math.floor((before + after) / 2000) * 1000;
      if (offset(middle) === offset(day)) before = middle;
      else after = middle;
    }
    found.unshift({ at: after, offset: offset(after) });
  }
  changesOf.set(timezone, found);
  return found;
}

function offsetAt(instant: number, timezone: string): number {
  if (timezone === 'UTC') return 0;
  return (changes(timezone).find(({ at }) => at <= instant) as { offset: number }).offset;
}

/** What the wall clock shows, as if it were UTC. */
export const shown = (instant: number, timezone: string): number => instant + offsetAt(instant, timezone);

/** A local time that does not exist is moved forward by the gap; of two, the earlier instant is meant. §2.2.1 */
export function instantOf(local: number, timezone: string): number {
  const [before, after] = [offsetAt(local - dayMs, timezone), offsetAt(local + dayMs, timezone)];
  const candidates = [local - before, local - after].filter((at) => shown(at, timezone) === local);
  return candidates.length > 0 ? Math.min(...candidates) : local - before;
}

export interface OracleCadence extends Cadence {
  anchor: number;
  timezone: string;
  /** The clock of every boundary, milliseconds after midnight. */
  clock: number;
}

const monthsOf = { MONTHLY: 1, QUARTERLY: 3, HALF_YEARLY: 6, ANNUAL: 12 };
const lengthOf = (year: number, month: number): number => new Date(Date.UTC(year, month + 1, 0)).getUTCDate();

interface LocalDate {
  year: number;
  /** From 0; may lie outside the year. */
  month: number;
  day: number;
}

function dateAt(instant: number, timezone: string): LocalDate {
  const date = new Date(shown(instant, timezone));
  return { year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate() };
}

/** Local midnight of the day in that month, clamped to its length. */
function clamped(year: number, month: number, day: number): number {
  const begin = new Date(Date.UTC(year, month, 1));
  const length = lengthOf(begin.getUTCFullYear(), begin.getUTCMonth());
  return Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth(), Math.min(day, length));
}

/** §2.2.3, row by row. */
export function nextOf(c: number, cadence: OracleCadence): number {
  const { anchor, timezone, clock, unit, count: u } = cadence;
  const from = dateAt(c, timezone);
  const a = dateAt(anchor, timezone);
  const midnight = Date.UTC(from.year, from.month, from.day);
  const at = (day: number): number => instantOf(day + clock, timezone);
  if (unit === 'DAILY') return at(midnight + u * dayMs);
  if (unit === 'WEEKLY') {
    const weekday = new Date(Date.UTC(a.year, a.month, a.day)).getUTCDay();
    let day = midnight;
    for (let met = 0; met < u; ) {
      day += dayMs;
      if (new Date(day).getUTCDay() === weekday) met += 1;
    }
    return at(day);
  }
  const months = monthsOf[unit] * u;
  if (unit === 'MONTHLY') {
    const k = Math.min(a.day, lengthOf(from.year, from.month));
    return at(from.day < k ? Date.UTC(from.year, from.month, k) : clamped(from.year, from.month + u, a.day));
  }
  if (unit === 'ANNUAL') {
    const b = clamped(from.year, a.month, a.day);
    return at(midnight < b ? b : clamped(from.year + u, a.month, a.day));
  }
  if (c >= anchor) return at(clamped(from.year, from.month + months, a.day));
  let earliest = Date.UTC(a.year, a.month, a.day);
  for (let step = 1; clamped(a.year, a.month - step * months, a.day) > midnight; step += 1) {
    earliest = clamped(a.year, a.month - step * months, a.day);
  }
  return at(earliest);
}

/** The boundary minus one period, same clamping and clock. §2.2.3 */
export function previousOf(b: number, { anchor, timezone, clock, unit, count: u }: OracleCadence): number {
  const date = dateAt(b, timezone);
  const midnight = Date.UTC(date.year, date.month, date.day);
  if (unit === 'DAILY') return instantOf(midnight - u * dayMs + clock, timezone);
  if (unit === 'WEEKLY') return instantOf(midnight - 7 * u * dayMs + clock, timezone);
  const { day } = dateAt(anchor, timezone);
  return instantOf(clamped(date.year, date.month - monthsOf[unit] * u, day) + clock, timezone);
}

/** The anchor of a calendar cycle: the next calendar boundary after the start, count − 1 units further. §2.2.2 */
export function calendarAnchor(start: number, { unit, count: u }: Cadence, timezone: string): number {
  const { year, month, day } = dateAt(start, timezone);
  const midnight = Date.UTC(year, month, day);
  if (unit === 'DAILY') return instantOf(midnight + u * dayMs, timezone);
  if (unit === 'WEEKLY') {
    let monday = midnight + dayMs;
    while (new Date(monday).getUTCDay() !== 1) monday += dayMs;
    return instantOf(monday + 7 * (u - 1) * dayMs, timezone);
  }
  let begin = month + 1;
  while (begin % monthsOf[unit] !== 0) begin += 1;
  return instantOf(Date.UTC(year, begin + (u - 1) * monthsOf[unit], 1), timezone);
}

/** Local start date + days at the start's clock. §2.10 */
export const trialEndOf = (start: number, days: number, timezone: string): number =>
  instantOf(shown(start, timezone) + days * dayMs, timezone);

export const clockOf = (instant: number, timezone: string): number => {
  const local = shown(instant, timezone);
  return local - Math.floor(local / dayMs) * dayMs;
};

const hourMs = 3_600_000;
const wallMs = { '6HOUR': 6 * hourMs, DAY: dayMs };

/** Changes of the clock by a part of an hour. */
const oddChanges = (timezone: string): number[] => {
  if (timezone === 'UTC') return [];
  const all = changes(timezone);
  return all.flatMap(({ at, offset }, index) => {
    const before = all[index + 1]?.offset ?? offset;
    return (offset - before) % hourMs === 0 ? [] : [at];
  });
};

/** The bucket that holds an instant: hours by the clock in force, longer ones between local times. catalogue-and-metering §7.2 */
export function windowStart(at: number, size: BucketSize, timezone: string): number {
  const local = shown(at, timezone);
  if (size === 'HOUR') {
    const start = at - (((local % hourMs) + hourMs) % hourMs);
    return Math.max(start, ...oddChanges(timezone).filter((change) => change <= at));
  }
  const floor = Math.floor(local / wallMs[size]) * wallMs[size];
  // Where the clock went back over a boundary, its first instant counts.
  const [first, next] = [instantOf(floor, timezone), instantOf(floor + wallMs[size], timezone)];
  return next <= at ? next : first;
}

/** The starts of all buckets that a time touches. */
export function windowsOf(
  { start, end }: { start: number; end: number },
  size: BucketSize,
  timezone: string,
): number[] {
  const starts = [windowStart(start, size, timezone)];
  for (let at = starts[0]!; at < end; ) {
    let next: number;
    if (size === 'HOUR') {
      const odd = oddChanges(timezone).filter((change) => change > at);
      const local = shown(at, timezone);
      next = Math.min(at + hourMs - (((local % hourMs) + hourMs) % hourMs), ...odd);
    } else {
      const floor = Math.round(shown(at, timezone) / wallMs[size]) * wallMs[size];
      next = instantOf(floor + wallMs[size], timezone);
    }
    if (next < end) starts.push(next);
    at = next;
  }
  return starts;
}
