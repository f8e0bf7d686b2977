import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { currencyPrecision } from '../../../../billing/money/money.ts';
import { checkoutFormat } from '../../../../integrations/checkout-page/format.ts';
import { checkoutLanguages } from '../../../../integrations/checkout-page/view.ts';

const plain = (text: string) =>
  text
    .replace(/[\u00a0\u2009\u200e\u200f\u202f\u061c]/g, ' ')
    .replace(/ +/g, ' ')
    .trim();

describe('money', () => {
  test.each([
    ['en', '1234567.5', 'usd', '$1,234,567.50'],
    ['en', '0', 'eur', '€0.00'],
    ['en', '5000', 'jpy', '¥5,000'],
    ['en', '1.234', 'kwd', 'KWD 1.234'],
    ['en', '0.00012', 'usd', '$0.00012'],
    ['en', '7', 'iqd', 'IQD 7.000'],
    ['en', '10000', 'xaf', 'FCFA 10,000'],
    ['de', '1234567.5', 'usd', '1.234.567,50 $'],
    ['de', '1.234', 'kwd', '1,234 KWD'],
    ['ar', '1234.5', 'usd', '1,234.50 US$'],
    ['en', '123456789012345678901234.123456789012345678', 'usd', '$123,456,789,012,345,678,901,234.123456789012345678'],
  ] as const)('%s writes %s %s as %s', (language, amount, currency, written) => {
    expect(plain(checkoutFormat(language).money(amount, currency))).toBe(written);
  });

  test('what is taken off has a minus sign, and nothing that is taken off has none', () => {
    const { less } = checkoutFormat('en');
    expect([less('33.5', 'eur'), less('0', 'eur'), less('0.00', 'eur')]).toEqual(['−€33.50', '€0.00', '€0.00']);
  });

  test('every amount is shown digit by digit, in every language', () => {
    const currency = fc.constantFrom('usd', 'EUR', 'jpy', 'kwd', 'clf', 'isk', 'xaf', 'aed', 'inr');
    const amount = fc
      .tuple(fc.bigInt({ min: 0n, max: 10n ** 24n }), fc.integer({ min: 0, max: 12 }), fc.boolean())
      .map(([digits, decimals, isNegative]) => {
        const text = digits.toString().padStart(decimals + 1, '0');
        const whole = text.slice(0, text.length - decimals);
        const fraction = text.slice(text.length - decimals).replace(/0+$/, '');
        const sign = isNegative && digits > 0n ? '-' : '';
        return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`;
      });
    fc.assert(
      fc.property(fc.constantFrom(...checkoutLanguages), currency, amount, (language, code, value) => {
        const written = checkoutFormat(language).money(value, code);
        const decimals = Math.max(value.split('.')[1]?.length ?? 0, currencyPrecision(code));
        const [whole = '', fraction = ''] = value.replace('-', '').split('.');
        expect(written.replace(/\D/g, '')).toBe(whole + fraction.padEnd(decimals, '0'));
        expect(written.includes('−')).toBe(value.startsWith('-'));
      }),
      { numRuns: 10_000 },
    );
  });
});

test('quantities, percents and periods keep their digits', () => {
  const en = checkoutFormat('en');
  const de = checkoutFormat('de');
  expect([en.number('1200345.123456789'), de.number('1200345.5')]).toEqual(['1,200,345.123456789', '1.200.345,5']);
  expect([en.percent('19'), de.percent('5.5')]).toEqual(['19%', '5,5\u00a0%']);
  const month = { start: '2026-01-31T23:00:00.000Z', end: '2026-02-28T23:00:00.000Z' };
  expect(plain(en.period(month, 'Europe/Berlin'))).toBe('1 – 28 Feb 2026');
  expect(plain(en.period({ start: month.start, end: month.start }, 'Europe/Berlin'))).toBe('1 Feb 2026');
  expect(en.instant('2026-07-01T22:05:00.000Z', 'Asia/Kolkata')).toBe('2 July 2026 at 03:35 GMT+5:30');
});
