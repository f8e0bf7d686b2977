import { expect, it } from 'vitest';
import type { ChargeItem } from '../../../../billing/line/charge.ts';
import { at, flat, invoice, item, linesOf, monthly, period } from '../line/charge-fixture.ts';

it('lets an item say by itself how the period in which it begins is charged', () => {
  const [january, february] = ['2026-01-01', '2026-02-01'];
  const amountOf = (own: Partial<ChargeItem>, next = period(january, february), terms: object = {}) => {
    const subscription = { ...monthly, ...terms };
    const seat = item('seat', { price: flat('62'), ...own });
    return linesOf(invoice([seat], { reason: 'opening', elapsed: null, next, subscription })).map(
      ({ amount }) => amount,
    );
  };
  const midway = { startDate: at('2026-01-16T12:00:00Z') };
  expect(amountOf(midway)).toEqual(['31.00']);
  expect(amountOf({ ...midway, prorationBehavior: 'create_prorations' })).toEqual(['31.00']);
  expect(amountOf({ ...midway, prorationBehavior: 'none' })).toEqual([]);
  expect(amountOf({ prorationBehavior: 'none' })).toEqual(['62.00']);
  const cycle = { billingCycle: 'calendar', billingAnchor: at(february), startDate: midway.startDate };
  const whole = period('2026-01-16T12:00:00Z', february);
  const share = period('2026-01-16T12:00:00Z', february, january);
  const none = { ...cycle, prorationBehavior: 'none' };
  const some = { ...cycle, prorationBehavior: 'create_prorations' };
  expect(amountOf({ ...midway, prorationBehavior: 'create_prorations' }, whole, none)).toEqual(['31.00']);
  expect(amountOf({ ...midway, prorationBehavior: 'none' }, share, some)).toEqual(['62.00']);
});
