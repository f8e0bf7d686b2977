import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimal, decimalString } from '../../../../billing/money/money.ts';
import { costOfQuantity } from '../../../../billing/price/price.ts';
import type { PriceTerms } from '../../../../billing/price/price-terms.ts';
import { decimals, flatPrices } from '../arbitraries.ts';

const flat = (amount: string): PriceTerms => ({ billing_model: 'FLAT_FEE', amount, currency: 'usd' });
const quantities = decimals(12, 15);

describe('FLAT_FEE: amount × quantity (catalogue-and-metering §4.3)', () => {
  it.each([
    ['a price list amount', '0.05', '1000', '50'],
    ['amounts far below a cent', '0.0000025', '1234567', '3.0864175'],
    ['a part of a unit', '30', '0.5', '15'],
    ['nothing', '30', '0', '0'],
    ['for free', '0', '1000', '0'],
    ['more than 15 decimals are rounded first', '0.0000000000000005', '1000', '0.000000000001'],
    ['twenty digits and more', '0.01', '123456789012345678901234567890', '1234567890123456789012345678.9'],
  ])('%s', (_, amount, quantity, cost) => {
    expect(decimalString(costOfQuantity(flat(amount), quantity).cost)).toBe(cost);
  });

  it('never falls when the quantity grows', () => {
    fc.assert(
      fc.property(flatPrices, quantities, quantities, (terms, quantity, more) => {
        const larger = decimal(quantity).plus(more);
        expect(costOfQuantity(terms, quantity).cost.lessThanOrEqualTo(costOfQuantity(terms, larger).cost)).toBe(true);
      }),
    );
  });

  it('costs the same whole or in parts', () => {
    fc.assert(
      fc.property(flatPrices, fc.array(quantities, { maxLength: 6 }), (terms, parts) => {
        const whole = parts.reduce((sum, part) => sum.plus(part), decimal('0'));
        const apart = parts.reduce((sum, part) => sum.plus(costOfQuantity(terms, part).cost), decimal('0'));
        expect(decimalString(costOfQuantity(terms, whole).cost)).toBe(decimalString(apart));
      }),
    );
  });
});
