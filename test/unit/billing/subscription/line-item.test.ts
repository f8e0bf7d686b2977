import { describe, expect, it } from 'vitest';
import {
  lineItemEnd,
  lineItemTerm,
  type QuantityItem,
  refuseCadence,
  refuseQuantity,
  refuseUnchangeable,
  versionStart,
} from '../../../../billing/subscription/line-item.ts';
import type { SubscriptionState } from '../../../../billing/subscription/subscription.ts';
import { at } from '../line/charge-fixture.ts';
import { refusalOf } from '../refused.ts';

const state = {
  status: 'active',
  startDate: at('2026-01-10'),
  endDate: at('2026-12-10'),
  currentPeriodStart: at('2026-03-10'),
  currentPeriodEnd: at('2026-04-10'),
} as SubscriptionState;
const endless = { ...state, endDate: null };

/** The field a refusal names; null when nothing is refused. */
const fieldOf = (call: () => unknown) => {
  const refused = refusalOf(call);
  if (!refused) return null;
  expect(refused.code).toBe('validation_error');
  return Object.keys((refused.details as { fields: Record<string, string> }).fields)[0];
};

describe('line items are taken by a subscription (subscriptions-and-invoicing §1.9)', () => {
  it.each(['active', 'trialing', 'draft'] as const)('that is %s', (status) => {
    expect(fieldOf(() => refuseUnchangeable({ status }))).toBeNull();
  });

  it.each(['paused', 'cancelled', 'incomplete'] as const)('and not by one that is %s, which it says', (status) => {
    expect(fieldOf(() => refuseUnchangeable({ status }))).toBe('subscription_id');
    expect(fieldOf(() => refuseUnchangeable({ status }, 'id'))).toBe('id');
    expect(() => refuseUnchangeable({ status })).toThrow(status);
  });
});

describe('a new line item is in force (subscriptions-and-invoicing §1.9)', () => {
  const term = (start: string, end: string | null, isOneTime = false, subscription = state) =>
    lineItemTerm(subscription, { start: at(start), end: end && at(end), isOneTime });

  it('from its start to its end', () => {
    expect(term('2026-03-15', '2026-06-01')).toEqual({ start: at('2026-03-15'), end: at('2026-06-01') });
  });

  it('to the end of the subscription when it has none, and without end in an endless one', () => {
    expect(term('2026-03-15', null)).toEqual({ start: at('2026-03-15'), end: at('2026-12-10') });
    expect(term('2026-03-15', null, false, endless)).toEqual({ start: at('2026-03-15'), end: null });
  });

  it('on the very bounds of the subscription, and for no time at all', () => {
    expect(term('2026-01-10', '2026-12-10')).toEqual({ start: at('2026-01-10'), end: at('2026-12-10') });
    expect(term('2026-03-15', '2026-03-15').end).toBe(at('2026-03-15'));
  });

  it.each([
    ['before the subscription', '2026-01-09T23:59:59.999Z', null, false, 'start_date'],
    ['at the end of the subscription', '2026-12-10', null, false, 'start_date'],
    ['until before it begins', '2026-03-15', '2026-03-14', false, 'end_date'],
    ['beyond the subscription', '2026-03-15', '2026-12-10T00:00:00.001Z', false, 'end_date'],
    ['once, in a period that is billed', '2026-03-09', null, true, 'start_date'],
  ] as const)('but not %s', (_name, start, end, isOneTime, field) => {
    expect(fieldOf(() => term(start, end, isOneTime))).toBe(field);
  });

  it('once, from the first instant of the current period on', () => {
    expect(fieldOf(() => term('2026-03-10', null, true))).toBeNull();
    expect(fieldOf(() => term('2026-03-09', null, false))).toBeNull();
  });
});

