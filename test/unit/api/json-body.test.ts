import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../api/plugins/json-body.ts';
import { decimalInput } from '../../../api/scalars.schema.ts';

const decimalOf = (text: string) => decimalInput().parse((parseJson(`{"a":${text}}`) as { a: unknown }).a);

describe('parseJson', () => {
  it.each([
    ['0.1', '0.1'],
    ['1e2', '100'],
    ['0.1000000000000000', '0.1'],
    ['9007199254740993', '9007199254740993'],
    ['12345678901234567890.123', '12345678901234567890.123'],
    ['"12345678901234567890.123"', '12345678901234567890.123'],
    ['0.123456789012345', '0.123456789012345'],
    ['-1.5e-7', '-0.00000015'],
  ])('keeps the digits of %s', (text, expected) => expect(decimalOf(text)).toBe(expected));

  it('leaves a number that a float keeps a number', () => {
    expect(parseJson('{"n":1.0,"long":1234567890123456,"exp":1e2,"x":0.10000000000000000}')).toEqual({
      n: 1,
      long: 1234567890123456,
      exp: 100,
      x: 0.1,
    });
  });

  it('writes back the digits that it could not keep', () => {
    const text = '{"a":0.12345678901234567890123,"b":[1e400]}';
    expect(JSON.stringify(parseJson(text))).toBe(text);
  });

  it.each([
    ['malformed', '{"a":'],
    ['a prototype', '{"__proto__":{"admin":true}}'],
    ['a prototype in escapes', '{"\\u005f_proto__":{"admin":true}}'],
    ['a constructor', '{"constructor":{"prototype":{"admin":true}}}'],
    ['NUL', '{"a":"x\\u0000y"}'],
    ['too deep', `${'['.repeat(65)}${']'.repeat(65)}`],
    ['far too deep', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['not JSON numbers', '{"a":NaN}'],
  ])('refuses %s', (_name, text) => expect(() => parseJson(text)).toThrow(/body/));

  it('takes 64 levels and an escaped backslash before u0000', () => {
    expect(() => parseJson(`${'['.repeat(64)}${']'.repeat(64)}`)).not.toThrow();
    expect(parseJson('{"a":"\\\\u0000"}')).toEqual({ a: '\\u0000' });
  });

  it.each(['true', '"x1"', 'null', '{}', '[1]', '1e400', '12.5.1'])('a decimal is not %s', (text) => {
    expect(() => decimalOf(text)).toThrow();
  });
});
