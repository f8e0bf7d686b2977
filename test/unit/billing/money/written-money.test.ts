import { expect, it } from 'vitest';
import { groupedDigits, writtenMoney } from '../../../../billing/money/written-money.ts';

it.each([
  ['0', 'usd', '$0.00'],
  ['1234567.5', 'eur', '€1,234,567.50'],
  ['-3', 'usd', '-$3.00'],
  ['12345', 'jpy', '¥12,345'],
  ['1.5', 'kwd', 'KD 1.500'],
  ['12', 'chf', 'CHF 12.00'],
  ['99999999999999999999.99', 'usd', '$99,999,999,999,999,999,999.99'],
])('%s %s is written %s', (amount, currency, written) => {
  expect(writtenMoney(amount, currency)).toBe(written);
});

it('keeps every digit of a quantity', () => {
  expect(['1234.5678', '999', '1000', '0.000001'].map(groupedDigits)).toEqual([
    '1,234.5678',
    '999',
    '1,000',
    '0.000001',
  ]);
});
