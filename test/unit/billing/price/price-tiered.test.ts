import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Decimal,
  decimal,
  decimalString,
  greatest,
  storedDecimal,
  zero,
} from '../../../../billing/money/money.ts';
import { costOfQuantity } from '../../../../billing/price/price.ts';
import type { PriceTerms } from '../../../../billing/price/price-terms.ts';
import { decimals, quantitiesFor, slabPrices, tieredPrices, volumePrices } from '../arbitraries.ts';

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
const bounded = [{ up_to: '10', unit_amount: '2' }];
const tiered = (tier_mode: 'VOLUME' | 'SLAB' | null, tiers: PriceTerms['tiers']): PriceTerms => ({
  billing_model: 'TIERED',
  tier_mode,
  tiers: tiers ?? null,
  currency: 'usd',
});
const withQuantity = (arbitrary: fc.Arbitrary<PriceTerms>) =>
  arbitrary.chain((terms) => fc.record({ terms: fc.constant(terms), quantity: quantitiesFor(terms) }));
const withoutFlats = (terms: PriceTerms): PriceTerms => ({
  ...terms,
  tiers: terms.tiers!.map(({ up_to, unit_amount }) => ({ up_to, unit_amount })),
});
const dearestUnit = (terms: PriceTerms): Decimal =>
  terms.tiers!.map((tier) => storedDecimal(tier.unit_amount)).reduce(greatest, zero);
const limitsOf = (terms: PriceTerms): string[] => terms.tiers!.flatMap(({ up_to }) => up_to ?? []);
const atom = decimal('0.000000000000001');
const costOf = (terms: PriceTerms, quantity: Decimal | string): Decimal => costOfQuantity(terms, quantity).cost;

