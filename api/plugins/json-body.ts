import type { FastifyInstance } from 'fastify';
import secureJsonParse from 'secure-json-parse';
import { refuse } from '../../billing/refusal.ts';
import { canonicalDecimal } from '../decimal.ts';

export const bodyLimitBytes = 5 * 1024 * 1024;
/** For the routes that take usage events. spec: platform §1.9 */
export const eventBodyLimitBytes = 32 * 1024 * 1024;
const maxDepth = 64;

/**
 * A number whose digits a binary float cannot keep: sixteen digits or more, or an exponent. A number follows `:`, `[`, `,`
 * or nothing. A hit inside a string only costs the slower path.
 */
const longNumber = /(?:[:[,]|^)\s*-?(?:[\d.]{16,}|[\d.]+[eE])/;

/**
 * Parses a JSON text without losing a digit: a number stays a number when the float nearest to it prints the same value,
 * and becomes `JSON.rawJSON` of its own text otherwise, which `decimalInput()` reads and `JSON.stringify` writes back.
 * Keys that would poison a prototype, more than 64 levels and NUL characters are refused.
 * spec: catalogue-and-metering §1.1 N1, platform §23 Input
 */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = longNumber.test(text) ? secureJsonParse(text, exactNumber) : secureJsonParse(text);
  } catch {
    throw refuse('validation_error', 'The body is not valid JSON: send one JSON object.');
  }
  if (/(?<!\\)(?:\\\\)*\\u0000/.test(text)) throw refuse('validation_error', 'The body contains a NUL character.');
  if (isDeeperThan(value, maxDepth)) {
    throw refuse('validation_error', `The body is nested more than ${maxDepth} levels deep: send a flatter one.`);
  }
  return value;
}

function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  const exact = canonicalDecimal(context.source);
  return exact !== null && exact === canonicalDecimal(String(value)) ? value : JSON.rawJSON(context.source);
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof member === 'object' && member !== null && isDeeperThan(member, levels - 1)) return true;
  }
  return false;
}

/** Replaces Fastify's JSON parser. An empty body is no body: the schema of the route says whether one is required. */
export function registerJsonBody(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    try {
      done(null, text === '' || request.is404 ? undefined : parseJson(text as string));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
}
