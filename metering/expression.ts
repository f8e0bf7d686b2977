import { Decimal } from 'decimal.js';
import jsep from 'jsep';
import { decimalString, storedDecimal } from '../billing/money/money.ts';
import { refuse } from '../billing/refusal.ts';
import type { ExpressionProgram } from './expression-program.ts';
import { functionArity, keptNumber } from './expression-value.ts';

/** What one expression may cost: an event of a meter is evaluated while a caller waits. */
const maxLength = 2_000;
const maxNodes = 200;
const maxDepth = 100;
/** Functions whose cost grows with the digits of their result. */
const maxCostlyCalls = 4;
const costly = new Set(['pow', 'sqrt', 'log']);

const arithmetic = new Set(['+', '-', '*', '/']);
const comparisons = new Set(['<', '<=', '>', '>=', '==', '!=']);

type Type = 'number' | 'condition';

/**
 * Reads the expression of a meter. Names are properties; a name with dots is one property with dots in its name. Throws
 * `validation_error` naming `aggregation.expression` and what is wrong with it: a text outside the language, one that
 * names no property or gives no number, or one that would cost too much. The multiplier is the last step. spec: catalogue-and-metering §5.3
 */
export function compileExpression(text: string, multiplier: string | null | undefined = null): ExpressionProgram {
  const problem = expressionProblem(text);
  if (problem !== null) {
    throw refuse('validation_error', `aggregation.expression ${problem}`, {
      fields: { 'aggregation.expression': problem },
    });
  }
  const program = new Compiler().compile(parse(text));
  return multiplier ? [...program, 'const', decimalString(storedDecimal(multiplier)), '*', ''] : program;
}

