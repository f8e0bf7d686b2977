import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atStoredScale, canonicalDecimal, jsonNumber } from '../../../api/decimal.ts';

describe('canonicalDecimal', () => {
  it.each([
    ['1', '1'],
    ['1.50', '1.5'],
    ['-0', '0'],
    ['-0.000', '0'],
    ['007', '7'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['+3', '3'],
    ['1e3', '1000'],
    ['1.5E-3', '0.0015'],
    ['12.34e1', '123.4'],
    ['0.1e-6', '0.0000001'],
    ['123456789012345678901234567890.123456789012345', '123456789012345678901234567890.123456789012345'],
  ])('%s is %s', (text, expected) => expect(canonicalDecimal(text)).toBe(expected));

  it.each([
    '',
    '.',
    '-',
    'e5',
    '1e',
    '1e99999',
    '1e200',
    '0x10',
    '1,5',
    'NaN',
    'Infinity',
    ' 1',
    '1_000',
    `1${'0'.repeat(300)}`,
  ])('%s is no decimal', (text) => expect(canonicalDecimal(text)).toBeNull());

  it('gives what it was given, for any plain decimal', () => {
    const digits = (length: number) => fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: length });
    fc.assert(
      fc.property(fc.boolean(), digits(20), digits(20), (negative, whole, fraction) => {
        const text = `${negative ? '-' : ''}${whole.join('')}.${fraction.join('')}`;
        const canonical = canonicalDecimal(text) ?? '';
        expect(canonicalDecimal(canonical)).toBe(canonical);
        expect(canonical).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
        const scaled = (decimal: string) => {
          const [integer = '', decimals = ''] = decimal.replace('-', '').split('.');
          return BigInt(integer + decimals.padEnd(20, '0')) * (decimal.startsWith('-') ? -1n : 1n);
        };
        expect(scaled(canonical)).toBe(scaled(text));
      }),
    );
  });
});

describe('atStoredScale', () => {
  it.each([
    ['1.5', '1.5'],
    ['0.0000000000000004', '0'],
    ['0.0000000000000005', '0.000000000000001'],
    ['-0.0000000000000005', '-0.000000000000001'],
    ['0.9999999999999995', '1'],
    ['-9.9999999999999999', '-10'],
  ])('%s is stored as %s', (text, expected) => expect(atStoredScale(text)).toBe(expected));
});

it('jsonNumber writes the digits it was given', () => {
  expect(JSON.stringify({ amount: jsonNumber('12345678901234567890.10') })).toBe('{"amount":12345678901234567890.1}');
});
