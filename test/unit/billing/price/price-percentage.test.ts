import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimal, decimalString } from '../../../../billing/money/money.ts';
import { costOfQuantity } from '../../../../billing/price/price.ts';
import type { PriceTerms } from '../../../../billing/price/price-terms.ts';
import { decimals, percentagePrices } from '../arbitraries.ts';

const percent = (percentage_rate: string): PriceTerms => ({
  billing_model: 'PERCENTAGE',
  percentage_rate,
  currency: 'usd',
});
const bases = decimals(12, 15);

describe('PERCENTAGE: base × rate ÷ 100 (catalogue-and-metering §4.3)', () => {
  it.each([
    ['of a base', '2.9', '1234.5', '35.8005'],
    ['the smallest rate and base', '0.000000000000001', '0.000000000000001', '0.00000000000000000000000000000001'],
    ['all of it', '100', '12.34', '12.34'],
    ['more than all of it', '250', '10', '25'],
    ['none of it', '0', '10', '0'],
    ['of nothing', '2.9', '0', '0'],
  ])('%s', (_, rate, base, cost) => {
    expect(decimalString(costOfQuantity(percent(rate), base).cost)).toBe(cost);
  });

  it('shows the share it multiplied by', () => {
    expect(costOfQuantity(percent('2.9'), '1000').steps).toEqual([
      { tier: null, up_to: null, quantity: '1000', unit_amount: '0.029', flat_amount: '0', amount: '29' },
    ]);
  });

  it('never falls when the base grows', () => {
    fc.assert(
      fc.property(percentagePrices, bases, bases, (terms, base, more) => {
        const larger = decimal(base).plus(more);
        expect(costOfQuantity(terms, base).cost.lessThanOrEqualTo(costOfQuantity(terms, larger).cost)).toBe(true);
      }),
    );
  });

  it('costs the same whole or in parts, and is no quotient that was cut', () => {
    fc.assert(
      fc.property(percentagePrices, fc.array(bases, { maxLength: 6 }), (terms, parts) => {
        const whole = parts.reduce((sum, part) => sum.plus(part), decimal('0'));
        const apart = parts.reduce((sum, part) => sum.plus(costOfQuantity(terms, part).cost), decimal('0'));
        expect(decimalString(costOfQuantity(terms, whole).cost)).toBe(decimalString(apart));
      }),
    );
  });
});
