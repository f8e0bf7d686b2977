import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../api/plugins/json-body.ts';
import { quantityOf, textForm } from '../../../metering/property-value.ts';
import { decimalOfScaled, divideRounded, scaledInteger } from '../../../metering/quantity.ts';

const parsed = (json: string) => (parseJson(`{"v":${json}}`) as { v: unknown }).v;

describe('the quantity of a property', () => {
  it.each([
    ['10', '10'],
    ['"2.5"', '2.5'],
    ['"1e2"', '100'],
    ['"+7"', '7'],
    ['".5"', '0.5'],
    ['"1."', '1'],
    ['-4', '-4'],
    ['-0', '0'],
    ['1e-15', '0.000000000000001'],
    ['4e-16', '0'],
    ['5e-16', '0.000000000000001'],
    ['-5e-16', '-0.000000000000001'],
    ['123456789012345678901.123456789012345', '123456789012345678901.123456789012345'],
    ['0.1234567890123455', '0.123456789012346'],
    ['1e29', `1${'0'.repeat(29)}`],
  ])('%s is %s', (json, expected) => {
    expect(decimalOfScaled(quantityOf(parsed(json)))).toBe(expected);
  });

  it.each([
    '1e30',
    '-1e30',
    '1e400',
    '"1e99999"',
    'true',
    'null',
    '{}',
    '[1]',
    '""',
    '" 1"',
    '"1 "',
    '"abc"',
    '"NaN"',
    '"Infinity"',
    '"0x10"',
    '"1,5"',
    '"١"',
  ])('%s is no quantity and counts as 0', (json) => {
    expect(quantityOf(parsed(json))).toBe(0n);
  });

  it('is 0 where the property is absent', () => {
    expect(quantityOf(undefined)).toBe(0n);
  });

  it('is unusable from 10^30 on, not just below it', () => {
    expect(quantityOf(`${'9'.repeat(30)}.${'9'.repeat(20)}`)).toBe(10n ** 45n);
    expect(quantityOf(`1${'0'.repeat(30)}`)).toBe(0n);
  });
});

describe('the text form of a property', () => {
  it.each([
    ['1', '1'],
    ['1.0', '1'],
    ['1.50', '1.5'],
    ['1e2', '100'],
    ['1e-7', '0.0000001'],
    ['-0', '0'],
    ['"1.0"', '1.0'],
    ['" a "', ' a '],
    ['true', 'true'],
    ['false', 'false'],
    ['12345678901234567890.5', '12345678901234567890.5'],
  ])('of %s is %s', (json, expected) => {
    expect(textForm(parsed(json))).toBe(expected);
  });

  it.each(['null', '{}', '[]'])('of %s is none', (json) => {
    expect(textForm(parsed(json))).toBeNull();
  });
});

describe('exact arithmetic', () => {
  it('divides with ties away from zero', () => {
    expect([divideRounded(1n, 2n), divideRounded(-1n, 2n), divideRounded(2n, 3n), divideRounded(-4n, 3n)]).toEqual([
      1n,
      -1n,
      1n,
      -1n,
    ]);
  });

  it('writes no exponent, no padding and no negative zero', () => {
    expect([0n, -1n, 10n ** 15n, 15n * 10n ** 14n].map((value) => decimalOfScaled(value))).toEqual([
      '0',
      '-0.000000000000001',
      '1',
      '1.5',
    ]);
  });

  it('reads only decimal numerals', () => {
    expect(['', '.', '1e', 'e1', '1_0', '--1', '1 '].map((text) => scaledInteger(text, 15))).toEqual(
      Array(7).fill(null),
    );
  });
});