describe('the cadence of a line item (subscriptions-and-invoicing §1.9, §2.6.3)', () => {
  const cadence = (billingPeriod: 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'QUARTERLY' | 'ANNUAL' | 'ONETIME', count = 1) => ({
    billingPeriod,
    billingPeriodCount: count,
  });

  it.each([
    ['the same', cadence('MONTHLY'), cadence('MONTHLY')],
    ['the same in other words', cadence('QUARTERLY'), cadence('MONTHLY', 3)],
    ['a part', cadence('MONTHLY'), cadence('QUARTERLY')],
    ['a multiple', cadence('ANNUAL'), cadence('QUARTERLY')],
    ['days inside months', cadence('DAILY'), cadence('MONTHLY')],
    ['once', cadence('ONETIME'), cadence('MONTHLY')],
  ])('may be %s of the subscription', (_name, price, subscription) => {
    expect(fieldOf(() => refuseCadence(price, subscription, 'price_id'))).toBeNull();
  });

  it.each([
    ['neither part nor multiple', cadence('MONTHLY', 2), cadence('QUARTERLY')],
    ['months in a subscription of weeks', cadence('MONTHLY'), cadence('WEEKLY')],
    ['weeks that do not divide', cadence('WEEKLY', 3), cadence('WEEKLY', 2)],
  ])('but not %s', (_name, price, subscription) => {
    expect(fieldOf(() => refuseCadence(price, subscription, 'price_id'))).toBe('price_id');
  });
});

describe('a new version of a line item takes over (subscriptions-and-invoicing §1.9)', () => {
  const term = { start: at('2026-02-01'), end: at('2026-05-01') };

  it.each(['2026-02-01', '2026-03-01', '2026-04-30T23:59:59.999Z'])('at %s, inside its time', (from) => {
    expect(versionStart(term, at(from))).toBe(at(from));
  });

  it.each(['2026-01-31T23:59:59.999Z', '2026-05-01', '2026-06-01'])('but not at %s', (from) => {
    expect(fieldOf(() => versionStart(term, at(from)))).toBe('effective_from');
  });

  it('however late, of an item without end', () => {
    expect(versionStart({ ...term, end: null }, at('2030-01-01'))).toBe(at('2030-01-01'));
  });
});

describe('a line item ends (subscriptions-and-invoicing §1.9)', () => {
  const term = { start: at('2026-02-01'), end: null, isOneTime: false };

  it('when it is asked to, from its start on', () => {
    expect(lineItemEnd(term, at('2026-02-01'))).toBe(at('2026-02-01'));
    expect(lineItemEnd(term, at('2027-02-01'))).toBe(at('2027-02-01'));
  });

  it('earlier than it would, and never later', () => {
    const ending = { ...term, end: at('2026-06-01') };
    expect(lineItemEnd(ending, at('2026-05-31'))).toBe(at('2026-05-31'));
    for (const from of ['2026-06-01', '2026-07-01']) {
      expect(fieldOf(() => lineItemEnd(ending, at(from)))).toBe('effective_from');
    }
  });

  it('not before it began', () => {
    expect(fieldOf(() => lineItemEnd(term, at('2026-01-31')))).toBe('effective_from');
  });

  it('not at all where it is charged once', () => {
    expect(fieldOf(() => lineItemEnd({ ...term, isOneTime: true }, at('2026-03-01')))).toBe('id');
  });
});

describe('a quantity changes (subscriptions-and-invoicing §2.9.3, error 30)', () => {
  const item: QuantityItem = { id: 'line_1', priceType: 'FIXED', isOneTime: false, start: at('2026-01-10'), end: null };
  const field = 'line_items[0]';
  const refused = (changed: Partial<QuantityItem>, effective: string, status: SubscriptionState['status'] = 'active') =>
    fieldOf(() => refuseQuantity({ ...state, status }, { ...item, ...changed }, at(effective), field));

  it('in the current period, from its first instant to before its end', () => {
    expect(refused({}, '2026-03-10')).toBeNull();
    expect(refused({}, '2026-04-09T23:59:59.999Z')).toBeNull();
    expect(refused({}, '2026-03-09T23:59:59.999Z')).toBe('line_items[0].effective_date');
    expect(refused({}, '2026-04-10')).toBe('line_items[0].effective_date');
  });

  it('while the item is in force', () => {
    expect(refused({ start: at('2026-03-20') }, '2026-03-20')).toBeNull();
    expect(refused({ start: at('2026-03-20') }, '2026-03-19')).toBe('line_items[0].effective_date');
    expect(refused({ end: at('2026-03-20') }, '2026-03-20')).toBe('line_items[0].effective_date');
  });

  it.each(['trialing', 'draft', 'paused', 'incomplete', 'cancelled'] as const)('not while it is %s', (status) => {
    expect(refused({}, '2026-03-15', status)).toBe('subscription_id');
  });

  it('not of a usage charge and not of a one-time charge', () => {
    expect(refused({ priceType: 'USAGE' }, '2026-03-15')).toBe('line_items[0].id');
    expect(refused({ isOneTime: true }, '2026-03-15')).toBe('line_items[0].id');
  });
});
