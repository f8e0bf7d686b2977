import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChargeItem } from '../../../../billing/line/charge.ts';
import type { ProrationAction } from '../../../../billing/line/proration.ts';
import { decimal } from '../../../../billing/money/money.ts';
import {
  type ChangeInput,
  monthlyEquivalent,
  type ProratedChange,
  prorateChange,
  refuseMixedCadence,
} from '../../../../billing/subscription/proration-change.ts';
import { at, flat, item, monthly, period, quarterly, usageItem } from '../line/charge-fixture.ts';

const april = period('2026-04-01', '2026-05-01');
const ending = (ended: ChargeItem, billed: string | null = null, credited = '0') => ({ item: ended, billed, credited });
const change = (members: Partial<ChangeInput>): ProratedChange =>
  prorateChange({
    action: 'upgrade',
    behavior: 'create_prorations',
    subscription: monthly,
    period: april,
    effectiveAt: at('2026-04-16'),
    ended: [],
    started: [],
    ...members,
  });
const told = ({ lines }: ProratedChange) =>
  lines.map(({ side, subscriptionLineItemId, periodStart, periodEnd, amount }) =>
    [side, subscriptionLineItemId, periodStart.slice(0, 10), periodEnd.slice(0, 10), amount].join(' '),
  );

describe('a change credits and charges the rest of what items are paid for in advance', () => {
  const begins = { startDate: at('2026-04-16') };

  it('as one line an item, charges before credits', () => {
    const result = change({
      ended: [ending(item('old'), '30')],
      started: [item('new', { ...begins, price: flat('50') })],
    });
    expect(told(result)).toEqual(['charge new 2026-04-16 2026-05-01 25.00', 'credit old 2026-04-16 2026-05-01 -15.00']);
    expect(result).toMatchObject({ credit: '15.00', charge: '25.00', net: '10.00', settlement: 'invoice' });
    expect(result.lines[1]?.derivation).toMatchObject({ amount: '-15.00', parts: [{ cost: '-30', amount: '-15.00' }] });
  });

  it('but not arrears, usage or one-time charges', () => {
    const others = [
      item('arrear', { invoiceCadence: 'ARREAR' }),
      usageItem('usage'),
      item('once', { billingPeriod: 'ONETIME' }),
    ];
    const result = change({ ended: others.map((other) => ending(other, '30')), started: others });
    expect(result).toMatchObject({ lines: [], net: '0.00', settlement: 'none' });
  });

  it('as a share of the whole period where the current one is its last part', () => {
    const stub = period('2026-04-11', '2026-05-01', '2026-04-01');
    const result = change({ period: stub, ended: [ending(item('old'), '20')], action: 'remove_item' });
    expect(result).toMatchObject({ credit: '15.00', settlement: 'wallet_credit', returned: '15.00' });
  });

  it('up to an end that is set already', () => {
    const ends = item('old', { endDate: at('2026-04-22') });
    expect(told(change({ action: 'remove_item', ended: [ending(ends, '30')] }))).toEqual([
      'credit old 2026-04-16 2026-04-22 -6.00',
    ]);
  });

  it('of a tiered price by the cost of its quantity', () => {
    const tiers = [
      { up_to: '2', unit_amount: '10' },
      { up_to: null, unit_amount: '5' },
    ];
    const price = { billing_model: 'TIERED' as const, tier_mode: 'SLAB' as const, tiers, currency: 'usd' };
    const seats = (quantity: string) => item(quantity, { ...begins, quantity, price });
    const result = change({ action: 'quantity_change', ended: [ending(seats('2'), '20')], started: [seats('6')] });
    expect(result).toMatchObject({ credit: '10.00', charge: '20.00', net: '10.00' });
  });

  it('of a shorter cadence the rest of its window and the windows after it', () => {
    const quarter = period('2026-04-01', '2026-07-01');
    const result = change({
      action: 'remove_item',
      subscription: { ...quarterly, billingAnchor: at('2026-04-01') },
      period: quarter,
      ended: [ending(item('old'), '90')],
    });
    expect(told(result)).toEqual(['credit old 2026-04-16 2026-07-01 -75.00']);
    expect(result.lines[0]?.metadata.charge_periods).toBe('3');
  });

  it('of a longer cadence the rest of its own period, which began before the current one', () => {
    const annual = item('old', { billingPeriod: 'ANNUAL', price: flat('365') });
    const result = change({ action: 'remove_item', ended: [ending(annual, '365')] });
    expect(told(result)).toEqual(['credit old 2026-04-16 2027-01-01 -260.00']);
  });
});

