import { describe, expect, it } from 'vitest';
import { type PeriodicSubscription, usagePeriods } from '../../../../billing/subscription/usage-period.ts';

const at = (text: string) => new Date(text).toISOString();
const window = (start: string, end: string) => ({ start: at(start), end: at(end) });

function subscription(fields: Partial<PeriodicSubscription> = {}): PeriodicSubscription {
  return {
    startDate: at('2026-01-31T09:00:00Z'),
    trialEnd: null,
    billingAnchor: at('2026-01-31T09:00:00Z'),
    billingPeriod: 'MONTHLY',
    billingPeriodCount: 1,
    billingCycle: 'anniversary',
    timezone: 'UTC',
    ...fields,
  };
}

describe('usagePeriods', () => {
  it('is one period for a window inside it, cut to the window', () => {
    const march = window('2026-03-05T00:00:00Z', '2026-03-06T00:00:00Z');
    expect(usagePeriods(subscription(), march)).toEqual([march]);
  });

  it('is every period a window touches, the first and the last one cut', () => {
    expect(usagePeriods(subscription(), window('2026-02-10T00:00:00Z', '2026-04-01T00:00:00Z'))).toEqual([
      window('2026-02-10T00:00:00Z', '2026-02-28T09:00:00Z'),
      window('2026-02-28T09:00:00Z', '2026-03-31T09:00:00Z'),
      window('2026-03-31T09:00:00Z', '2026-04-01T00:00:00Z'),
    ]);
  });

  it('touches no period that ends where the window starts', () => {
    const period = window('2026-02-28T09:00:00Z', '2026-03-31T09:00:00Z');
    expect(usagePeriods(subscription(), period)).toEqual([period]);
  });

  it('begins with the subscription', () => {
    expect(usagePeriods(subscription(), window('2025-01-01T00:00:00Z', '2026-02-01T00:00:00Z'))).toEqual([
      window('2026-01-31T09:00:00Z', '2026-02-01T00:00:00Z'),
    ]);
    expect(usagePeriods(subscription(), window('2025-01-01T00:00:00Z', '2026-01-31T09:00:00Z'))).toEqual([]);
  });

  it('takes a trial for a period of its own', () => {
    const trialEnd = at('2026-02-14T09:00:00Z');
    const trialed = subscription({ trialEnd, billingAnchor: trialEnd });
    expect(usagePeriods(trialed, window('2026-01-31T09:00:00Z', '2026-04-14T09:00:00Z'))).toEqual([
      window('2026-01-31T09:00:00Z', '2026-02-14T09:00:00Z'),
      window('2026-02-14T09:00:00Z', '2026-03-14T09:00:00Z'),
      window('2026-03-14T09:00:00Z', '2026-04-14T09:00:00Z'),
    ]);
  });

  it('refuses more than a thousand periods, wherever they lie', () => {
    const daily = subscription({ billingPeriod: 'DAILY' });
    expect(usagePeriods(daily, window('2036-01-01T09:00:00Z', '2038-09-27T09:00:00Z'))).toHaveLength(1000);
    expect(() => usagePeriods(daily, window('2036-01-01T09:00:00Z', '2038-09-28T09:00:00Z'))).toThrow(/at most 1000/);
  });
});
