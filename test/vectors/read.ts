import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Decimal } from 'decimal.js';

export interface Vector {
  id: string;
  kind: string;
  given: unknown;
  expect: unknown;
  why?: string;
}

/** The vectors of a file, or of every .json file directly in a folder, in the order of names. */
export function readVectors(path: string): Vector[] {
  if (!statSync(path).isDirectory()) return parse(readFileSync(path, 'utf8'), path);
  const files = readdirSync(path)
    .filter((name) => name.endsWith('.json'))
    .sort();
  return files.flatMap((name) => parse(readFileSync(join(path, name), 'utf8'), name));
}

/** A number that a binary float would change stays the text it was written as, and a number where JSON itself is the case. */
function parse(json: string, name: string): Vector[] {
  const exact = (_key: string, value: unknown, context: { source?: string }): unknown => {
    if (typeof value !== 'number' || context.source === undefined) return value;
    const unchanged = Number.isFinite(value) && new Decimal(String(value)).equals(context.source);
    return unchanged ? value : JSON.rawJSON(context.source);
  };
  const parsed: unknown = textNumbers(JSON.parse(json, exact as (key: string, value: unknown) => unknown));
  if (!Array.isArray(parsed)) throw new Error(`${name}: expected an array of {id, kind, given, expect}`);
  return parsed as Vector[];
}

/** Members whose values a caller would send as they are. */
const sentAsJson = new Set(['properties', 'body']);

function textNumbers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (JSON.isRawJSON(value)) return value.rawJSON;
  if (Array.isArray(value)) return value.map(textNumbers);
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([key, of]) => [key, sentAsJson.has(key) ? of : textNumbers(of)]));
}