describe('TIERED (catalogue-and-metering §4.3)', () => {
  it.each([
    ['volume moves everything to the tier reached', tiered('VOLUME', threeTiers), '15000', '150'],
    ['slab prices each part', tiered('SLAB', threeTiers), '15000', '600'],
    ['a missing tier mode is volume', tiered(null, threeTiers), '15000', '150'],
    ['a limit is inclusive', tiered('VOLUME', threeTiers), '1000', '100'],
    ['an atom above a limit moves on', tiered('VOLUME', threeTiers), '1000.000000000000001', '50.00000000000000005'],
    ['any order of the tiers, volume', tiered('VOLUME', flatTiers), '30', '135'],
    ['any order of the tiers, slab', tiered('SLAB', flatTiers), '30', '165'],
    ['all three slabs with their flat amounts', tiered('SLAB', flatTiers), '60', '285'],
    ['a quantity on the limit pays no next flat amount', tiered('SLAB', flatTiers), '10', '70'],
    [
      'an atom above it pays that of the next slab',
      tiered('SLAB', flatTiers),
      '10.000000000000001',
      '85.000000000000004',
    ],
    ['a bounded last tier is open, slab', tiered('SLAB', bounded), '25', '50'],
    ['a bounded last tier is open, volume', tiered('VOLUME', bounded), '25', '50'],
    ['one open tier is a flat fee', tiered('SLAB', [{ up_to: null, unit_amount: '2' }]), '25', '50'],
    ['nothing, flat amounts included', tiered('VOLUME', flatTiers), '0', '0'],
  ] as [string, PriceTerms, string, string][])('%s', (_, terms, quantity, cost) => {
    expect(decimalString(costOf(terms, quantity))).toBe(cost);
  });

  it('shows the walk: tier, part, unit and flat amount', () => {
    expect(costOfQuantity(tiered('SLAB', flatTiers), '30').steps).toEqual([
      { tier: 1, up_to: '10', quantity: '10', unit_amount: '5', flat_amount: '20', amount: '70' },
      { tier: 2, up_to: '50', quantity: '20', unit_amount: '4', flat_amount: '15', amount: '95' },
    ]);
    expect(costOfQuantity(tiered('VOLUME', flatTiers), '30').steps).toEqual([
      { tier: 2, up_to: '50', quantity: '30', unit_amount: '4', flat_amount: '15', amount: '135' },
    ]);
  });

  it('does not depend on the order of the tiers', () => {
    const shuffled = tieredPrices.chain((terms) =>
      fc.record({
        terms: fc.constant(terms),
        quantity: quantitiesFor(terms),
        tiers: fc.shuffledSubarray(terms.tiers!, { minLength: terms.tiers!.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ terms, quantity, tiers }) => {
        expect(costOf({ ...terms, tiers }, quantity).equals(costOf(terms, quantity))).toBe(true);
      }),
    );
  });
});

describe('slab', () => {
  it('never falls when the quantity grows', () => {
    fc.assert(
      fc.property(withQuantity(slabPrices), decimals(6, 15), ({ terms, quantity }, more) => {
        const larger = decimal(quantity).plus(more);
        expect(costOf(terms, quantity).lessThanOrEqualTo(costOf(terms, larger))).toBe(true);
      }),
    );
  });

  it('is continuous without flat amounts: an atom more costs at most an atom at the dearest tier', () => {
    fc.assert(
      fc.property(withQuantity(slabPrices), ({ terms, quantity }) => {
        const plain = withoutFlats(terms);
        const below = storedDecimal(quantity);
        const step = costOf(plain, below.plus(atom)).minus(costOf(plain, below));
        expect(step.isNegative()).toBe(false);
        expect(step.lessThanOrEqualTo(dearestUnit(plain).times(atom))).toBe(true);
      }),
    );
  });

  it('jumps at a limit by the flat amount of the next tier alone', () => {
    const bounds = slabPrices.filter((terms) => limitsOf(terms).length > 1);
    fc.assert(
      fc.property(bounds, (terms) => {
        const ascending = [...terms.tiers!].sort((a, b) => Number(a.up_to ?? Infinity) - Number(b.up_to ?? Infinity));
        for (const [index, { up_to }] of ascending.slice(0, -1).entries()) {
          const next = ascending[index + 1]!;
          const jump = costOf(terms, decimal(up_to!).plus(atom)).minus(costOf(terms, up_to!));
          const smallest = storedDecimal(next.unit_amount).times(atom);
          expect(decimalString(jump)).toBe(decimalString(storedDecimal(next.flat_amount ?? '0').plus(smallest)));
        }
      }),
    );
  });
});

describe('volume', () => {
  it('never falls within a tier', () => {
    fc.assert(
      fc.property(withQuantity(volumePrices), decimals(6, 15), ({ terms, quantity }, more) => {
        const larger = decimal(quantity).plus(more);
        const [first, second] = [costOfQuantity(terms, quantity), costOfQuantity(terms, larger)];
        if (first.steps[0]?.tier !== second.steps[0]?.tier) return;
        expect(first.cost.lessThanOrEqualTo(second.cost)).toBe(true);
      }),
    );
  });

  it('never falls at all when no tier is cheaper than the one before it', () => {
    const risen = volumePrices.map((terms): PriceTerms => {
      const ascending = [...terms.tiers!].sort((a, b) => Number(a.up_to ?? Infinity) - Number(b.up_to ?? Infinity));
      let [unit, flat] = [zero, zero];
      const tiers = ascending.map((tier) => {
        [unit, flat] = [unit.plus(tier.unit_amount), flat.plus(tier.flat_amount ?? '0')];
        return { up_to: tier.up_to, unit_amount: decimalString(unit), flat_amount: decimalString(flat) };
      });
      return { ...terms, tiers };
    });
    fc.assert(
      fc.property(withQuantity(risen), decimals(6, 15), ({ terms, quantity }, more) => {
        const larger = decimal(quantity).plus(more);
        expect(costOf(terms, quantity).lessThanOrEqualTo(costOf(terms, larger))).toBe(true);
      }),
    );
  });

  it('costs what a slab costs while the first tier holds the quantity', () => {
    fc.assert(
      fc.property(volumePrices, fc.integer({ min: 0, max: 50 }), (terms, whole) => {
        const quantity = String(whole);
        if (limitsOf(terms).some((limit) => BigInt(limit) < BigInt(quantity))) return;
        const slab = { ...terms, tier_mode: 'SLAB' as const };
        expect(decimalString(costOf(terms, quantity))).toBe(decimalString(costOf(slab, quantity)));
      }),
    );
  });
});
