import { Temporal } from 'temporal-polyfill';
import { refuse } from '../refusal.ts';

/**
 * Instants and wall clocks. A local time is a number here: the milliseconds since 1970 a wall clock in the zone shows, as if
 * it were UTC; so calendar fields come from plain date arithmetic and only the offset needs the zone's rules.
 */
export interface CivilDate {
  year: number;
  /** 1 to 12. */
  month: number;
  day: number;
}

export const dayMs = 86_400_000;
const cacheBound = 20_000;
const earliest = Date.UTC(1000, 0, 1);
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const localOfInstant = new Map<string, Map<number, number>>();
const instantOfLocal = new Map<string, Map<number, number>>();

/** Milliseconds since 1970 of an instant's text. */
export function epochMs(instant: string): number {
  const value = Date.parse(instant);
  if (Number.isNaN(value)) throw new RangeError(`not an instant: ${instant}`);
  return value;
}

/** The canonical text of an instant; one outside the years 1000 to 9999 is refused, since it has no such text. */
export function instantText(value: number): string {
  if (!(value >= earliest && value <= latest)) {
    throw refuse(
      'validation_error',
      'the date lies outside the years 1000 to 9999: choose a shorter period or an earlier date',
    );
  }
  return new Date(value).toISOString();
}

/** What a wall clock in the zone shows at an instant. */
export function localTime(instant: number, timezone: string): number {
  if (timezone === 'UTC') return instant;
  return cached(localOfInstant, timezone, instant, () => {
    const zoned = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timezone);
    return instant + Math.floor(zoned.offsetNanoseconds / 1_000_000);
  });
}

/**
 * The instant at which the wall clock shows a local time. A local time that does not exist is moved forward by the gap; of
 * two, the earlier instant is meant. spec: subscriptions-and-invoicing §2.2.1
 */
export function instantAt(local: number, timezone: string): number {
  if (timezone === 'UTC') return local;
  return cached(instantOfLocal, timezone, local, () => zonedAt(local, timezone).epochMilliseconds);
}

/**
 * As `instantAt`, but a local time that does not exist means the first instant after the gap.
 * spec: catalogue-and-metering §7.2
 */
export function firstInstantAt(local: number, timezone: string): number {
  const moved = instantAt(local, timezone);
  if (localTime(moved, timezone) === local) return moved;
  const transition = Temporal.Instant.fromEpochMilliseconds(moved + 1)
    .toZonedDateTimeISO(timezone)
    .getTimeZoneTransition('previous');
  return transition ? transition.epochMilliseconds : moved;
}

/** The first instant after `instant` at which the zone's offset changes; null when it never does. */
export function nextOffsetChange(instant: number, timezone: string): number | null {
  if (timezone === 'UTC') return null;
  const transition = Temporal.Instant.fromEpochMilliseconds(instant)
    .toZonedDateTimeISO(timezone)
    .getTimeZoneTransition('next');
  return transition ? transition.epochMilliseconds : null;
}

/** The last instant at or before `instant` at which the zone's offset changed; null when it never did. */
export function lastOffsetChange(instant: number, timezone: string): number | null {
  if (timezone === 'UTC') return null;
  const transition = Temporal.Instant.fromEpochMilliseconds(instant + 1)
    .toZonedDateTimeISO(timezone)
    .getTimeZoneTransition('previous');
  return transition ? transition.epochMilliseconds : null;
}

export function clockOf(local: number): number {
  return local - Math.floor(local / dayMs) * dayMs;
}

export function dateOf(local: number): CivilDate {
  const date = new Date(local);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** Days since Monday, 0 to 6. 1970-01-01 was a Thursday. */
export function weekdayOf(local: number): number {
  return (((Math.floor(local / dayMs) + 3) % 7) + 7) % 7;
}

export function localMidnight(date: CivilDate): number {
  return Date.UTC(date.year, date.month - 1, date.day);
}

export function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** The date `months` later, on day `day` or, in a shorter month, its last. */
export function monthsLater(from: CivilDate, months: number, day: number): CivilDate {
  const index = from.year * 12 + from.month - 1 + months;
  const year = Math.floor(index / 12);
  const month = index - year * 12 + 1;
  return { year, month, day: Math.min(day, daysInMonth(year, month)) };
}

function zonedAt(local: number, timezone: string): Temporal.ZonedDateTime {
  const date = new Date(local);
  return new Temporal.PlainDateTime(
    date.getUTCFullYear(),
    date.getUTCMonth() + 1,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
    date.getUTCMilliseconds(),
  ).toZonedDateTime(timezone, { disambiguation: 'compatible' });
}

/** Zone rules are slow and a burst of renewals asks for the same few instants. */
function cached(cache: Map<string, Map<number, number>>, timezone: string, key: number, compute: () => number): number {
  let ofZone = cache.get(timezone);
  if (!ofZone) {
    ofZone = new Map();
    cache.set(timezone, ofZone);
  }
  const known = ofZone.get(key);
  if (known !== undefined) return known;
  if (ofZone.size >= cacheBound) ofZone.clear();
  const value = compute();
  ofZone.set(key, value);
  return value;
}
