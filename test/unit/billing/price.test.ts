import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { currencyPrecision, decimal, decimalString, moneyString, roundToCurrency } from '../../../billing/money.ts';
import {
  costOfBuckets,
  costOfQuantity,
  defaultQuantity,
  effectiveUnitCost,
  type PriceTerms,
} from '../../../billing/price.ts';
import { prices, quantities, tieredPrices } from './arbitraries.ts';
import { oracleCost, oracleRounded, oracleText, units } from './rating-oracle.ts';
import { refusalOf } from './refused.ts';

const flat: PriceTerms = { billing_model: 'FLAT_FEE', amount: '0.05', currency: 'usd' };
const threeTiers = [
  { up_to: '1000', unit_amount: '0.10' },
  { up_to: '10000', unit_amount: '0.05' },
  { up_to: null, unit_amount: '0.01' },
];
const flatTiers = [
  { up_to: null, unit_amount: '3', flat_amount: '10' },
  { up_to: '10', unit_amount: '5', flat_amount: '20' },
  { up_to: '50', unit_amount: '4', flat_amount: '15' },
];
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
  it.each([
    ['flat', flat, '1000', '50'],
    ['flat keeps sub-cent amounts', { ...flat, amount: '0.0000025' }, '1234567', '3.0864175'],
    ['package rounds a started one up by default', packages(null), '300.0001', '80'],
    ['package division is exact', packages('up'), '300', '60'],
    ['package rounds down', packages('down'), '299.9', '40'],
    ['volume moves everything to the tier reached', tiered('VOLUME', threeTiers), '15000', '150'],
    ['slab prices each part', tiered('SLAB', threeTiers), '15000', '600'],
    ['a missing tier mode is volume', tiered(null, threeTiers), '15000', '150'],
    ['a limit is inclusive', tiered('VOLUME', threeTiers), '1000', '100'],
    [
      'the smallest fraction above a limit moves on',
      tiered('VOLUME', threeTiers),
      '1000.000000000000001',
      '50.00000000000000005',
    ],
    ['tiers come in any order, volume', tiered('VOLUME', flatTiers), '30', '135'],
    ['tiers come in any order, slab', tiered('SLAB', flatTiers), '30', '165'],
    ['a quantity on the limit pays no next flat amount', tiered('SLAB', flatTiers), '10', '70'],
    ['a bounded last tier is open, slab', tiered('SLAB', [{ up_to: '10', unit_amount: '2' }]), '25', '50'],
    ['a bounded last tier is open, volume', tiered('VOLUME', [{ up_to: '10', unit_amount: '2' }]), '25', '50'],
    [
      'percentage of the base',
      { billing_model: 'PERCENTAGE', percentage_rate: '2.9', currency: 'usd' },
      '1234.5',
      '35.8005',
    ],
    [
      'members beyond 15 decimals are rounded first',
      { ...flat, amount: '0.0000000000000005' },
      '1000',
      '0.000000000001',
    ],
  ] as [string, PriceTerms, string, string][])('%s', (_, terms, quantity, cost) => {
    expect(decimalString(costOfQuantity(terms, quantity).cost)).toBe(cost);
  });

  it('costs nothing at quantity 0 in every model, flat amounts included', () => {
    fc.assert(
      fc.property(prices, (terms) => {
        const { cost, steps } = costOfQuantity(terms, '0');
        expect(cost.isZero()).toBe(true);
        expect(steps).toEqual([]);
      }),
    );
  });

  it('names the walk: tier, part, unit and flat amount', () => {
    expect(costOfQuantity(tiered('SLAB', flatTiers), '30').steps).toEqual([
      { tier: 1, up_to: '10', quantity: '10', unit_amount: '5', flat_amount: '20', amount: '70' },
      { tier: 2, up_to: '50', quantity: '20', unit_amount: '4', flat_amount: '15', amount: '95' },
    ]);
    expect(costOfQuantity(packages('up'), '250').steps).toEqual([
      { tier: null, up_to: null, quantity: '3', unit_amount: '20', flat_amount: '0', amount: '60' },
    ]);
  });

  it.each([
    ['amount', { billing_model: 'FLAT_FEE', currency: 'usd' }],
    ['transform_quantity', { billing_model: 'PACKAGE', amount: '1', currency: 'usd' }],
    ['tiers', { billing_model: 'TIERED', currency: 'usd' }],
    ['percentage_rate', { billing_model: 'PERCENTAGE', currency: 'usd' }],
  ] as [string, PriceTerms][])('refuses a price without %s', (name, terms) => {
    const refusal = refusalOf(() => costOfQuantity(terms, '1'));
    expect(refusal?.code).toBe('validation_error');
    expect(refusal?.message).toContain(name);
  });

  it('equals an oracle in whole numbers, exactly and rounded', () => {
    fc.assert(
      fc.property(prices, quantities, (terms, quantity) => {
        const { cost } = costOfQuantity(terms, quantity);
        const expected = oracleCost(terms, quantity);
        expect(decimalString(cost)).toBe(oracleText(expected));
        const rounded = moneyString(roundToCurrency(cost, terms.currency), terms.currency);
        expect(rounded).toBe(oracleRounded(expected, currencyPrecision(terms.currency)));
      }),
      { numRuns: 1000 },
    );
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

  it('never falls when the quantity grows: flat, package, percentage and slab', () => {
    const growing = prices.filter((terms) => terms.billing_model !== 'TIERED' || terms.tier_mode === 'SLAB');
    fc.assert(
      fc.property(growing, quantities, quantities, (terms, first, second) => {
        const [less, more] = units(first) <= units(second) ? [first, second] : [second, first];
        expect(costOfQuantity(terms, less).cost.lessThanOrEqualTo(costOfQuantity(terms, more).cost)).toBe(true);
      }),
    );
  });

  it('has no jump in a slab without flat amounts: an atom more costs at most an atom at the dearest tier', () => {
    const slabs = tieredPrices.filter((terms) => terms.tier_mode === 'SLAB');
    fc.assert(
      fc.property(slabs, fc.integer({ min: 0, max: 4000 }), (terms, whole) => {
        const plain = { ...terms, tiers: terms.tiers!.map((tier) => ({ ...tier, flat_amount: '0' })) };
        const atom = decimal('0.000000000000001');
        const at = costOfQuantity(plain, decimal(whole)).cost;
        const above = costOfQuantity(plain, decimal(whole).plus(atom)).cost;
        const dearest = plain.tiers.reduce(
          (most, tier) => (most.lessThan(tier.unit_amount) ? decimal(tier.unit_amount) : most),
          decimal('0'),
        );
        expect(above.minus(at).greaterThanOrEqualTo(0)).toBe(true);
        expect(above.minus(at).lessThanOrEqualTo(dearest.times(atom))).toBe(true);
      }),
    );
  });

  it('does not depend on the order of the tiers', () => {
    fc.assert(
      fc.property(tieredPrices, quantities, (terms, quantity) => {
        const other = { ...terms, tiers: [...terms.tiers!].reverse() };
        expect(costOfQuantity(other, quantity).cost.equals(costOfQuantity(terms, quantity).cost)).toBe(true);
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
