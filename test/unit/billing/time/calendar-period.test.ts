import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BillingPeriod,
  billingAnchor,
  type Cadence,
  canonicalInstant,
  firstCalendarPeriod,
  firstPeriod,
  nextBoundary,
  periodContaining,
  periodFrom,
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

describe('billing anchor (subscriptions-and-invoicing §2.2.2)', () => {
  const calendar = { billingCycle: 'calendar' as const, billingPeriodCount: 1, timezone: 'UTC' };

  it.each([
    ['a month', '2026-03-17', 'MONTHLY', 1, 'UTC', '2026-04-01'],
    ['a start on a boundary takes the next', '2026-03-01', 'MONTHLY', 1, 'UTC', '2026-04-01'],
    ['the next Monday', '2026-06-10T08:00Z', 'WEEKLY', 1, 'UTC', '2026-06-15'],
    ['the local month', '2026-12-31T20:00Z', 'MONTHLY', 1, 'Asia/Kolkata', '2027-01-31T18:30Z'],
    ['midnight', '2024-10-28T13:30Z', 'DAILY', 3, 'Pacific/Apia', '2024-10-31T11:00Z'],
    ['quarters of the year, count − 1 further', '2026-02-10', 'QUARTERLY', 2, 'UTC', '2026-07-01'],
    ['half years', '2026-07-01', 'HALF_YEARLY', 1, 'UTC', '2027-01-01'],
    ['years', '2026-07-01', 'ANNUAL', 1, 'UTC', '2027-01-01'],
  ] as [string, string, BillingPeriod, number, string, string][])(
    'calendar: %s',
    (_, startDate, billingPeriod, billingPeriodCount, timezone, anchor) => {
      expect(
        billingAnchor({ ...calendar, billingPeriod, billingPeriodCount, timezone, startDate: at(startDate) }),
      ).toBe(at(anchor));
    },
  );

  it('anniversary: the requested one, else the start', () => {
    const given = {
      ...calendar,
      billingCycle: 'anniversary' as const,
      billingPeriod: 'MONTHLY' as const,
      startDate: at('2026-03-17'),
    };
    expect(billingAnchor(given)).toBe(at('2026-03-17'));
    expect(billingAnchor({ ...given, requestedAnchor: at('2026-03-20') })).toBe(at('2026-03-20'));
  });

  it('refuses a requested anchor on a calendar cycle', () => {
    const call = (): string =>
      billingAnchor({
        ...calendar,
        billingPeriod: 'MONTHLY',
        startDate: at('2026-03-17'),
        requestedAnchor: at('2026-03-20'),
      });
    expect(refusalOf(call)?.details).toHaveProperty('fields.billing_anchor');
  });

  it('ends the first period on a calendar cycle', () => {
    fc.assert(
      fc.property(
        instants,
        periods,
        fc.integer({ min: 1, max: 5 }),
        zones,
        (startDate, billingPeriod, billingPeriodCount, timezone) => {
          const given = { billingCycle: 'calendar' as const, billingPeriod, billingPeriodCount, timezone, startDate };
          const anchor = billingAnchor(given);
          expect(anchor > startDate).toBe(true);
          expect(nextBoundary({ ...given, anchor, periodStart: startDate })).toBe(anchor);
          const full = firstCalendarPeriod(given);
          expect(full.end).toBe(anchor);
          expect(full.start <= startDate).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('periods', () => {
  it('the first calendar period pays its share of the full one only with create_prorations', () => {
    const given = {
      ...cadence('2026-04-01', 'MONTHLY'),
      billingCycle: 'calendar' as const,
      startDate: at('2026-03-17'),
    };
    expect(firstPeriod({ ...given, prorationBehavior: 'create_prorations' })).toEqual({
      start: at('2026-03-17'),
      end: at('2026-04-01'),
      full: { start: at('2026-03-01'), end: at('2026-04-01') },
    });
    expect(firstPeriod({ ...given, prorationBehavior: 'none' }).full.start).toBe(at('2026-03-17'));
  });

  it('after a trial the first period is whole on either cycle', () => {
    const given = {
      ...cadence('2026-03-17', 'MONTHLY'),
      billingCycle: 'calendar' as const,
      startDate: at('2026-03-17'),
    };
    expect(firstPeriod({ ...given, prorationBehavior: 'create_prorations' }).full.start).toBe(at('2026-03-17'));
  });

  it('a period cut by endDate knows the whole one', () => {
    const period = periodFrom({
      ...cadence('2026-01-01', 'MONTHLY'),
      start: at('2026-03-01'),
      endDate: at('2026-03-20'),
    });
    expect(period).toEqual({
      start: at('2026-03-01'),
      end: at('2026-03-20'),
      full: { start: at('2026-03-01'), end: at('2026-04-01') },
    });
  });

  it('an instant lies in the period that holds it; before the first and after the end in none', () => {
    const given = { ...cadence('2026-01-31', 'MONTHLY'), firstPeriodStart: at('2026-01-31') };
    const held = (instant: string, endDate: string | null = null): string | undefined =>
      periodContaining({ ...given, instant: at(instant), endDate: endDate && at(endDate) })?.start;
    expect(held('2026-02-28')).toBe(at('2026-02-28'));
    expect(held('2026-02-27T23:59:59.999Z')).toBe(at('2026-01-31'));
    expect(held('2026-01-30')).toBeUndefined();
    expect(held('2026-04-05', '2026-04-10')).toBe(at('2026-03-31'));
    expect(held('2026-04-10', '2026-04-10')).toBeUndefined();
  });

  it('refuses a walk of more than 10 000 periods', () => {
    const given = { ...cadence('1990-01-01', 'DAILY'), firstPeriodStart: at('1990-01-01'), instant: at('2026-01-01') };
    expect(refusalOf(() => periodContaining(given))?.code).toBe('validation_error');
  });
});
