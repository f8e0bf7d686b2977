import { data as currencies } from 'currency-codes';
import { Decimal as DecimalConstructor } from 'decimal.js';

/**
 * Wide enough that every product and sum of stored values (at most 15 decimals) is exact; only a quotient can be inexact,
 * and then by less than 1e-100 of itself.
 */
const Exact = DecimalConstructor.clone({
  precision: 200,
  rounding: DecimalConstructor.ROUND_HALF_UP,
  toExpNeg: -7,
  toExpPos: 21,
});

export type Decimal = DecimalConstructor;

/** Decimals kept in storage. spec: catalogue-and-metering §1.1 N3 */
const storedScale = 15;

/** By lower-case code; a code without a smaller unit, such as gold, has none. spec: README decision 54 */
const precisionOfCurrency = new Map(currencies.map(({ code, digits }) => [code.toLowerCase(), digits]));

const symbolOfCurrency: Record<string, string> = {
  usd: '$',
  eur: '€',
  gbp: '£',
  jpy: '¥',
  inr: '₹',
  sgd: 'S$',
  krw: '₩',
  brl: 'R$',
  nzd: 'NZ$',
  hkd: 'HK$',
  mxn: 'MX$',
  twd: 'NT$',
  cny: 'CN¥',
  php: '₱',
  vnd: '₫',
  ils: '₪',
  rub: '₽',
  thb: '฿',
  idr: 'Rp',
  kwd: 'KD',
};

export const zero: Decimal = new Exact(0);
export const hundred: Decimal = new Exact(100);

/** The exact decimal of a text, an integer or a decimal; throws on anything that is none. */
export function decimal(value: string | number | bigint | Decimal): Decimal {
  return new Exact(typeof value === 'bigint' ? value.toString() : value);
}

/** Plain notation, no exponent, no trailing zeros, `0` never `-0`. spec: catalogue-and-metering §1.1 N6 */
export function decimalString(value: Decimal | string): string {
  return new Exact(value).toFixed();
}

/** A value as storage keeps it: 15 decimals, half away from zero. spec: catalogue-and-metering §1.1 N3, N4 */
export function storedDecimal(value: Decimal | string | number): Decimal {
  return new Exact(value).toDecimalPlaces(storedScale, DecimalConstructor.ROUND_HALF_UP);
}

/** Decimals of a currency by ISO 4217; 2 for codes it does not have. Case does not matter. spec: catalogue-and-metering §1.1, README decision 54 */
export function currencyPrecision(currency: string): number {
  return precisionOfCurrency.get(currency.toLowerCase()) ?? 2;
}

/** Half away from zero at the currency's precision. Once per amount, never on sums. spec: subscriptions-and-invoicing §2.1 */
export function roundToCurrency(value: Decimal | string, currency: string): Decimal {
  return new Exact(value).toDecimalPlaces(currencyPrecision(currency), DecimalConstructor.ROUND_HALF_UP);
}

/** Towards zero at the currency's precision: what a wallet may give. spec: subscriptions-and-invoicing §2.1, README decision 15 */
export function roundDownToCurrency(value: Decimal | string, currency: string): Decimal {
  return new Exact(value).toDecimalPlaces(currencyPrecision(currency), DecimalConstructor.ROUND_DOWN);
}

/** Away from zero at the currency's precision. */
export function roundUpToCurrency(value: Decimal | string, currency: string): Decimal {
  return new Exact(value).toDecimalPlaces(currencyPrecision(currency), DecimalConstructor.ROUND_UP);
}

/** An amount with the currency's digits, `12.50`; the value must already be rounded. */
export function moneyString(value: Decimal, currency: string): string {
  return value.toFixed(currencyPrecision(currency), DecimalConstructor.ROUND_HALF_UP).replace(/^-(?=[0.]*$)/, '');
}

/** The symbol put before an amount; the upper-case code where none is known. spec: catalogue-and-metering §1.1 */
export function currencySymbol(currency: string): string {
  return symbolOfCurrency[currency.toLowerCase()] ?? currency.toUpperCase();
}

export function sum(values: Iterable<Decimal>): Decimal {
  let total = zero;
  for (const value of values) total = total.plus(value);
  return total;
}

export function least(first: Decimal, second: Decimal): Decimal {
  return first.lessThan(second) ? first : second;
}

export function greatest(first: Decimal, second: Decimal): Decimal {
  return first.greaterThan(second) ? first : second;
}

/** A share of a whole, both in milliseconds, exact to far beyond money's precision. */
export function fractionOf(value: Decimal, numeratorMs: number, denominatorMs: number): Decimal {
  return numeratorMs === denominatorMs ? value : value.times(numeratorMs).dividedBy(denominatorMs);
}
