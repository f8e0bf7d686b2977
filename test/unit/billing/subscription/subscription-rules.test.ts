import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { couponApplies, couponAssociationEnd, couponPeriod } from '../../../../billing/invoice/coupon.ts';
import { inheritedTrialDays, selectPrices } from '../../../../billing/price/price-selection.ts';
import {
  type CollectionMethod,
  openingCollection,
  openingStatus,
  type PaymentBehavior,
} from '../../../../billing/subscription/collection.ts';
import { type ChargeCadence, cadenceRelation } from '../../../../billing/time/cadence.ts';
import { type BillingPeriod, type Cadence, periodSeries } from '../../../../billing/time/calendar.ts';
import { instants, zones } from '../arbitraries.ts';
import { at } from '../line/charge-fixture.ts';
import { refusalOf } from '../refused.ts';

const every = (billingPeriod: ChargeCadence['billingPeriod'], billingPeriodCount = 1): ChargeCadence => ({
  billingPeriod,
  billingPeriodCount,
});

describe('cadence of a price against its subscription (subscriptions-and-invoicing §2.3.2)', () => {
  it.each([
    [every('MONTHLY', 3), every('QUARTERLY'), 'equal'],
    [every('ANNUAL'), every('MONTHLY', 12), 'equal'],
    [every('WEEKLY', 2), every('WEEKLY', 2), 'equal'],
    [every('ONETIME'), every('MONTHLY'), 'onetime'],
    [every('MONTHLY'), every('QUARTERLY'), 'shorter'],
    [every('DAILY', 2), every('DAILY', 6), 'shorter'],
    [every('MONTHLY', 2), every('QUARTERLY'), 'longer'],
    [every('ANNUAL'), every('MONTHLY'), 'longer'],
    [every('DAILY'), every('MONTHLY'), 'finer'],
    [every('DAILY'), every('WEEKLY'), 'finer'],
    [every('WEEKLY'), every('DAILY'), 'longer'],
    [every('MONTHLY'), every('WEEKLY'), 'longer'],
  ] as [ChargeCadence, ChargeCadence, string][])('%o in %o is %s', (price, subscription, relation) => {
    expect(cadenceRelation(price, subscription)).toBe(relation);
  });
});

describe('price selection (subscriptions-and-invoicing §2.3.2)', () => {
  const plan = [
    { id: 'month', ...every('MONTHLY') },
    { id: 'quarter', ...every('QUARTERLY') },
    { id: 'year', ...every('ANNUAL') },
    { id: 'day', ...every('DAILY') },
    { id: 'once', ...every('ONETIME') },
  ];
  const select = (list?: string[] | null): string[] => selectPrices(every('QUARTERLY'), plan, list).map(({ id }) => id);

  it('without a list attaches equal cadences and one-time prices', () => {
    expect([select(), select(null)]).toEqual([
      ['quarter', 'once'],
      ['quarter', 'once'],
    ]);
  });

  it('with a list attaches exactly these, also dividing ones, in the plan’s order', () => {
    expect(select(['once', 'month'])).toEqual(['month', 'once']);
    expect(select([])).toEqual([]);
  });

  it('names every offending id once, in the order listed', () => {
    const refusal = refusalOf(() => select(['year', 'month', 'day', 'nowhere', 'month', 'year']));
    expect(refusal?.code).toBe('validation_error');
    expect(refusal?.details).toMatchObject({ offending: ['year', 'month', 'day', 'nowhere'] });
  });
});

describe('inherited trial', () => {
  const price = (type: 'FIXED' | 'USAGE', billingPeriod: string, trialPeriodDays: number) => ({
    type,
    billingPeriod,
    trialPeriodDays,
  });

  it('is the one of the recurring fixed prices', () => {
    expect(
      inheritedTrialDays([price('FIXED', 'MONTHLY', 14), price('USAGE', 'MONTHLY', 0), price('FIXED', 'ONETIME', 0)]),
    ).toBe(14);
    expect(inheritedTrialDays([])).toBe(0);
  });

  it('is refused when they differ', () => {
    const prices = [price('FIXED', 'MONTHLY', 14), price('FIXED', 'MONTHLY', 0)];
    expect(refusalOf(() => inheritedTrialDays(prices))?.code).toBe('validation_error');
  });
});

