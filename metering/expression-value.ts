import { Decimal as DecimalConstructor } from 'decimal.js';
import type { ExpressionProgram } from './expression-program.ts';
import { expressionText } from './property-value.ts';
import { quantityDecimals } from './quantity.ts';

/** Results of + - * / keep this many significant digits. */
const Wide = DecimalConstructor.clone({ precision: 100, rounding: DecimalConstructor.ROUND_HALF_UP });
/**
 * For pow, sqrt and log, whose cost grows with their digits: enough for results of so many digits before the point, 15
 * after it and 13 more, so that what follows decides no rounding.
 */
const transcendental = [4, 15, 31].map((whole) => ({
  whole,
  Digits: DecimalConstructor.clone({ precision: whole + 28, rounding: DecimalConstructor.ROUND_HALF_UP }),
}));
/** For how large a result will be, where a few digits tell enough. */
const Rough = DecimalConstructor.clone({ precision: 6 });
type Decimal = DecimalConstructor;

/** 10^30 and more is not taken: such a value has an exponent of 30 or more. */
const limitExponent = 30;
const zero = new Wide(0);
const one = new Wide(1);

/** How many values a function takes. spec: catalogue-and-metering §5.3 */
export const functionArity: ReadonlyMap<string, number | 'any'> = new Map<string, number | 'any'>([
  ['max', 'any'],
  ['min', 'any'],
  ['pow', 2],
  ['abs', 1],
  ['ceil', 1],
  ['floor', 1],
  ['round', 1],
  ['sqrt', 1],
  ['log', 1],
]);

/**
 * A number as every step of an expression leaves it: 100 significant digits; null (a failure) from 10^1000 on, 0 below
 * 10^-1000. `usage.kept` in SQL is the same.
 */
export function keptNumber(value: Decimal): Decimal | null {
  const kept = keptResult(value);
  return kept === null || kept.d.length <= keptWords ? kept : new Wide(kept).toSignificantDigits(100);
}

/** Values of so many words of seven digits have less than 100 digits. */
const keptWords = 14;

/** The same for what `Wide` computed, which has no more than 100 digits. */
function keptResult(value: Decimal): Decimal | null {
  if (value.e < -1000 || value.isZero()) return zero;
  return value.isFinite() && value.e < 1000 ? value : null;
}

/**
 * What an expression makes of an event, in units of 10⁻¹⁵; null when it fails: a property it reads is no number, a
 * division by zero, a root or logarithm that does not exist, or a result of 10³⁰ or more. An absent property is 0. Only
 * the side of `? :`, `&&` and `||` that decides is read. `usage.expression_value` in SQL is the same.
 * spec: catalogue-and-metering §5.3
 */
export function expressionQuantity(program: ExpressionProgram, property: (name: string) => unknown): bigint | null {
  const stack: Decimal[] = [];
  for (let at = 0; at < program.length; ) {
    const name = program[at] ?? '';
    const argument = program[at + 1] ?? '';
    const target = jumpTarget(name, argument, stack);
    if (target !== null) {
      at = target === 'next' ? at + 2 : target;
      continue;
    }
    const value = stepValue(name, argument, stack, property);
    if (value === null) return null;
    stack.push(value);
    at += 2;
  }
  const result = stack[0];
  if (result === undefined || result.e >= limitExponent) return null;
  return BigInt(result.toFixed(quantityDecimals).replace('.', ''));
}

/** Where a step that only steers goes on; null for a step that gives a value. */
function jumpTarget(name: string, argument: string, stack: Decimal[]): number | 'next' | null {
  switch (name) {
    case 'jump':
      return Number(argument);
    case 'branch':
      return stack.pop()?.isZero() ? Number(argument) : 'next';
    case 'and':
    case 'or': {
      const decides = stack.at(-1)?.isZero() === (name === 'and');
      if (decides) return Number(argument);
      stack.pop();
      return 'next';
    }
    default:
      return null;
  }
}

function stepValue(
  name: string,
  argument: string,
  stack: Decimal[],
  property: (name: string) => unknown,
): Decimal | null {
  if (name === 'property') {
    const text = expressionText(property(argument));
    if (text === null) return null;
    const value = new Wide(text);
    return value.e >= limitExponent ? null : keptNumber(value);
  }
  if (name === 'const') return new Wide(argument);
  const last = stack.pop() ?? zero;
  const unary = unarySteps[name];
  if (unary) return unary(last);
  return binarySteps[name]?.(stack.pop() ?? zero, last) ?? null;
}

const unarySteps: Record<string, ((value: Decimal) => Decimal | null) | undefined> = {
  neg: (value) => value.neg(),
  not: (value) => truth(value.isZero()),
  abs: (value) => value.abs(),
  ceil: (value) => value.ceil(),
  floor: (value) => value.floor(),
  round: (value) => value.toDecimalPlaces(0),
  sqrt: (value) => (value.lt(0) ? null : stored(precisely(value.e / 2, value).sqrt())),
  log: (value) => (value.lte(0) ? null : stored(precisely(0, value).ln())),
};

const binarySteps: Record<string, ((first: Decimal, second: Decimal) => Decimal | null) | undefined> = {
  '+': (first, second) => keptResult(first.plus(second)),
  '-': (first, second) => keptResult(first.minus(second)),
  '*': (first, second) => keptResult(first.times(second)),
  '/': (first, second) => (second.isZero() ? null : keptResult(first.dividedBy(second))),
  '<': (first, second) => truth(first.lt(second)),
  '<=': (first, second) => truth(first.lte(second)),
  '>': (first, second) => truth(first.gt(second)),
  '>=': (first, second) => truth(first.gte(second)),
  '==': (first, second) => truth(first.eq(second)),
  '!=': (first, second) => truth(!first.eq(second)),
  min: (first, second) => (second.lt(first) ? second : first),
  max: (first, second) => (second.gt(first) ? second : first),
  pow,
};

/** Exponents up to this are multiplications: exact, and far cheaper. */
const mostFactors = 16;

/** An exponent of 10³⁰ or more fails, as a property of that size does. */
function pow(base: Decimal, exponent: Decimal): Decimal | null {
  if (exponent.isZero()) return one;
  if (base.isZero()) return exponent.gt(0) ? zero : null;
  if (exponent.e >= limitExponent || (base.lt(0) && !exponent.isInteger())) return null;
  // Decides only what is far beyond a bound, so that its own rounding decides nothing.
  const magnitude = exponent.times(new Rough(base.abs()).log(10));
  if (magnitude.gte(31)) return null;
  if (magnitude.lt(-17)) return zero;
  if (exponent.isInteger() && exponent.gt(0) && exponent.lte(mostFactors)) {
    let power = base;
    for (let factors = one; factors.lt(exponent); factors = factors.plus(one)) power = power.times(base);
    return stored(power);
  }
  return stored(precisely(magnitude, base).pow(exponent));
}

/** The value with digits for a result of about 10^magnitude. */
function precisely(magnitude: Decimal | number, value: Decimal): Decimal {
  const { Digits } = transcendental.find(({ whole }) => new Rough(magnitude).lt(whole - 1)) ?? { Digits: Wide };
  return new Digits(value);
}

/** Results of pow, sqrt and log fail from 10³⁰ on. */
function stored(value: Decimal): Decimal | null {
  return value.e >= limitExponent ? null : new Wide(value.toDecimalPlaces(quantityDecimals));
}

function truth(holds: boolean): Decimal {
  return holds ? one : zero;
}
