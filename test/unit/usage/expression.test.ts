import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../api/plugins/json-body.ts';
import { compileExpression, expressionProblem } from '../../../metering/expression.ts';
import { expressionQuantity } from '../../../metering/expression-value.ts';
import { decimalOfScaled } from '../../../metering/quantity.ts';
import { fraction, parsed, plainText } from '../../support/fraction.ts';
import { expressionResult, knownExpression } from '../../support/oracles/expression-oracle.ts';

function evaluated(text: string, json = '{}', multiplier: string | null = null): string | null {
  const properties = parseJson(json) as Record<string, unknown>;
  const quantity = expressionQuantity(compileExpression(text, multiplier), (name) => properties[name]);
  return quantity === null ? null : decimalOfScaled(quantity);
}

describe('the value of an expression (catalogue-and-metering §5.3)', () => {
  it.each([
    ['tokens * 0.001 + calls * 2.0', '{"tokens":"1000","calls":2}', '5'],
    ['a + b * c', '{"a":1,"b":2,"c":3}', '7'],
    ['a - b - c', '{"a":1,"b":2,"c":3}', '-4'],
    ['(a - b) / c', '{"a":1,"b":2,"c":3}', '-0.333333333333333'],
    ['-a * -b', '{"a":2,"b":3}', '6'],
    ['absent + 1', '{}', '1'],
    ['n + 0.1', '{"n":0.2}', '0.3'],
    ['a / b * b', '{"a":1,"b":3}', '1'],
    ['n * 1', '{"n":"+1e2"}', '100'],
    ['n * 0.0000000000000005', '{"n":1}', '0.000000000000001'],
    ['usage.total * 2', '{"usage.total":4,"usage":{"total":9}}', '8'],
    ['round(n)', '{"n":-2.5}', '-3'],
    ['floor(n) + ceil(n)', '{"n":-2.5}', '-5'],
    ['sqrt(n)', '{"n":2}', '1.414213562373095'],
    ['log(n)', '{"n":2}', '0.693147180559945'],
    ['pow(n, 0.5) + pow(2, 10)', '{"n":9}', '1027'],
    ['pow(n, -2)', '{"n":-2}', '0.25'],
    ['pow(n, 0)', '{}', '1'],
    ['abs(min(n, m, 10)) + max(n)', '{"n":-3,"m":1}', '0'],
    ['n >= 2 && !(m == 1) ? 1 : 0', '{"n":2}', '1'],
    ['n != 2 || m < 1 ? 1 : 0', '{"n":2,"m":5}', '0'],
    ['n * n - n * n + 1', '{"n":"99999999999999999999"}', '1'],
  ])('%s of %s is %s', (text, json, expected) => {
    expect(evaluated(text, json)).toBe(expected);
  });

  it('is multiplied last, then rounded to 15 decimals', () => {
    expect(evaluated('n / 3', '{"n":1}', '3')).toBe('1');
    expect(evaluated('n', '{"n":"0.000000000000001"}', '0.5')).toBe('0.000000000000001');
  });

  it.each([
    ['text', 'n + 1', '{"n":"abc"}'],
    ['blanks', 'n + 1', '{"n":" 1"}'],
    ['a boolean', 'n + 1', '{"n":true}'],
    ['null', 'n + 1', '{"n":null}'],
    ['an object', 'n + 1', '{"n":{}}'],
    ['10^30', 'n - n', '{"n":1e30}'],
    ['10^30 as text', 'n - n', '{"n":"1e30"}'],
    ['an endless exponent', 'n - n', '{"n":"1e99999"}'],
    ['a division by zero', '1 / n', '{}'],
    ['a root of a negative', 'sqrt(n)', '{"n":-1}'],
    ['a logarithm of zero', 'log(n)', '{}'],
    ['zero to a negative power', 'pow(n, -1)', '{}'],
    ['a root of a negative by power', 'pow(n, 0.5)', '{"n":-4}'],
    ['a power that large', 'pow(n, 100)', '{"n":10}'],
    ['a result of 10^30', 'n * 10', '{"n":1e29}'],
  ])('fails for %s', (_, text, json) => {
    expect(evaluated(text, json)).toBeNull();
  });

  it('reads only the side it needs', () => {
    expect(evaluated('n > 0 ? n : bad', '{"n":1,"bad":"x"}')).toBe('1');
    expect(evaluated('n > 5 && bad > 0 ? 1 : 2', '{"n":1,"bad":"x"}')).toBe('2');
    expect(evaluated('n > 0 || bad > 0 ? 1 : 2', '{"n":1,"bad":"x"}')).toBe('1');
    expect(evaluated('bad > 0 || n > 0 ? 1 : 2', '{"n":1,"bad":"x"}')).toBeNull();
    expect(evaluated('min(n, bad)', '{"n":1,"bad":"x"}')).toBeNull();
  });

  it('is what fractions say, whatever the expression', () => {
    const value = fc.constantFrom('0', '1', '-1', '2', '3', '7', '2.5', '-0.125', '1000000', '0.001', null, undefined);
    const property = fc.property(
      knownExpression,
      fc.record({ n: value, m: value, 'k.x': value }),
      fc.constantFrom(null, '2', '0.001'),
      (expression, given, multiplier) => {
        const known = Object.fromEntries(
          Object.entries(given).map(([name, text]) => [name, typeof text === 'string' ? parsed(text) : text]),
        );
        const program = compileExpression(expression.text, multiplier);
        const actual = expressionQuantity(program, (name) => (given as Record<string, unknown>)[name]);
        const expected = expressionResult(expression, multiplier, known);
        expect(actual === null ? null : decimalOfScaled(actual)).toBe(expected === null ? null : plainText(expected));
      },
    );
    fc.assert(property, { numRuns: 2_000 });
  });

  it('knows what a fraction is', () => {
    expect(plainText(fraction(-1, 8))).toBe('-0.125');
  });
});

