import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimal, decimalString } from '../../../../billing/money/money.ts';
import { costOfBuckets, costOfQuantity, defaultQuantity, effectiveUnitCost } from '../../../../billing/price/price.ts';
import type { PriceTerms } from '../../../../billing/price/price-terms.ts';
import { prices, quantities } from '../arbitraries.ts';
import { refusalOf } from '../refused.ts';

const tiered = (tier_mode: 'VOLUME' | 'SLAB' | null, tiers: PriceTerms['tiers']): PriceTerms => ({
  billing_model: 'TIERED',
  tier_mode,
  tiers: tiers ?? null,
  currency: 'usd',
});
const packages = (round: 'up' | 'down' | null): PriceTerms => ({
  billing_model: 'PACKAGE',
  amount: '20',
  transform_quantity: { divide_by: 100, round },
  currency: 'usd',
});

describe('cost of a quantity (catalogue-and-metering §4.3)', () => {
  it('costs nothing at quantity 0 in every model, flat amounts included', () => {
    fc.assert(
      fc.property(prices, (terms) => {
        const { cost, steps } = costOfQuantity(terms, '0');
        expect(cost.isZero()).toBe(true);
        expect(steps).toEqual([]);
      }),
    );
  });

  it.each([
    ['amount', { billing_model: 'FLAT_FEE', currency: 'usd' }],
    ['transform_quantity', { billing_model: 'PACKAGE', amount: '1', currency: 'usd' }],
    ['tiers', { billing_model: 'TIERED', currency: 'usd' }],
    ['tiers', { billing_model: 'TIERED', tiers: [], currency: 'usd' }],
    ['percentage_rate', { billing_model: 'PERCENTAGE', currency: 'usd' }],
  ] as [string, PriceTerms][])('refuses a price without %s', (name, terms) => {
    const refusal = refusalOf(() => costOfQuantity(terms, '1'));
    expect(refusal?.code).toBe('validation_error');
    expect(refusal?.message).toContain(name);
  });

  it('is the sum of its steps, each quantity × unit + flat', () => {
    fc.assert(
      fc.property(prices, quantities, (terms, quantity) => {
        const { cost, steps } = costOfQuantity(terms, quantity);
        let total = decimal('0');
        for (const step of steps) {
          const amount = decimal(step.quantity).times(decimal(step.unit_amount)).plus(decimal(step.flat_amount));
          expect(decimalString(amount)).toBe(step.amount);
          total = total.plus(amount);
        }
        expect(total.equals(cost)).toBe(true);
      }),
    );
  });
});

describe('bucketed charges (catalogue-and-metering §4.4)', () => {
  const slab = tiered('SLAB', [
    { up_to: '10', unit_amount: '1' },
    { up_to: null, unit_amount: '3' },
  ]);

  it('restarts the tiers in every bucket', () => {
    const { cost, quantity } = costOfBuckets(slab, ['14', '14', '3']);
    expect([decimalString(cost), decimalString(quantity)]).toEqual(['47', '31']);
  });

  it('rounds packages per bucket', () => {
    expect(decimalString(costOfBuckets(packages('up'), ['1', '1', '0', '100']).cost)).toBe('60');
  });

  it('is the sum over its buckets', () => {
    fc.assert(
      fc.property(prices, fc.array(quantities, { maxLength: 8 }), (terms, values) => {
        const { cost, costs } = costOfBuckets(terms, values);
        const apart = values.map((value) => costOfQuantity(terms, value).cost);
        expect(costs.map((each) => decimalString(each))).toEqual(apart.map((each) => decimalString(each)));
        expect(decimalString(cost)).toBe(decimalString(apart.reduce((all, each) => all.plus(each), decimal('0'))));
      }),
    );
  });
});

describe('effective unit cost', () => {
  it('is 0 for nothing and cut to 15 decimals', () => {
    expect(decimalString(effectiveUnitCost(decimal('0'), decimal('0')))).toBe('0');
    expect(decimalString(effectiveUnitCost(decimal('60'), decimal('2500.5')))).toBe('0.023995200959808');
  });
});

describe('quantity of a line item (catalogue-and-metering §4.2)', () => {
  it.each([
    ['the minimum when none is asked', 'FIXED', '5', null, '5'],
    ['an explicit 0', 'FIXED', '5', '0', '0'],
    ['1 without a minimum', 'FIXED', null, null, '1'],
    ['1 with a minimum of 0', 'FIXED', '0', null, '1'],
    ['less than the minimum, as given', 'FIXED', '5', '2.50', '2.5'],
    ['0 for usage', 'USAGE', null, null, '0'],
  ] as [string, 'FIXED' | 'USAGE', string | null, string | null, string][])(
    '%s',
    (_, type, minimum, requested, quantity) => {
      expect(defaultQuantity(type, minimum, requested)).toBe(quantity);
    },
  );

  it('refuses a negative one', () => {
    expect(refusalOf(() => defaultQuantity('FIXED', null, '-1'))?.code).toBe('validation_error');
  });
});