describe('a credit', () => {
  const capped = (action: ProrationAction) => change({ action, ended: [ending(item('old'), '12', '2')] });

  it.each(['upgrade', 'remove_item', 'cancellation', 'pause'] as const)(
    'of %s is capped by what is left of the bill',
    (action) => {
      const result = capped(action);
      expect(result).toMatchObject({ credit: '10.00', capped: true, returned: '10.00' });
      expect(result.lines[0]).toMatchObject({
        amount: '-10.00',
        uncapped: '15.00',
        metadata: { credit_uncapped: '15.00' },
      });
      expect(result.lines[0]?.derivation.parts).toMatchObject([{ amount: '-10.00' }]);
    },
  );

  it('of a change of quantity is not, but no more leaves to a wallet than was charged', () => {
    expect(capped('quantity_change')).toMatchObject({
      credit: '15.00',
      capped: false,
      net: '-15.00',
      returned: '10.00',
    });
  });

  it('is nothing when more was given back than billed', () => {
    expect(change({ action: 'remove_item', ended: [ending(item('old'), '10', '20')] })).toMatchObject({
      credit: '0.00',
      settlement: 'none',
      returned: '0.00',
    });
  });
});

it('with none the amounts are told and nothing is settled', () => {
  const result = change({ behavior: 'none', ended: [ending(item('old'), '30')] });
  expect(result).toMatchObject({ credit: '15.00', net: '-15.00', settlement: 'none' });
});

it('nothing is left at the end of the period', () => {
  expect(change({ effectiveAt: april.end, ended: [ending(item('old'), '30')] }).lines).toEqual([]);
});

it.each([
  ['MONTHLY', 1, '30'],
  ['QUARTERLY', 1, '10'],
  ['ANNUAL', 1, '2.5'],
  ['MONTHLY', 3, '10'],
  ['DAILY', 1, '912.5'],
  ['WEEKLY', 2, '65.178571'],
] as const)('30 every %s × %i is %s a month', (billingPeriod, billingPeriodCount, month) => {
  const total = monthlyEquivalent([item('fee', { billingPeriod, billingPeriodCount }), usageItem('usage')]);
  expect(total.toDecimalPlaces(6).toFixed()).toBe(month);
});

it('prorations refuse what is charged in advance in another rhythm, and only that', () => {
  const annual = item('annual', { billingPeriod: 'ANNUAL' });
  expect(() => refuseMixedCadence([annual], monthly, 'create_prorations')).toThrow(/proration_behavior/);
  for (const fine of [
    { ...annual, invoiceCadence: 'ARREAR' as const },
    item('same'),
    item('o', { billingPeriod: 'ONETIME' }),
  ]) {
    expect(() => refuseMixedCadence([fine], monthly, 'create_prorations')).not.toThrow();
  }
  expect(() => refuseMixedCadence([annual], monthly, 'none')).not.toThrow();
});

it('whatever changes one after another, no more is given back than was charged', () => {
  const step = fc.record({
    moment: fc.integer({ min: Date.parse(april.start), max: Date.parse(april.end) }),
    cents: fc.integer({ min: 0, max: 10_000_000 }),
    quantity: fc.integer({ min: 0, max: 9 }),
    action: fc.constantFrom<ProrationAction>('upgrade', 'downgrade', 'lateral', 'quantity_change'),
  });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100 }), fc.array(step, { maxLength: 6 }), (billedPercent, steps) => {
      const ordered = [...steps].sort((a, b) => a.moment - b.moment);
      let held = item('item-0', { price: flat('100') });
      let billed = String(billedPercent);
      let charged = decimal(billed);
      let returned = decimal(0);
      for (const [index, { moment, cents, quantity, action }] of ordered.entries()) {
        const startDate = new Date(moment).toISOString();
        const price = flat(decimal(cents).dividedBy(100).toFixed(2));
        const next = item(`item-${index + 1}`, { startDate, quantity: String(quantity), price });
        const room = charged.minus(returned).toFixed();
        const ended = [ending(held, billed)];
        const result = change({ action, effectiveAt: startDate, ended, started: [next], room });
        const net = decimal(result.net);
        if (net.isPositive()) charged = charged.plus(net);
        else returned = returned.plus(result.returned);
        held = next;
        billed = result.charge;
      }
      expect(returned.lessThanOrEqualTo(charged)).toBe(true);
    }),
  );
});