describe('the language', () => {
  it.each([
    ['', 'cannot be read|must be one expression'],
    ['n +', 'cannot be read'],
    ['n n', 'must be one expression'],
    ['n; m', 'must be one expression'],
    ['[n]', 'must be one expression'],
    ['1 + 2', 'must name at least one event property'],
    ['n % 2', 'knows the operators'],
    ['n ** 2', 'knows the operators'],
    ['n === 2 ? 1 : 0', 'knows the operators'],
    ['+n', 'knows the operators'],
    ["n + 'a'", 'takes numbers and property names only'],
    ['n + true', 'takes numbers and property names only'],
    ['this.n', 'takes plain property names only'],
    ["n['a']", 'takes plain property names only'],
    ['n?.a', 'takes plain property names only'],
    ['n > 1', 'must give a number'],
    ['n ? 1 : 0', 'must give \\? a condition'],
    ['(n > 1) + 1', 'must give \\+ a number'],
    ['!n ? 1 : 0', 'must give ! a condition'],
    ['n > 1 ? 1 : n > 2', 'two numbers or two conditions'],
    ['eval(n)', 'knows the functions max, min'],
    ['constructor(n)', 'knows the functions max, min'],
    ['n.floor(1)', 'knows the functions max, min'],
    ['pow(n)', 'must give pow 2'],
    ['min()', 'must give min at least one value'],
    ['n + 1e30', 'numbers below 10\\^30'],
  ])('refuses %s: %s', (text, problem) => {
    expect(expressionProblem(text)).toMatch(new RegExp(problem));
    expect(() => compileExpression(text)).toThrow('aggregation.expression ');
  });

  it.each([
    ['length', `n${' + n'.repeat(600)}`, '2000 characters'],
    ['size', `min(n${',n'.repeat(200)})`, '200 names'],
    ['depth', `${'abs('.repeat(102)}n${')'.repeat(102)}`, '100 deep'],
    ['costly functions', `log(n)${'+log(n)'.repeat(4)}`, 'at most 4 times'],
  ])('bounds the %s', (_, text, problem) => {
    expect(expressionProblem(text)).toContain(problem);
  });

  it('takes everything it is documented to take', () => {
    const text =
      'max(a, b, 1) + min(c) * pow(d, 2) - abs(e) / ceil(f + 1) > 0 && !(a <= 1) || b != 2 ? floor(x.y) : round(sqrt(z) + log(w))';
    expect(expressionProblem(text)).toBeNull();
  });
});
