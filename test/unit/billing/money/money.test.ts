import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  currencyPrecision,
  currencySymbol,
  decimal,
  decimalString,
  fractionOf,
  moneyString,
  roundDownToCurrency,
  roundToCurrency,
  storedDecimal,
} from '../../../../billing/money/money.ts';
import { currencies } from '../arbitraries.ts';

describe('rounding to a currency (subscriptions-and-invoicing §2.1)', () => {
  it.each([
    ['1.005', 'usd', '1.01'],
    ['-0.125', 'usd', '-0.13'],
    ['5.775', 'usd', '5.78'],
    ['-5.775', 'usd', '-5.78'],
    ['0.0045', 'kwd', '0.005'],
    ['10.5', 'JPY', '11'],
    ['0.00005', 'clf', '0.0001'],
    ['0.494999999999999999999999', 'xyz', '0.49'],
    ['-0.004', 'usd', '0.00'],
  ])('%s %s → %s', (amount, currency, rounded) => {
    expect(moneyString(roundToCurrency(amount, currency), currency)).toBe(rounded);
  });

  it('moves by at most half a unit, never towards zero on a tie, and is odd', () => {
    const amounts = fc.tuple(fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), fc.integer({ min: 0, max: 7 }));
    fc.assert(
      fc.property(amounts, currencies, ([digits, decimals], currency) => {
        const amount = decimal(digits).dividedBy(decimal(10).pow(decimals));
        const rounded = roundToCurrency(amount, currency);
        const unit = decimal(10).pow(-currencyPrecision(currency));
        const moved = rounded.minus(amount).abs();
        expect(moved.times(2).lessThanOrEqualTo(unit)).toBe(true);
        if (moved.times(2).equals(unit)) expect(rounded.abs().greaterThan(amount.abs())).toBe(true);
        expect(roundToCurrency(amount.negated(), currency).equals(rounded.negated())).toBe(true);
        expect(roundToCurrency(rounded, currency).equals(rounded)).toBe(true);
        expect(roundDownToCurrency(amount.abs(), currency).lessThanOrEqualTo(amount.abs())).toBe(true);
      }),
    );
  });
});

describe('decimals as text', () => {
  it('are plain: no exponent, no padding, no negative zero', () => {
    expect(decimalString('0.0000000100')).toBe('0.00000001');
    expect(decimalString('123456789012345678901234567890.5')).toBe('123456789012345678901234567890.5');
    expect(decimalString(decimal('-0'))).toBe('0');
    expect(decimalString(decimal('1e3'))).toBe('1000');
  });

  it('keep 15 decimals in storage, half away from zero', () => {
    expect(decimalString(storedDecimal('0.0000000000000005'))).toBe('0.000000000000001');
    expect(decimalString(storedDecimal('-0.0000000000000005'))).toBe('-0.000000000000001');
  });

  it('show money with its currency’s digits', () => {
    expect(moneyString(decimal('12.5'), 'usd')).toBe('12.50');
    expect(moneyString(decimal('12'), 'jpy')).toBe('12');
  });
});

describe('currencies', () => {
  it('know digits and symbols, 2 and the code for the rest', () => {
    expect(['usd', 'JPY', 'kwd', 'clf', 'xyz'].map(currencyPrecision)).toEqual([2, 0, 3, 4, 2]);
    const without = 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf'.split(' ');
    expect(without.filter((code) => currencyPrecision(code) !== 0)).toEqual([]);
    const thousandths = 'bhd iqd jod kwd lyd omr tnd'.split(' ');
    expect(thousandths.filter((code) => currencyPrecision(code) !== 3)).toEqual([]);
    const cents = 'huf idr twd mga mru chf mxn cop'.split(' ');
    expect([...cents, 'uyw'].map(currencyPrecision)).toEqual([...cents.map(() => 2), 4]);
    expect(['usd', 'EUR', 'kwd', 'xyz'].map(currencySymbol)).toEqual(['$', '€', 'KD', 'XYZ']);
  });
});

describe('a share of time', () => {
  it('leaves the whole untouched and splits without loss at money’s precision', () => {
    expect(decimalString(fractionOf(decimal('100'), 5, 5))).toBe('100');
    const month = 31 * 86_400_000;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: month - 1 }), fc.bigInt({ min: 1n, max: 10n ** 12n }), (part, cents) => {
        const amount = decimal(cents).dividedBy(100);
        const both = fractionOf(amount, part, month).plus(fractionOf(amount, month - part, month));
        expect(roundToCurrency(both, 'usd').equals(amount)).toBe(true);
      }),
    );
  });
});
