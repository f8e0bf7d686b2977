import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planCharges, priceCharges } from '../../../../billing/line/charge.ts';
import { type ProrationInput, prorate, prorationShare, shareText } from '../../../../billing/line/proration.ts';
import { decimal, zero } from '../../../../billing/money/money.ts';
import { at, flat, item, monthly, period } from './charge-fixture.ts';

const april = { start: at('2026-04-01'), end: at('2026-05-01') };
const change: ProrationInput = {
  action: 'upgrade',
  behavior: 'create_prorations',
  currency: 'usd',
  period: april,
  effectiveAt: at('2026-04-16'),
  strategy: 'second_based',
  timezone: 'UTC',
  invoiceCadence: 'ADVANCE',
  oldCost: decimal('30'),
  newCost: decimal('50'),
  amountBilled: decimal('30'),
  creditsIssued: zero,
};

describe('prorationShare', () => {
  it.each([
    ['before the period', '2026-03-20', '1.0000000000'],
    ['at its start', '2026-04-01', '1.0000000000'],
    ['inside', '2026-04-10T18:00:00Z', '0.6750000000'],
    ['at its end', '2026-05-01', '0.0000000000'],
  ])('%s', (_case, instant, share) => {
    expect(shareText(prorationShare({ ...change, effectiveAt: at(instant) }))).toBe(share);
  });

  it('counts local days when it is day_based', () => {
    const effectiveAt = at('2026-04-10T18:00:00Z');
    const share = (timezone: string) => prorationShare({ ...change, effectiveAt, strategy: 'day_based', timezone });
    expect(share('UTC')).toEqual({ numerator: 21, denominator: 30 });
    expect(share('Asia/Tokyo')).toEqual({ numerator: 20, denominator: 30 });
  });

  it('of an empty period is nothing', () => {
    const empty = { start: april.start, end: april.start };
    expect(prorationShare({ ...change, period: empty }).numerator).toBe(0);
  });
});

describe('prorate', () => {
  it.each([
    ['upgrade', '15.00', '25.00', '10.00', 'invoice'],
    ['add_item', '0.00', '25.00', '25.00', 'invoice'],
    ['remove_item', '15.00', '0.00', '-15.00', 'wallet_credit'],
    ['cancellation', '15.00', '0.00', '-15.00', 'wallet_credit'],
    ['pause', '15.00', '0.00', '-15.00', 'wallet_credit'],
    ['quantity_change', '15.00', '25.00', '10.00', 'invoice'],
  ] as const)('%s', (action, credit, charge, net, settlement) => {
    expect(prorate({ ...change, action })).toMatchObject({ credit, charge, net, settlement, capped: false });
  });

  it('caps a credit by what was billed and is left of it, except for a change of quantity', () => {
    const billed = { ...change, amountBilled: decimal('12'), creditsIssued: decimal('2') };
    expect(prorate(billed)).toMatchObject({ credit: '10.00', net: '15.00', capped: true });
    expect(prorate({ ...billed, creditsIssued: decimal('20') })).toMatchObject({ credit: '0.00', capped: true });
    expect(prorate({ ...billed, action: 'quantity_change' })).toMatchObject({ credit: '15.00', capped: false });
    expect(prorate({ ...billed, amountBilled: null })).toMatchObject({ credit: '15.00', capped: false });
  });

  it.each([{ behavior: 'none' as const }, { invoiceCadence: 'ARREAR' as const }])('%o moves no money', (members) => {
    expect(prorate({ ...change, ...members })).toMatchObject({ credit: '0.00', charge: '0.00', settlement: 'none' });
  });
});

it('charges a new item what an invoice charges that bills it for the rest of the period', () => {
  const cents = fc.integer({ min: 0, max: 10_000_000 });
  const begins = fc.integer({ min: Date.parse(april.start), max: Date.parse(april.end) - 1 });
  fc.assert(
    fc.property(cents, fc.integer({ min: 0, max: 50 }), begins, (amount, quantity, startsAt) => {
      const unit = decimal(amount).dividedBy(100).toFixed(2);
      const startDate = new Date(startsAt).toISOString();
      const added = item('added', { startDate, quantity: String(quantity), price: flat(unit) });
      const whole = period('2026-04-01', '2026-05-01');
      const input = { reason: 'cycle' as const, subscription: monthly, elapsed: whole, next: whole };
      const [line] = priceCharges(planCharges({ ...input, items: [added], allowances: {}, billed: [] }), {});
      const { charge } = prorate({
        ...change,
        action: 'add_item',
        effectiveAt: startDate,
        oldCost: null,
        newCost: decimal(unit).times(quantity),
      });
      expect(line?.amount).toBe(charge);
    }),
  );
});

it('credits and charges of a change at any moment add up to the whole price of one of them', () => {
  const moments = fc.integer({ min: Date.parse(april.start), max: Date.parse(april.end) });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000 }), moments, (cents, moment) => {
      const cost = decimal(cents).dividedBy(100);
      const effectiveAt = new Date(moment).toISOString();
      const lateral = prorate({
        ...change,
        action: 'lateral',
        effectiveAt,
        oldCost: cost,
        newCost: cost,
        amountBilled: cost,
      });
      expect(lateral.net).toBe('0.00');
      expect(decimal(lateral.credit).lessThanOrEqualTo(cost)).toBe(true);
    }),
  );
});
