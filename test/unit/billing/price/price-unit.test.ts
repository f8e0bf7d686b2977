import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainCharge } from '../../../../billing/explanation/charge-explanation.ts';
import type { ChargeItem } from '../../../../billing/line/charge.ts';
import { costOfQuantity } from '../../../../billing/price/price.ts';
import type { PriceTerms } from '../../../../billing/price/price-terms.ts';
import {
  atRate,
  costInCurrency,
  fiatAmount,
  fiatTiers,
  linePriceUnit,
  priceUnitAmount,
  priceUnitTotals,
} from '../../../../billing/price/price-unit.ts';
import {
  currencies,
  decimals,
  flatPrices,
  packagePricesDown,
  packagePricesUp,
  quantities,
  tieredPrices,
} from '../arbitraries.ts';
import { at, brief, invoice, item, linesOf, monthly, period, quarterly, usageItem } from '../line/charge-fixture.ts';
import { decimalsOf, fixed, fraction, oracleCost, over, plain, rounded, times } from '../rating-oracle.ts';

const customPrices = fc.oneof(flatPrices, packagePricesUp, packagePricesDown, tieredPrices);
// As they are stored: without zeros at the end.
const rates = fc
  .oneof(decimals(3, 4), decimals(1, 15), fc.constantFrom('1', '0.000000000000001', '1000000'))
  .filter((rate) => fraction(rate).n > 0n)
  .map((rate) => plain(fraction(rate)));
const inUnit = (price: PriceTerms, rate: string): PriceTerms => ({
  ...price,
  price_unit: { id: 'unit', code: 'tok', rate },
});
/** A line of one part, or of many with shares of whole periods. */
function lineOf(price: PriceTerms, quantity: string, { shared = false } = {}) {
  const { currency } = price;
  const cut = { elapsed: null, next: period('2026-01-31', '2026-04-30', '2026-01-31', '2026-04-30') };
  const input = shared
    ? { ...cut, subscription: { ...quarterly, currency, lineItemGrouping: 'per_billing_period' as const } }
    : { subscription: { ...monthly, currency } };
  const members: Partial<ChargeItem> = { price, quantity, ...(shared ? { startDate: at('2026-02-10') } : {}) };
  return linesOf(invoice([item('line', members)], input))[0]!;
}

describe('conversion of a custom currency (catalogue-and-metering §4.5)', () => {
  it('keeps converted amounts to 15 decimals and never rounds them to the currency', () => {
    fc.assert(
      fc.property(decimals(6, 15), rates, (amount, rate) => {
        expect(fiatAmount(amount, rate)).toBe(plain(rounded(times(fraction(amount), fraction(rate)), 15)));
      }),
    );
    const tiers = [{ up_to: '5', unit_amount: '2', flat_amount: '0.01' }];
    expect(fiatTiers(tiers, '0.5')).toEqual([{ up_to: '5', unit_amount: '1', flat_amount: '0.005' }]);
  });

  it('charges exactly cost in the custom currency × rate, rounded once, whatever the price', () => {
    fc.assert(
      fc.property(customPrices, quantities, rates, (price, quantity, rate) => {
        const exact = times(oracleCost(price, quantity), fraction(rate));
        const places = decimalsOf(price.currency);
        const { derivation, amount } = lineOf(inUnit(price, rate), quantity);
        expect(amount).toBe(fixed(rounded(exact, places), places));
        expect(derivation.parts[0]).toMatchObject({
          unitCost: plain(oracleCost(price, quantity), 200),
          cost: plain(exact, 200),
        });
      }),
    );
  });

  it('equals pricing with converted amounts wherever none of them is cut', () => {
    const short = fc.record({
      unit: decimals(4, 4),
      flat: decimals(3, 4),
      limit: fc.integer({ min: 1, max: 100 }),
      mode: fc.constantFrom('SLAB' as const, 'VOLUME' as const),
      rate: decimals(2, 6).filter((rate) => fraction(rate).n > 0n),
    });
    fc.assert(
      fc.property(short, decimals(3, 3), ({ unit, flat, limit, mode, rate }, quantity) => {
        const tiers = [
          { up_to: String(limit), unit_amount: unit, flat_amount: flat },
          { up_to: null, unit_amount: flat, flat_amount: unit },
        ];
        const terms: PriceTerms = { billing_model: 'TIERED', tier_mode: mode, currency: 'usd', tiers };
        const live = inUnit(terms, rate);
        const fiat = costOfQuantity({ ...terms, tiers: fiatTiers(tiers, rate) }, quantity).cost;
        expect(costInCurrency(costOfQuantity(live, quantity).cost, live).equals(fiat)).toBe(true);
      }),
    );
  });

  it('goes back to the custom currency from the rounded amount', () => {
    fc.assert(
      fc.property(decimals(6, 4), rates, currencies, (amount, rate, currency) => {
        const exact = rounded(over(fraction(amount), fraction(rate)), decimalsOf(currency));
        expect(priceUnitAmount(amount, rate, currency).toFixed()).toBe(plain(exact));
      }),
    );
  });
});

