import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalString, moneyString, roundToCurrency, storedDecimal } from '../../../../billing/money/money.ts';
import { costOfBuckets, costOfQuantity, defaultQuantity, effectiveUnitCost } from '../../../../billing/price/price.ts';
import { customPrices, decimals, prices, quantities, quantitiesFor } from '../arbitraries.ts';
import {
  compare,
  decimalsOf,
  fraction,
  minus,
  oracleBillable,
  oracleBucketedCost,
  oracleCost,
  oracleFiatCost,
  oracleLineAmount,
  oracleQuantity,
  oracleUnitCost,
  plain,
  rounded,
  times,
} from '../rating-oracle.ts';
import { at, invoice, item, linesOf, usageItem } from './charge-fixture.ts';

const rated = prices.chain((terms) => fc.record({ terms: fc.constant(terms), quantity: quantitiesFor(terms) }));
const february = { start: Date.parse(at('2026-02-01')), end: Date.parse(at('2026-03-01')) };
const cuts = fc.integer({ min: february.start + 1, max: february.end - 1 });

/* Any price and any quantity against fractions of whole numbers: test/unit/billing/rating-oracle.ts. */
describe('rating equals an independent computation', () => {
  it('in cost, line amount and effective unit cost', () => {
    fc.assert(
      fc.property(rated, ({ terms, quantity }) => {
        const { cost } = costOfQuantity(terms, quantity);
        const expected = oracleCost(terms, quantity);
        expect(decimalString(cost)).toBe(plain(expected));
        const amount = moneyString(roundToCurrency(cost, terms.currency), terms.currency);
        expect(amount).toBe(oracleLineAmount(terms, expected));
        const each = effectiveUnitCost(cost, storedDecimal(quantity));
        expect(decimalString(each)).toBe(oracleUnitCost(expected, quantity));
      }),
      { numRuns: 3000 },
    );
  });

  it('in buckets, each of which begins the price anew', () => {
    const bucketed = prices.chain((terms) =>
      fc.record({ terms: fc.constant(terms), values: fc.array(quantitiesFor(terms), { maxLength: 8 }) }),
    );
    fc.assert(
      fc.property(bucketed, ({ terms, values }) => {
        expect(decimalString(costOfBuckets(terms, values).cost)).toBe(plain(oracleBucketedCost(terms, values)));
      }),
      { numRuns: 500 },
    );
  });

  it('in a fixed line of any quantity, minimum and part of its period', () => {
    const fees = fc.record({
      price: fc.oneof(prices, customPrices),
      minimum: fc.option(decimals(3, 17)),
      requested: fc.option(quantities),
      starts: cuts,
    });
    fc.assert(
      fc.property(fees, ({ price, minimum, requested, starts }) => {
        const quantity = defaultQuantity('FIXED', minimum, requested);
        expect(quantity).toBe(oracleQuantity(minimum, requested));
        const terms = { invoiceCadence: 'ARREAR' as const, price, quantity, startDate: new Date(starts).toISOString() };
        const subscription = { ...invoice([]).subscription, currency: price.currency };
        const [line] = linesOf(invoice([item('fee', terms)], { subscription }));
        const share = { n: BigInt(february.end - starts), d: BigInt(february.end - february.start) };
        expect(line!.amount).toBe(oracleLineAmount(price, oracleFiatCost(price, quantity), share));
      }),
      { numRuns: 1000 },
    );
  });

  it('in a usage line of any quantity and allowance', () => {
    const usages = fc.oneof(prices, customPrices).chain((price) =>
      fc.record({
        price: fc.constant(price),
        used: quantitiesFor(price),
        limit: fc.option(fc.bigInt({ min: 0n, max: 10_000n }).map(String)),
        isGranted: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(usages, ({ price, used, limit, isGranted }) => {
        const allowances = isGranted ? { meter: { usageLimit: limit, usageResetPeriod: null } } : {};
        const subscription = { ...invoice([]).subscription, currency: price.currency };
        const [line] = linesOf(invoice([usageItem('metered', { price })], { subscription, allowances }), () => used);
        const billable = isGranted ? oracleBillable(limit, used) : plain(fraction(used));
        expect(line!.quantity).toBe(billable);
        expect(line!.amount).toBe(oracleLineAmount(price, oracleFiatCost(price, billable)));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('nothing is lost in rounding', () => {
  it('a line is the coin nearest to its exact cost', () => {
    fc.assert(
      fc.property(rated, ({ terms, quantity }) => {
        const { cost } = costOfQuantity(terms, quantity);
        const amount = fraction(moneyString(roundToCurrency(cost, terms.currency), terms.currency));
        const away = minus(amount, fraction(decimalString(cost)));
        const halfCoin = { n: 1n, d: 2n * 10n ** BigInt(decimalsOf(terms.currency)) };
        expect(compare({ n: away.n < 0n ? -away.n : away.n, d: away.d }, halfCoin)).not.toBe(1);
      }),
      { numRuns: 500 },
    );
  });

  it('an effective unit cost is off by half an atom at most', () => {
    fc.assert(
      fc.property(rated, ({ terms, quantity }) => {
        const q = rounded(fraction(quantity), 15);
        const { cost } = costOfQuantity(terms, quantity);
        const unit = fraction(decimalString(effectiveUnitCost(cost, storedDecimal(quantity))));
        const away = minus(fraction(decimalString(cost)), times(unit, q));
        const halfAtoms = times(q, { n: 1n, d: 2n * 10n ** 15n });
        expect(compare({ n: away.n < 0n ? -away.n : away.n, d: away.d }, halfAtoms)).not.toBe(1);
      }),
      { numRuns: 500 },
    );
  });
});
