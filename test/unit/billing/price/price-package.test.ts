import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimal, decimalString, roundToCurrency } from '../../../../billing/money/money.ts';
import { costOfQuantity } from '../../../../billing/price/price.ts';
import type { PriceTerms } from '../../../../billing/price/price-terms.ts';
import { decimals, packagePricesDown, packagePricesUp, quantitiesFor } from '../arbitraries.ts';
import { refusalOf } from '../refused.ts';

const hundreds = (round: 'up' | 'down' | null): PriceTerms => ({
  billing_model: 'PACKAGE',
  amount: '20',
  transform_quantity: { divide_by: 100, round },
  currency: 'usd',
});
const withQuantity = (arbitrary: fc.Arbitrary<PriceTerms>) =>
  arbitrary.chain((terms) => fc.record({ terms: fc.constant(terms), quantity: quantitiesFor(terms) }));
const otherWay = (terms: PriceTerms, round: 'up' | 'down'): PriceTerms => ({
  ...terms,
  transform_quantity: { ...terms.transform_quantity!, round },
});

describe('PACKAGE: amount × packages (catalogue-and-metering §4.3)', () => {
  it.each([
    ['a whole one', hundreds('up'), '100', '20'],
    ['the division is exact', hundreds('up'), '300', '60'],
    ['a started one counts, by default', hundreds(null), '300.0001', '80'],
    ['the smallest start counts', hundreds('up'), '0.000000000000001', '20'],
    ['rounded down a started one is free', hundreds('down'), '299.9', '40'],
    ['rounded down less than one is free', hundreds('down'), '99.999999999999999', '0'],
    ['rounded down a whole one counts', hundreds('down'), '100', '20'],
    ['nothing', hundreds('up'), '0', '0'],
    ['a package of one', { ...hundreds('up'), transform_quantity: { divide_by: 1, round: 'up' } }, '7', '140'],
  ] as [string, PriceTerms, string, string][])('%s', (_, terms, quantity, cost) => {
    expect(decimalString(costOfQuantity(terms, quantity).cost)).toBe(cost);
  });

  it('shows the packages it counted', () => {
    expect(costOfQuantity(hundreds('up'), '250').steps).toEqual([
      { tier: null, up_to: null, quantity: '3', unit_amount: '20', flat_amount: '0', amount: '60' },
    ]);
  });

  it('refuses a size that is none', () => {
    const none = { ...hundreds('up'), transform_quantity: { divide_by: 0, round: 'up' as const } };
    expect(refusalOf(() => costOfQuantity(none, '1'))?.message).toContain('transform_quantity.divide_by');
  });

  it('never falls when the quantity grows', () => {
    fc.assert(
      fc.property(
        fc.oneof(withQuantity(packagePricesUp), withQuantity(packagePricesDown)),
        decimals(6, 15),
        ({ terms, quantity }, more) => {
          const larger = decimal(quantity).plus(more);
          expect(costOfQuantity(terms, quantity).cost.lessThanOrEqualTo(costOfQuantity(terms, larger).cost)).toBe(true);
        },
      ),
    );
  });

  it('is the same both ways for whole packages, and one package apart for every other quantity', () => {
    fc.assert(
      fc.property(withQuantity(packagePricesUp), ({ terms, quantity }) => {
        const up = costOfQuantity(terms, quantity).cost;
        const down = costOfQuantity(otherWay(terms, 'down'), quantity).cost;
        const size = terms.transform_quantity!.divide_by;
        const rest = decimal(quantity).toDecimalPlaces(15).modulo(size);
        const one = decimal(terms.amount!).toDecimalPlaces(15);
        expect(decimalString(up.minus(down))).toBe(rest.isZero() ? '0' : decimalString(one));
      }),
    );
  });

  it('costs at least as much in parts as whole, rounded up; at most as much, rounded down', () => {
    fc.assert(
      fc.property(withQuantity(packagePricesUp), decimals(6, 15), ({ terms, quantity }, other) => {
        const whole = decimal(quantity).toDecimalPlaces(15).plus(other);
        const cost = (round: 'up' | 'down', part: Parameters<typeof costOfQuantity>[1]) =>
          costOfQuantity(otherWay(terms, round), part).cost;
        expect(cost('up', quantity).plus(cost('up', other)).greaterThanOrEqualTo(cost('up', whole))).toBe(true);
        expect(cost('down', quantity).plus(cost('down', other)).lessThanOrEqualTo(cost('down', whole))).toBe(true);
      }),
    );
  });

  it('loses nothing in rounding when its amount is money', () => {
    fc.assert(
      fc.property(withQuantity(packagePricesUp), decimals(4, 2), ({ terms, quantity }, amount) => {
        const priced = { ...terms, amount, currency: 'usd' };
        const { cost } = costOfQuantity(priced, quantity);
        expect(decimalString(roundToCurrency(cost, 'usd'))).toBe(decimalString(cost));
      }),
    );
  });
});
