import { describe, expect, it } from 'vitest';
import {
  earliestWindow,
  type SummarizedSubscription,
  usagePercent,
  usageWindow,
} from '../../../../billing/allowance/usage-summary.ts';

const at = (text: string) => new Date(text).toISOString();

/** Monthly from 31 January at nine, in its second period. */
function subscription(fields: Partial<SummarizedSubscription> = {}): SummarizedSubscription {
  return {
    billingPeriod: 'MONTHLY',
    billingPeriodCount: 1,
    billingAnchor: at('2026-01-31T09:00:00Z'),
    timezone: 'UTC',
    startDate: at('2026-01-31T09:00:00Z'),
    endDate: null,
    currentPeriod: { start: at('2026-02-28T09:00:00Z'), end: at('2026-03-31T09:00:00Z') },
    ...fields,
  };
}

const now = at('2026-03-10T12:00:00Z');

describe('usageWindow', () => {
  it.each(['MONTHLY', null] as const)('is the current period for %s, with its own clock', (reset) => {
    expect(usageWindow(subscription(), reset, now)).toEqual({
      start: at('2026-02-28T09:00:00Z'),
      nextResetAt: at('2026-03-31T09:00:00Z'),
    });
  });

  it('takes three months for a quarter', () => {
    const quarter = { start: at('2026-01-31T09:00:00Z'), end: at('2026-04-30T09:00:00Z') };
    const threeMonths = subscription({ billingPeriodCount: 3, currentPeriod: quarter });
    expect(usageWindow(threeMonths, 'QUARTERLY', now).nextResetAt).toBe(quarter.end);
    expect(usageWindow(threeMonths, 'MONTHLY', now)).toEqual({
      start: at('2026-02-28T00:00:00Z'),
      nextResetAt: at('2026-03-31T00:00:00Z'),
    });
  });

  it('is the local day for DAILY, which a clock change makes shorter', () => {
    const berlin = subscription({ timezone: 'Europe/Berlin' });
    expect(usageWindow(berlin, 'DAILY', at('2026-03-29T12:00:00Z'))).toEqual({
      start: at('2026-03-28T23:00:00Z'),
      nextResetAt: at('2026-03-29T22:00:00Z'),
    });
  });

  it('is the week from the weekday of the anchor', () => {
    expect(usageWindow(subscription(), 'WEEKLY', now)).toEqual({
      start: at('2026-03-07T00:00:00Z'),
      nextResetAt: at('2026-03-14T00:00:00Z'),
    });
  });

  it('begins anew at the boundary itself', () => {
    const midnight = at('2026-03-14T00:00:00Z');
    expect(usageWindow(subscription(), 'WEEKLY', midnight).start).toBe(midnight);
  });

  it('does not begin before the subscription', () => {
    const started = at('2026-03-10T11:00:00Z');
    expect(usageWindow(subscription({ startDate: started }), 'DAILY', now).start).toBe(started);
  });

  it('is over with the subscription', () => {
    const endDate = at('2026-03-10T18:00:00Z');
    expect(usageWindow(subscription({ endDate }), 'DAILY', now).nextResetAt).toBe(endDate);
    expect(usageWindow(subscription({ endDate: at('2026-04-01T00:00:00Z') }), 'DAILY', now).nextResetAt).toBe(
      at('2026-03-11T00:00:00Z'),
    );
  });

  it('is never over for NEVER', () => {
    expect(usageWindow(subscription({ endDate: at('2026-04-01T00:00:00Z') }), 'NEVER', now)).toEqual({
      start: at('2026-01-31T09:00:00Z'),
      nextResetAt: null,
    });
  });
});

describe('earliestWindow', () => {
  const window = (start: string, nextResetAt: string | null) => ({ start, nextResetAt });

  it('is the one that is over first', () => {
    const windows = [window('2026-01', '2026-04'), window('2026-02', '2026-03'), window('2026-01', null)];
    expect(earliestWindow(windows)).toEqual(windows[1]);
  });

  it('is the one that began first when they are over together or never', () => {
    expect(earliestWindow([window('2026-02', '2026-03'), window('2026-01', '2026-03')])?.start).toBe('2026-01');
    expect(earliestWindow([window('2026-02', null), window('2026-01', null)])?.start).toBe('2026-01');
  });

  it('is none of none', () => {
    expect(earliestWindow([])).toBeUndefined();
  });
});

describe('usagePercent', () => {
  it.each([
    ['100', '400', '0.25'],
    ['0', '400', '0'],
    ['500', '400', '1.25'],
    ['1', '3', '0.333333333333333'],
    ['2', '3', '0.666666666666667'],
    ['0.1', '10', '0.01'],
  ])('of %s in %s is the ratio %s', (usage, limit, ratio) => {
    expect(usagePercent(usage, limit)).toBe(ratio);
  });

  it('is 0 without a limit, and 100 with a limit of zero, used or not', () => {
    expect(usagePercent('7', null)).toBe('0');
    expect(usagePercent('7', '0')).toBe('100');
    expect(usagePercent('0', '0')).toBe('100');
  });
});