/** What is wrong with an expression, in words that follow its name; null for nothing. spec: catalogue-and-metering §5.3 */
export function expressionProblem(text: string): string | null {
  try {
    if (text.length > maxLength) throw new ExpressionError(`must be at most ${maxLength} characters long`);
    const compiler = new Compiler();
    compiler.compile(parse(text));
    return compiler.namesProperty ? null : 'must name at least one event property';
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

class ExpressionError extends Error {}

function parse(text: string): jsep.Expression {
  try {
    return jsep(text);
  } catch (error) {
    throw new ExpressionError(`cannot be read: ${(error as Error).message}`);
  }
}

/** One walk over the syntax tree: checks it and writes the steps. */
class Compiler {
  readonly #steps: string[] = [];
  namesProperty = false;
  #nodes = 0;
  #costlyCalls = 0;

  compile(tree: jsep.Expression): ExpressionProgram {
    if (this.#write(tree, 0) !== 'number') {
      throw new ExpressionError('must give a number; turn a condition into one: condition ? 1 : 0');
    }
    return this.#steps;
  }

  #write(node: jsep.Expression, depth: number): Type {
    this.#nodes += 1;
    if (this.#nodes > maxNodes) throw new ExpressionError(`must have at most ${maxNodes} names, numbers and operators`);
    if (depth > maxDepth) throw new ExpressionError(`must be nested at most ${maxDepth} deep`);
    switch (node.type) {
      case 'Literal':
        return this.#literal((node as jsep.Literal).raw);
      case 'Identifier':
      case 'MemberExpression':
        return this.#property(node);
      case 'UnaryExpression':
        return this.#unary(node as jsep.UnaryExpression, depth);
      case 'BinaryExpression':
        return this.#binary(node as jsep.BinaryExpression, depth);
      case 'ConditionalExpression':
        return this.#conditional(node as jsep.ConditionalExpression, depth);
      case 'CallExpression':
        return this.#call(node as jsep.CallExpression, depth);
      default:
        throw new ExpressionError('must be one expression of names, numbers, operators, parentheses and functions');
    }
  }

  #literal(raw: string): Type {
    if (!/^[0-9.]/.test(raw)) throw new ExpressionError(`takes numbers and property names only; ${raw} is neither`);
    const number = new Decimal(raw);
    const kept = number.abs().lt('1e30') ? keptNumber(number) : null;
    if (kept === null) throw new ExpressionError(`takes numbers below 10^30; ${raw} is not`);
    this.#step('const', kept.toFixed());
    return 'number';
  }

  #property(node: jsep.Expression): Type {
    this.namesProperty = true;
    this.#step('property', propertyName(node));
    return 'number';
  }

  #unary({ operator, argument }: jsep.UnaryExpression, depth: number): Type {
    if (operator === '-') {
      this.#operand(argument, 'number', operator, depth);
      this.#step('neg');
      return 'number';
    }
    if (operator !== '!') throw unknownOperator(operator);
    this.#operand(argument, 'condition', operator, depth);
    this.#step('not');
    return 'condition';
  }

  #binary({ operator, left, right }: jsep.BinaryExpression, depth: number): Type {
    if (operator === '&&' || operator === '||') {
      this.#operand(left, 'condition', operator, depth);
      const end = this.#jump(operator === '&&' ? 'and' : 'or');
      this.#operand(right, 'condition', operator, depth);
      this.#land(end);
      return 'condition';
    }
    if (!arithmetic.has(operator) && !comparisons.has(operator)) throw unknownOperator(operator);
    this.#operand(left, 'number', operator, depth);
    this.#operand(right, 'number', operator, depth);
    this.#step(operator);
    return arithmetic.has(operator) ? 'number' : 'condition';
  }

  #conditional({ test, consequent, alternate }: jsep.ConditionalExpression, depth: number): Type {
    this.#operand(test, 'condition', '?', depth);
    const otherwise = this.#jump('branch');
    const type = this.#write(consequent, depth + 1);
    const end = this.#jump('jump');
    this.#land(otherwise);
    if (this.#write(alternate, depth + 1) !== type) {
      throw new ExpressionError('must have two numbers or two conditions around a colon');
    }
    this.#land(end);
    return type;
  }

  #call({ callee, arguments: operands }: jsep.CallExpression, depth: number): Type {
    const name = callee.type === 'Identifier' ? (callee as jsep.Identifier).name : '';
    const arity = functionArity.get(name);
    if (arity === undefined) {
      throw new ExpressionError(`knows the functions ${[...functionArity.keys()].join(', ')} only`);
    }
    if (arity === 'any' ? operands.length === 0 : operands.length !== arity) {
      throw new ExpressionError(`must give ${name} ${arity === 'any' ? 'at least one value' : `${arity} value(s)`}`);
    }
    if (costly.has(name)) this.#costlyCalls += 1;
    if (this.#costlyCalls > maxCostlyCalls) {
      throw new ExpressionError(`must call ${[...costly].join(', ')} at most ${maxCostlyCalls} times`);
    }
    for (const [index, operand] of operands.entries()) {
      this.#operand(operand, 'number', name, depth);
      if (arity === 'any' && index > 0) this.#step(name);
    }
    if (arity !== 'any') this.#step(name);
    return 'number';
  }

  #operand(node: jsep.Expression, expected: Type, operator: string, depth: number): void {
    if (this.#write(node, depth + 1) === expected) return;
    throw new ExpressionError(
      `must give ${operator} a ${expected}, not a ${expected === 'number' ? 'condition' : 'number'}`,
    );
  }

  #step(name: string, argument = ''): void {
    this.#steps.push(name, argument);
  }

  /** A step that goes on elsewhere, which `#land` tells it. */
  #jump(name: string): number {
    this.#step(name);
    return this.#steps.length - 1;
  }

  #land(jump: number): void {
    this.#steps[jump] = String(this.#steps.length);
  }
}

/** `a.b` names the property "a.b": dots are plain characters, as in `aggregation.field`. spec: catalogue-and-metering §5.2 */
function propertyName(node: jsep.Expression): string {
  if (node.type === 'Identifier') return (node as jsep.Identifier).name;
  const { object, property, computed, optional } = node as jsep.MemberExpression;
  if (node.type !== 'MemberExpression' || computed || optional) {
    throw new ExpressionError('takes plain property names only, without brackets');
  }
  return `${propertyName(object)}.${propertyName(property)}`;
}

function unknownOperator(operator: string): ExpressionError {
  return new ExpressionError(`knows the operators + - * / < <= > >= == != && || ! ?: only, not ${operator}`);
}
