import { expect, test } from 'vitest';
import { firstGrantPeriod, followingGrantPeriod, type GrantPeriod } from '../../../../billing/wallet/credit-grant.ts';

/** Starts of the first periods of a monthly grant that begins at an instant. */
function startsOf(startDate: string, timezone: string, count: number): string[] {
  const grant = {
    cadence: 'RECURRING' as const,
    ...{ period: 'MONTHLY' as const, periodCount: 1, anchor: startDate, startDate, endDate: null },
    timezone,
  };
  const periods: GrantPeriod[] = [firstGrantPeriod(grant)];
  while (periods.length < count) periods.push(followingGrantPeriod(grant, periods.at(-1)!)!);
  return periods.map(({ start }) => start);
}

test('month-end-anchor: a grant of the 31st comes on the last day of short months, and on the 31st again after them', () => {
  const days = startsOf('2027-10-31T09:00:00.000Z', 'UTC', 8).map((start) => start.slice(0, 10));
  expect(days).toEqual([
    ...['2027-10-31', '2027-11-30', '2027-12-31', '2028-01-31'],
    ...['2028-02-29', '2028-03-31', '2028-04-30', '2028-05-31'],
  ]);
});

test('month-end-anchor: the day and the hour are those of the customer, across the change of its clocks', () => {
  expect(startsOf('2026-01-31T23:30:00.000Z', 'Europe/London', 4)).toEqual([
    '2026-01-31T23:30:00.000Z',
    '2026-02-28T23:30:00.000Z',
    '2026-03-31T22:30:00.000Z',
    '2026-04-30T22:30:00.000Z',
  ]);
});
