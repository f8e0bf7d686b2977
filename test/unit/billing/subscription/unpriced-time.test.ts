import { describe, expect, it } from 'vitest';
import {
  type ItemTerm,
  subscriptionWarnings,
  unpricedTime,
  zoneWarnings,
} from '../../../../billing/subscription/unpriced-time.ts';
import { at } from '../line/charge-fixture.ts';

const period = { start: at('2026-03-01'), end: at('2026-04-01') };
const term = (start: string, end: string | null = null): ItemTerm => ({ start: at(start), end: end && at(end) });

describe('time of a period without a price', () => {
  it.each<[string, ItemTerm[], [string, string | null] | null]>([
    ['is none under a price that began before', [term('2026-01-01')], null],
    ['is none where one price follows the other', [term('2026-02-01', '2026-03-09'), term('2026-03-09')], null],
    ['is none where the price ends with the period', [term('2026-03-01', '2026-04-01')], null],
    ['is all of it without items', [], ['2026-03-01', null]],
    ['lasts until the first price, also behind the period', [term('2026-11-25')], ['2026-03-01', '2026-11-25']],
    ['may begin in the period', [term('2026-03-01', '2026-03-09')], ['2026-03-09', null]],
    ['may lie between two', [term('2026-03-20'), term('2026-02-01', '2026-03-09')], ['2026-03-09', '2026-03-20']],
    ['is not filled by an item of no length', [term('2026-03-01', '2026-03-01')], ['2026-03-01', null]],
  ])('%s', (_what, items, expected) => {
    const told = expected && { start: at(expected[0]), end: expected[1] && at(expected[1]) };
    expect(unpricedTime(period, items)).toEqual(told);
  });
});

describe('warnings', () => {
  const active = {
    subscriptionStatus: 'active',
    subscriptionType: 'standalone',
    currentPeriodStart: period.start,
    currentPeriodEnd: period.end,
    isOnTestClock: true,
  };
  const late = [{ ...term('2026-11-25'), priceId: 'price_1' }];

  it('name the time, the price that ends it and the reason there may be', () => {
    const [warning] = subscriptionWarnings(active, late);
    expect(warning?.code).toBe('no_price_in_force');
    for (const named of [period.start, at('2026-11-25'), 'price_1', 'test clock'])
      expect(warning?.message).toContain(named);
    expect(subscriptionWarnings({ ...active, isOnTestClock: false }, late)[0]?.message).not.toContain('test clock');
  });

  it('are not given of what has ended or is inherited', () => {
    expect(subscriptionWarnings({ ...active, subscriptionStatus: 'cancelled' }, late)).toEqual([]);
    expect(subscriptionWarnings({ ...active, subscriptionType: 'inherited' }, [])).toEqual([]);
  });

  it('tell of a time zone that gave way', () => {
    expect(zoneWarnings('Asia/Tokyo', 'Europe/Berlin')).toMatchObject([{ code: 'timezone_of_customer' }]);
    expect([zoneWarnings('Asia/Tokyo', 'Asia/Tokyo'), zoneWarnings(null, 'UTC')]).toEqual([[], []]);
  });
});
