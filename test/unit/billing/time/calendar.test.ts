import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import {
  addHours,
  type BillingPeriod,
  type Cadence,
  canonicalInstant,
  isTimeZone,
  localDaysBetween,
  nextBoundary,
  periodSeries,
  previousBoundary,
  trialEnd,
} from '../../../../billing/time/calendar.ts';
import { instants, periods, zones } from '../arbitraries.ts';
import { refusalOf } from '../refused.ts';

const cadence = (anchor: string, billingPeriod: BillingPeriod, billingPeriodCount = 1, timezone = 'UTC'): Cadence => ({
  anchor: at(anchor),
  billingPeriod,
  billingPeriodCount,
  timezone,
  billingCycle: 'anniversary',
});

function at(text: string): string {
  return canonicalInstant(text.includes('T') ? text : `${text}T00:00:00Z`)!;
}

describe('next boundary (subscriptions-and-invoicing §2.2.3)', () => {
  it.each([
    ['clamps to February', '2026-01-31', cadence('2026-01-31', 'MONTHLY'), '2026-02-28'],
    ['returns to the anchor’s day', '2026-02-28', cadence('2026-01-31', 'MONTHLY'), '2026-03-31'],
    ['29 February in a common year', '2024-02-29', cadence('2024-02-29', 'ANNUAL'), '2025-02-28'],
    ['29 February again in a leap year', '2027-02-28', cadence('2024-02-29', 'ANNUAL'), '2028-02-29'],
    [
      'short first period for any count',
      '2026-03-10T09:30Z',
      cadence('2026-03-15T09:30Z', 'MONTHLY', 3),
      '2026-03-15T09:30Z',
    ],
    ['weeks reach the anchor’s weekday', '2026-06-10', cadence('2026-06-12', 'WEEKLY', 2), '2026-06-19'],
    [
      'the local clock is kept',
      '2026-02-08T07:30Z',
      cadence('2026-02-08T07:30Z', 'MONTHLY', 1, 'America/New_York'),
      '2026-03-08T07:30Z',
    ],
    [
      'an overlap is the earlier instant',
      '2026-09-25T00:30Z',
      cadence('2026-01-25T01:30Z', 'MONTHLY', 1, 'Europe/Berlin'),
      '2026-10-25T00:30Z',
    ],
    [
      'a day of 23 hours',
      '2026-03-08T05:00Z',
      cadence('2026-02-28T05:00Z', 'DAILY', 1, 'America/New_York'),
      '2026-03-09T04:00Z',
    ],
    ['quarters clamp', '2026-11-30', cadence('2026-08-31', 'QUARTERLY'), '2027-02-28'],
    ['a year’s anchor ahead makes the first year short', '2026-02-01', cadence('2026-06-15', 'ANNUAL'), '2026-06-15'],
    ['a quarter’s anchor far ahead is walked back', '2026-02-01', cadence('2027-06-15', 'QUARTERLY'), '2026-03-15'],
    [
      'days of the walk back compare by local date',
      '2026-03-15',
      cadence('2027-06-15T12:00Z', 'QUARTERLY'),
      '2026-06-15T12:00Z',
    ],
    [
      'an anchor later on the same day is reached first',
      '2026-06-15',
      cadence('2026-06-15T12:00Z', 'QUARTERLY'),
      '2026-06-15T12:00Z',
    ],
  ] as [string, string, Cadence, string][])('%s', (_, periodStart, given, next) => {
    expect(nextBoundary({ ...given, periodStart: at(periodStart) })).toBe(at(next));
  });

  it('ends at endDate when that comes first', () => {
    const given = { ...cadence('2026-04-01', 'MONTHLY'), periodStart: at('2026-06-01') };
    expect(nextBoundary({ ...given, endDate: at('2026-06-11') })).toBe(at('2026-06-11'));
    expect(nextBoundary({ ...given, endDate: at('2026-07-11') })).toBe(at('2026-07-01'));
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses a count of %d', (count) => {
    const call = (): string =>
      nextBoundary({ ...cadence('2026-01-01', 'MONTHLY', count), periodStart: at('2026-01-01') });
    expect(refusalOf(call)?.code).toBe('validation_error');
  });

  it('refuses a boundary no calendar can write', () => {
    const call = (): string =>
      nextBoundary({ ...cadence('2026-01-01', 'ANNUAL', 9000), periodStart: at('2026-01-01') });
    expect(refusalOf(call)?.code).toBe('validation_error');
  });

  it('stays at midnight on a calendar cycle where a gap moved the anchor', () => {
    // Santiago skips midnight of 2024-09-08: the anchor is 01:00 of the wall clock.
    const given = {
      ...cadence('2024-09-08T04:00Z', 'DAILY', 1, 'America/Santiago'),
      billingCycle: 'calendar' as const,
    };
    expect(nextBoundary({ ...given, periodStart: given.anchor })).toBe(at('2024-09-09T03:00Z'));
    expect(nextBoundary({ ...given, billingCycle: 'anniversary', periodStart: given.anchor })).toBe(
      at('2024-09-09T04:00Z'),
    );
  });

  it('keeps the clock of an anchor that a trial set on a calendar cycle', () => {
    const given = { ...cadence('2026-03-06T09:00Z', 'MONTHLY'), billingCycle: 'calendar' as const };
    expect(nextBoundary({ ...given, periodStart: given.anchor })).toBe(at('2026-04-06T09:00Z'));
  });

  it('from its anchor lies where Temporal puts anchor + n intervals', () => {
    const unit = {
      DAILY: 'days',
      WEEKLY: 'weeks',
      MONTHLY: 'months',
      QUARTERLY: 'months',
      HALF_YEARLY: 'months',
      ANNUAL: 'years',
    } as const;
    const size = { DAILY: 1, WEEKLY: 1, MONTHLY: 1, QUARTERLY: 3, HALF_YEARLY: 6, ANNUAL: 1 } as const;
    fc.assert(
      fc.property(instants, periods, fc.integer({ min: 1, max: 5 }), zones, (anchor, period, count, timezone) => {
        const series = periodSeries({ ...cadence(anchor, period, count, timezone), start: anchor, periods: 6 });
        const local = Temporal.Instant.from(anchor).toZonedDateTimeISO(timezone).toPlainDateTime();
        const expected = series.map((_, n) => {
          const wall = local.add({ [unit[period]]: n * count * size[period] });
          return new Date(
            wall.toZonedDateTime(timezone, { disambiguation: 'compatible' }).epochMilliseconds,
          ).toISOString();
        });
        // A whole local day that does not exist (Apia, 2011) lies outside the generated years.
        expect(series.slice(1)).toEqual(expected.slice(1));
      }),
      { numRuns: 300 },
    );
  });

  it('tiles the time line from any start: later every time, and on the anchor’s day or the month’s last', () => {
    fc.assert(
      fc.property(instants, instants, fc.integer({ min: 1, max: 4 }), zones, (anchor, start, count, timezone) => {
        const series = periodSeries({ ...cadence(anchor, 'MONTHLY', count, timezone), start, periods: 8 });
        const day = Temporal.Instant.from(anchor).toZonedDateTimeISO(timezone).day;
        for (const [position, boundary] of series.slice(1).entries()) {
          const local = Temporal.Instant.from(boundary).toZonedDateTimeISO(timezone);
          expect(boundary > series[position]!).toBe(true);
          expect(local.day).toBe(Math.min(day, local.daysInMonth));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('is undone by the previous boundary once on the grid', () => {
    fc.assert(
      fc.property(instants, periods, fc.integer({ min: 1, max: 4 }), zones, (anchor, period, count, timezone) => {
        const given = cadence(anchor, period, count, timezone);
        const [, first, second] = periodSeries({ ...given, start: anchor, periods: 2 });
        expect(previousBoundary({ ...given, boundary: second! })).toBe(first);
      }),
      { numRuns: 200 },
    );
  });
});

describe('trial end (subscriptions-and-invoicing §2.10)', () => {
  it('is local days later at the start’s clock', () => {
    expect(trialEnd({ startDate: at('2026-03-01T05:00Z'), days: 14, timezone: 'America/New_York' })).toBe(
      at('2026-03-15T04:00Z'),
    );
    expect(trialEnd({ startDate: at('2026-03-01T05:00Z'), days: 0, timezone: 'America/New_York' })).toBe(
      at('2026-03-01T05:00Z'),
    );
  });

  it('and its start differ by as many local days', () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: 0, max: 400 }), zones, (startDate, days, timezone) => {
        expect(localDaysBetween(startDate, trialEnd({ startDate, days, timezone }), timezone)).toBe(days);
      }),
      { numRuns: 200 },
    );
  });
});

describe('instants and zones', () => {
  it.each([
    ['2026-01-31T00:00:00Z', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T00:00:00.123999Z', '2026-01-31T00:00:00.123Z'],
    ['2026-01-31T05:30:00+05:30', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31', null],
    ['2026-02-30T00:00:00Z', null],
    ['yesterday', null],
  ])('%s is %s', (text, instant) => {
    expect(canonicalInstant(text)).toBe(instant);
  });

  it('knows IANA names only', () => {
    expect(['UTC', 'Asia/Kolkata', 'Mars/Base', '+02:00', ''].map(isTimeZone)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('adds elapsed hours', () => {
    expect(addHours(at('2026-03-08T05:00Z'), 24)).toBe(at('2026-03-09T05:00Z'));
  });
});
