import fc from 'fast-check';
import { add, compare, type Fraction, floored, fraction, negated, over, parsed, rounded, times } from '../fraction.ts';

/** A property as an oracle knows it: null where it is no number, undefined where it is absent. */
export type KnownProperties = Readonly<Record<string, Fraction | null | undefined>>;

/** A generated expression: its text, and what it is by plain arithmetic; null where it fails. */
export interface KnownNumber {
  readonly text: string;
  value(properties: KnownProperties): Fraction | null;
}

interface KnownCondition {
  readonly text: string;
  value(properties: KnownProperties): boolean | null;
}

const limit = fraction(10n ** 30n);
const names = ['n', 'm', 'k.x'];

const constant: fc.Arbitrary<KnownNumber> = fc
  .constantFrom('0', '1', '2', '3', '10', '0.5', '0.001', '2.50', '1e3', '7')
  .map((text) => ({ text, value: () => (text === '1e3' ? fraction(1000) : parsed(text)) }));

const property: fc.Arbitrary<KnownNumber> = fc.constantFrom(...names).map((name) => ({
  text: name,
  value: (properties) => {
    const known = properties[name];
    if (known === undefined) return fraction(0);
    return known === null || isTooLarge(known) ? null : known;
  },
}));

const leaf = fc.oneof(constant, property, property);

function isTooLarge(value: Fraction): boolean {
  return compare(value, limit) >= 0 || compare(value, negated(limit)) <= 0;
}

function binary(
  left: fc.Arbitrary<KnownNumber>,
  operator: string,
  right: fc.Arbitrary<KnownNumber>,
  apply: (a: Fraction, b: Fraction) => Fraction | null,
): fc.Arbitrary<KnownNumber> {
  return fc.tuple(left, right).map(([a, b]) => ({
    text: `(${a.text} ${operator} ${b.text})`,
    value: (properties) => both(a.value(properties), b.value(properties), apply),
  }));
}

function both<T>(a: Fraction | null, b: Fraction | null, apply: (a: Fraction, b: Fraction) => T | null): T | null {
  return a === null || b === null ? null : apply(a, b);
}

function call(
  name: string,
  operands: readonly fc.Arbitrary<KnownNumber>[],
  apply: (values: Fraction[]) => Fraction | null,
): fc.Arbitrary<KnownNumber> {
  return fc.tuple(...operands).map((known) => ({
    text: `${name}(${known.map((each) => each.text).join(', ')})`,
    value: (properties) => {
      const values = known.map((each) => each.value(properties)).filter((value) => value !== null);
      return values.length === known.length ? apply(values) : null;
    },
  }));
}

const least = (values: Fraction[]) => values.reduce((a, b) => (compare(b, a) < 0 ? b : a));
const greatest = (values: Fraction[]) => values.reduce((a, b) => (compare(b, a) > 0 ? b : a));

/** Without quotients every decimal arithmetic is exact, so comparing and cutting them is the same in all. */
function exact(depth: number): fc.Arbitrary<KnownNumber> {
  if (depth === 0) return leaf;
  const inner = exact(depth - 1);
  return fc.oneof(
    leaf,
    binary(inner, '+', inner, add),
    binary(inner, '-', inner, (a, b) => add(a, negated(b))),
    binary(inner, '*', inner, times),
    call('min', [inner, inner, leaf], least),
    call('max', [inner, inner], greatest),
    call('abs', [inner], ([a]) => (a && a.n < 0n ? negated(a) : (a ?? null))),
    call('floor', [inner], ([a]) => (a ? fraction(floored(a)) : null)),
    call('ceil', [inner], ([a]) => (a ? fraction(-floored(negated(a))) : null)),
    call('round', [inner], ([a]) => (a ? rounded(a, 0) : null)),
    inner.map((a) => ({
      text: `-${a.text}`,
      value: (properties: KnownProperties) => both(a.value(properties), fraction(0), (value) => negated(value)),
    })),
    chosen(condition(depth - 1), inner, inner),
  );
}

function condition(depth: number): fc.Arbitrary<KnownCondition> {
  const number = exact(depth);
  const comparison = fc
    .tuple(number, fc.constantFrom('<', '<=', '>', '>=', '==', '!='), number)
    .map(([a, operator, b]) => ({
      text: `${a.text} ${operator} ${b.text}`,
      value: (properties: KnownProperties) =>
        both(a.value(properties), b.value(properties), (x, y) => holds(operator, compare(x, y))),
    }));
  if (depth === 0) return comparison;
  const inner = condition(depth - 1);
  return fc.oneof(
    comparison,
    inner.map((a) => ({
      text: `!(${a.text})`,
      value: (properties: KnownProperties) => {
        const value = a.value(properties);
        return value === null ? null : !value;
      },
    })),
    fc.tuple(inner, fc.constantFrom('&&', '||'), inner).map(([a, operator, b]) => ({
      text: `(${a.text}) ${operator} (${b.text})`,
      value: (properties: KnownProperties) => {
        const left = a.value(properties);
        return left === null || left === (operator === '||') ? left : b.value(properties);
      },
    })),
  );
}

function holds(operator: string, order: number): boolean {
  switch (operator) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case '==':
      return order === 0;
    default:
      return order !== 0;
  }
}

function chosen(
  test: fc.Arbitrary<KnownCondition>,
  left: fc.Arbitrary<KnownNumber>,
  right: fc.Arbitrary<KnownNumber>,
): fc.Arbitrary<KnownNumber> {
  return fc.tuple(test, left, right).map(([asked, a, b]) => ({
    text: `(${asked.text} ? ${a.text} : ${b.text})`,
    value: (properties) => {
      const is = asked.value(properties);
      return is === null ? null : (is ? a : b).value(properties);
    },
  }));
}

/** Expressions whose value plain fractions decide: quotients are added and compared with nothing afterwards. */
export const knownExpression: fc.Arbitrary<KnownNumber> = fc
  .oneof(
    exact(2),
    binary(exact(1), '/', exact(1), (a, b) => (b.n === 0n ? null : over(a, b))),
    binary(
      binary(exact(1), '/', exact(1), (a, b) => (b.n === 0n ? null : over(a, b))),
      '+',
      exact(1),
      add,
    ),
    chosen(
      condition(1),
      exact(1),
      binary(exact(1), '/', exact(1), (a, b) => (b.n === 0n ? null : over(a, b))),
    ),
  )
  .filter(({ text }) => /\b(n|m|k\.x)\b/.test(text));

/** What an expression gives an event, rounded as it is stored; null where the meter skips the event. */
export function expressionResult(
  expression: KnownNumber,
  multiplier: string | null,
  properties: KnownProperties,
): Fraction | null {
  const value = expression.value(properties);
  const result = value && multiplier ? times(value, parsed(multiplier)) : value;
  return result === null || isTooLarge(result) ? null : rounded(result, 15);
}
