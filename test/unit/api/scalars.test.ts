import { describe, expect, it } from 'vitest';
import {
  booleanQuery,
  currencyInput,
  decimalInput,
  idListQuery,
  metadataInput,
  timestampInput,
  timezoneInput,
} from '../../../api/scalars.schema.ts';

describe('timestampInput', () => {
  it.each([
    ['2026-01-31T00:00:00Z', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T05:30:00+05:30', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T00:00:00.123456Z', '2026-01-31T00:00:00.123Z'],
    ['2026-01-31T00:00:00.9999Z', '2026-01-31T00:00:00.999Z'],
    ['2024-02-29t12:00:00z', '2024-02-29T12:00:00.000Z'],
  ])('%s is %s', (text, expected) => expect(timestampInput().parse(text)).toBe(expected));

  it.each([
    '2026-01-31',
    '2026-01-31T00:00:00',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    'now',
    1769817600,
    null,
  ])('refuses %s', (value) => expect(timestampInput().safeParse(value).success).toBe(false));
});

it('decimalInput keeps its bounds', () => {
  expect(decimalInput({ min: '0' }).safeParse('0').success).toBe(true);
  expect(decimalInput({ min: '0' }).safeParse('-0.01').success).toBe(false);
  expect(decimalInput({ above: '0' }).safeParse('0.00').success).toBe(false);
  expect(decimalInput({ above: '0' }).parse(0.5)).toBe('0.5');
});

it('currencies are lower case and time zones exist', () => {
  expect(currencyInput().parse('USD')).toBe('usd');
  expect(currencyInput().safeParse('us').success).toBe(false);
  expect(timezoneInput().safeParse('Asia/Kolkata').success).toBe(true);
  expect(timezoneInput().safeParse('+05:30').success).toBe(false);
});

it('metadata maps strings to strings', () => {
  expect(metadataInput().safeParse({ a: 'b' }).success).toBe(true);
  expect(metadataInput().safeParse({ a: null }).success).toBe(false);
  expect(metadataInput().safeParse({ '': 'b' }).success).toBe(false);
});

it('query strings carry booleans and lists', () => {
  expect(['true', '1', 'false', '0'].map((text) => booleanQuery().parse(text))).toEqual([true, true, false, false]);
  expect(booleanQuery().safeParse('yes').success).toBe(false);
  expect(idListQuery().parse(['a,b', 'c'])).toEqual(['a', 'b', 'c']);
  expect(idListQuery().safeParse('a,').success).toBe(false);
});