describe('a new rate (catalogue-and-metering §4.5, subscriptions-and-invoicing §2.15.10)', () => {
  it('makes of a computed line the one it would have been at that rate, prorated and folded or not', () => {
    fc.assert(
      fc.property(customPrices, quantities, rates, rates, fc.boolean(), (price, quantity, before, after, shared) => {
        const draft = lineOf(inUnit(price, before), quantity, { shared }).derivation;
        const final = lineOf(inUnit(price, after), quantity, { shared }).derivation;
        expect(atRate(draft, after)).toEqual(final);
        expect(atRate(atRate(draft, after), before)).toEqual(draft);
      }),
    );
  });

  it('leaves what the line costs in the custom currency, and lines in fiat', () => {
    const draft = lineOf(
      inUnit({ billing_model: 'FLAT_FEE', amount: '35.5', currency: 'usd' }, '0.05'),
      '1',
    ).derivation;
    expect(linePriceUnit(draft)).toEqual({
      priceUnit: 'tok',
      priceUnitId: 'unit',
      priceUnitAmount: '35.6',
      priceUnitCost: '35.5',
      conversionRate: '0.05',
    });
    expect(linePriceUnit(atRate(draft, '0.06'))).toMatchObject({ priceUnitCost: '35.5', conversionRate: '0.06' });
    const fiat = linesOf(invoice([item('fiat')]))[0]!.derivation;
    expect(atRate(fiat, '2')).toBe(fiat);
    expect(linePriceUnit(fiat)).toBeNull();
    expect(fiat.parts[0]).not.toHaveProperty('unitCost');
  });

  it('prices buckets in the custom currency too', () => {
    const price = inUnit(
      { billing_model: 'PACKAGE', amount: '10', currency: 'usd', transform_quantity: { divide_by: 4 } },
      '0.015',
    );
    const buckets = ['1', '5'].map((value, hour) => ({ start: at(`2026-02-01T0${hour}:00:00Z`), group: '', value }));
    const lines = linesOf(invoice([usageItem('calls', { price, bucketSize: 'HOUR' })]), () => ({
      quantity: '6',
      buckets,
    }));
    expect(brief(lines)).toEqual([['calls', '2026-02-01', '2026-03-01', '6', '0.45']]);
    expect(lines[0]!.derivation.parts[0]).toMatchObject({ unitCost: '30', cost: '0.45' });
    expect(atRate(lines[0]!.derivation, '1')).toMatchObject({
      amount: '30.00',
      parts: [{ cost: '30', amount: '30.00' }],
    });
  });
});

describe('totals in custom currencies', () => {
  it('adds up the lines of each and is null without any', () => {
    const line = (priceUnit: string, priceUnitAmount: string) => ({
      priceUnit,
      priceUnitId: `id-${priceUnit}`,
      priceUnitAmount,
      priceUnitCost: '0',
      conversionRate: '2',
    });
    const total = (price_unit: string, amount: string) => ({
      price_unit,
      price_unit_id: `id-${price_unit}`,
      conversion_rate: '2',
      amount,
    });
    expect(priceUnitTotals([line('tok', '1.5'), null, line('abc', '2'), line('tok', '0.25')])).toEqual([
      total('abc', '2'),
      total('tok', '1.75'),
    ]);
    expect(priceUnitTotals([null])).toBeNull();
  });
});

describe('the explanation', () => {
  it('walks the price in the custom currency, converts once and rounds once', () => {
    const tiers = [
      { up_to: '10', unit_amount: '2', flat_amount: '0' },
      { up_to: null, unit_amount: '1', flat_amount: '0' },
    ];
    const price = inUnit({ billing_model: 'TIERED', tier_mode: 'SLAB', currency: 'usd', tiers }, '0.0333');
    const sentences = explainCharge(lineOf(price, '15').derivation, null).map(({ kind, sentence }) => [kind, sentence]);
    expect(sentences.slice(1)).toEqual([
      ['price', 'Tier 1 (up to 10): 10 × 2.00 = 20.00 tok.'],
      ['price', 'Tier 2 (no upper limit): 5 × 1.00 = 5.00 tok.'],
      ['price', 'The tiers add up to 25.00 tok.'],
      ['conversion', 'One tok is worth 0.0333 usd: 25.00 × 0.0333 = 0.8325 usd.'],
      ['rounding', 'Rounded to 2 decimals: 0.83 usd.'],
    ]);
  });
});
