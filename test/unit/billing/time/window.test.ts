import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resetWindows } from '../../../../billing/allowance/allowance.ts';
import { canonicalInstant, millisecondsBetween } from '../../../../billing/time/calendar.ts';
import { windowBounds, windowSizes } from '../../../../billing/time/window.ts';
import { instants, periods, zones } from '../arbitraries.ts';

const at = (text: string): string => canonicalInstant(text)!;

describe('usage windows (catalogue-and-metering §7.2)', () => {
  it.each([
    ['a day of 23 hours', '2026-03-08T12:00Z', 'DAY', 'America/New_York', '2026-03-08T05:00Z', '2026-03-09T04:00Z'],
    ['weeks begin on Monday', '2026-01-04T23:59:59Z', 'WEEK', 'UTC', '2025-12-29T00:00Z', '2026-01-05T00:00Z'],
    ['half-hour zones', '2026-01-01T00:10Z', 'HOUR', 'Asia/Kolkata', '2025-12-31T23:30Z', '2026-01-01T00:30Z'],
    [
      'the first of a repeated hour',
      '2026-11-01T05:30Z',
      'HOUR',
      'America/New_York',
      '2026-11-01T05:00Z',
      '2026-11-01T06:00Z',
    ],
    [
      'the second of a repeated hour',
      '2026-11-01T06:30Z',
      'HOUR',
      'America/New_York',
      '2026-11-01T06:00Z',
      '2026-11-01T07:00Z',
    ],
    [
      'two hours where three are on the clock',
      '2026-03-08T06:30Z',
      '3HOUR',
      'America/New_York',
      '2026-03-08T05:00Z',
      '2026-03-08T07:00Z',
    ],
    [
      'a half-hour change ends a window',
      '2026-04-04T14:45Z',
      'HOUR',
      'Australia/Lord_Howe',
      '2026-04-04T14:00Z',
      '2026-04-04T15:00Z',
    ],
    [
      'a midnight that does not exist',
      '2024-09-08T12:00Z',
      'DAY',
      'America/Santiago',
      '2024-09-08T04:00Z',
      '2024-09-09T03:00Z',
    ],
    ['a day that does not exist', '2011-12-30T09:00Z', 'DAY', 'Pacific/Apia', '2011-12-29T10:00Z', '2011-12-30T10:00Z'],
    [
      'a half-hour change within a window ends it',
      '2016-05-01T06:45Z',
      'HOUR',
      'America/Caracas',
      '2016-05-01T06:30Z',
      '2016-05-01T07:00Z',
    ],
    ['and begins the next', '2016-05-01T07:10Z', 'HOUR', 'America/Caracas', '2016-05-01T07:00Z', '2016-05-01T08:00Z'],
  ])('%s', (_, timestamp, windowSize, timezone, start, end) => {
    expect(windowBounds({ timestamp: at(timestamp), windowSize, timezone })).toEqual({
      start: at(start),
      end: at(end),
    });
  });

  it('months lie on the anchor’s local day, clamped, and come back to it', () => {
    const month = (timestamp: string) =>
      windowBounds({
        timestamp: at(timestamp),
        windowSize: 'MONTH',
        timezone: 'UTC',
        billingAnchor: at('2026-01-31T10:00Z'),
      });
    expect(month('2026-02-15T00:00Z')).toEqual({ start: at('2026-01-31T00:00Z'), end: at('2026-02-28T00:00Z') });
    expect(month('2026-02-28T00:00Z')).toEqual({ start: at('2026-02-28T00:00Z'), end: at('2026-03-31T00:00Z') });
  });

  it('refuses an unknown size, naming the known ones', () => {
    expect(() => windowBounds({ timestamp: at('2026-01-01T00:00Z'), windowSize: 'YEAR', timezone: 'UTC' })).toThrow(
      /MINUTE.*MONTH/,
    );
  });

  it('hold their instant and tile the time line', () => {
    fc.assert(
      fc.property(
        instants,
        fc.constantFrom(...windowSizes),
        zones,
        fc.option(instants),
        (timestamp, windowSize, timezone, billingAnchor) => {
          const given = { windowSize, timezone, billingAnchor };
          const window = windowBounds({ ...given, timestamp });
          expect(window.start <= timestamp && timestamp < window.end).toBe(true);
          expect(windowBounds({ ...given, timestamp: window.start })).toEqual(window);
          const last = new Date(Date.parse(window.end) - 1).toISOString();
          expect(windowBounds({ ...given, timestamp: last })).toEqual(window);
          expect(windowBounds({ ...given, timestamp: window.end }).start).toBe(window.end);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('reset windows of an allowance (catalogue-and-metering §8.4)', () => {
  it('cover the charged time without gap or overlap', () => {
    const resets = fc.option(fc.oneof(periods, fc.constant('NEVER' as const)));
    fc.assert(
      fc.property(
        resets,
        periods,
        instants,
        instants,
        fc.integer({ min: 1, max: 400 }),
        zones,
        (reset, period, billingAnchor, from, days, timezone) => {
          const to = new Date(Date.parse(from) + days * 86_400_000).toISOString();
          const windows = resetWindows({
            allowance: { usageLimit: '1', usageResetPeriod: reset },
            cadence: { billingPeriod: period, billingPeriodCount: 1, billingAnchor, timezone },
            chargeWindow: { start: from, end: to },
            firstStart: from,
            from,
            to,
          });
          expect(windows[0]!.start <= from).toBe(true);
          expect(windows[windows.length - 1]!.end >= to).toBe(true);
          for (const [position, window] of windows.entries()) {
            expect(millisecondsBetween(window.start, window.end)).toBeGreaterThan(0);
            if (position > 0) expect(window.start).toBe(windows[position - 1]!.end);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([
    ['WEEKLY', '2026-01-07T15:00Z', '2026-01-05T00:00Z', ['2025-12-31T00:00Z', '2026-01-07T00:00Z']],
    ['MONTHLY', '2025-12-31T15:00Z', '2026-02-10T00:00Z', ['2026-01-31T00:00Z', '2026-02-28T00:00Z']],
    ['QUARTERLY', '2025-11-15T15:00Z', '2026-01-20T00:00Z', ['2025-11-15T00:00Z', '2026-02-15T00:00Z']],
  ] as ['WEEKLY' | 'MONTHLY' | 'QUARTERLY', string, string, string[]][])(
    '%s windows run on the anchor',
    (reset, anchor, from, bounds) => {
      const [window] = resetWindows({
        allowance: { usageLimit: '1', usageResetPeriod: reset },
        cadence: { billingPeriod: 'ANNUAL', billingPeriodCount: 1, billingAnchor: at(anchor), timezone: 'UTC' },
        chargeWindow: { start: at(from), end: at('2026-12-31T00:00Z') },
        firstStart: at(from),
        from: at(from),
        to: at('2026-12-31T00:00Z'),
      });
      expect([window!.start, window!.end]).toEqual(bounds.map(at));
    },
  );
});