describe('collection of the opening invoice (subscriptions-and-invoicing §2.3.4)', () => {
  it.each([
    ['charge_automatically', 'default_active', true, 'active'],
    ['charge_automatically', 'allow_incomplete', true, 'incomplete'],
    ['send_invoice', 'default_active', false, 'active'],
    ['send_invoice', 'default_incomplete', false, 'incomplete'],
  ] as [CollectionMethod, PaymentBehavior, boolean, string][])('%s, %s', (method, behavior, attempt, unpaid) => {
    const collection = openingCollection(method, behavior, '20');
    expect([collection.attempt, openingStatus(collection, false), openingStatus(collection, true)]).toEqual([
      attempt,
      unpaid,
      'active',
    ]);
  });

  it.each([
    ['charge_automatically', 'default_incomplete'],
    ['send_invoice', 'allow_incomplete'],
    ['send_invoice', 'error_if_incomplete'],
  ] as [CollectionMethod, PaymentBehavior][])('refuses %s with %s', (method, behavior) => {
    expect(refusalOf(() => openingCollection(method, behavior, '20'))?.code).toBe('validation_error');
  });

  it('undoes the creation when error_if_incomplete is not paid', () => {
    const collection = openingCollection('charge_automatically', 'error_if_incomplete', '20');
    expect(collection).toMatchObject({ attempt: true, withinCreation: true });
    expect(openingStatus(collection, true)).toBe('active');
    expect(refusalOf(() => openingStatus(collection, false))).toMatchObject({
      code: 'invalid_operation',
      details: { rolled_back: true },
    });
  });

  it('says why the payment failed', () => {
    const collection = openingCollection('charge_automatically', 'error_if_incomplete', '20');
    const refused = refusalOf(() => openingStatus(collection, false, 'card_expired'));
    expect(refused).toMatchObject({ message: expect.stringContaining('card_expired') });
  });

  it('counts an amount of 0 as paid, with nothing attempted', () => {
    const collection = openingCollection('charge_automatically', 'error_if_incomplete', '0.00');
    expect([collection.attempt, openingStatus(collection, false)]).toEqual([false, 'active']);
  });
});

describe('coupon associations (subscriptions-and-invoicing §2.17)', () => {
  const monthly: Cadence = {
    anchor: at('2026-01-31'),
    billingPeriod: 'MONTHLY',
    billingPeriodCount: 1,
    timezone: 'UTC',
    billingCycle: 'anniversary',
  };

  it('repeated ends one second before the boundary n periods on', () => {
    const end = couponAssociationEnd({
      ...monthly,
      cadence: 'repeated',
      durationInPeriods: 3,
      start: at('2026-01-31'),
    });
    expect(end).toBe(at('2026-04-29T23:59:59Z'));
  });

  it('counts from the boundary at or before its start', () => {
    const given = { ...monthly, start: at('2026-03-10') };
    expect(couponPeriod(given)).toEqual({ start: at('2026-02-28'), end: at('2026-03-31') });
    expect(couponAssociationEnd({ ...given, cadence: 'repeated', durationInPeriods: 1 })).toBe(
      at('2026-03-30T23:59:59Z'),
    );
  });

  it('has no end of its own once or for ever; an earlier explicit end wins', () => {
    const given = { ...monthly, start: at('2026-01-31'), durationInPeriods: 3 };
    expect(couponAssociationEnd({ ...given, cadence: 'forever' })).toBeNull();
    expect(couponAssociationEnd({ ...given, cadence: 'once', explicitEnd: at('2026-02-01') })).toBe(at('2026-02-01'));
    expect(couponAssociationEnd({ ...given, cadence: 'repeated', explicitEnd: at('2026-02-01') })).toBe(
      at('2026-02-01'),
    );
    expect(couponAssociationEnd({ ...given, cadence: 'repeated', explicitEnd: at('2027-02-01') })).toBe(
      at('2026-04-29T23:59:59Z'),
    );
  });

  it('repeated n discounts exactly n periods from any start', () => {
    fc.assert(
      fc.property(
        instants,
        fc.constantFrom<BillingPeriod>('DAILY', 'WEEKLY', 'MONTHLY', 'ANNUAL'),
        zones,
        fc.integer({ min: 1, max: 6 }),
        (start, billingPeriod, timezone, durationInPeriods) => {
          const given: Cadence = { ...monthly, anchor: start, billingPeriod, timezone };
          const end = couponAssociationEnd({ ...given, cadence: 'repeated', durationInPeriods, start });
          const series = periodSeries({ ...given, start, periods: durationInPeriods + 2 });
          const discounted = series
            .slice(1)
            .map((boundary, position) =>
              couponApplies({ start, end, consumed: false }, { start: series[position]!, end: boundary }),
            );
          expect(discounted).toEqual([...Array(durationInPeriods).fill(true), false, false]);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('applies within its own time and until consumed', () => {
    const period = { start: at('2026-02-01'), end: at('2026-03-01') };
    const applies = (start: string, end: string | null, consumed = false): boolean =>
      couponApplies({ start: at(start), end: end && at(end), consumed }, period);
    expect([applies('2026-02-28', null), applies('2026-03-01', null)]).toEqual([true, false]);
    expect([applies('2026-01-01', '2026-02-01'), applies('2026-01-01', '2026-01-31')]).toEqual([true, false]);
    expect(applies('2026-01-01', null, true)).toBe(false);
  });
});
