import { closest, distance } from 'fastest-levenshtein';
import type { FastifySchemaValidationError } from 'fastify';
import { z } from 'zod';
import { passedOverMembers } from './passed-over-members.ts';

/**
 * The members a value may have, derived once from its schema: `members` of an object, `element` of an array, `values` of a
 * map, `branches` of a union. Null stands for a value whose members are free or that has none.
 */
export interface KnownMembers {
  members?: ReadonlyMap<string, KnownMembers | null>;
  element?: KnownMembers;
  values?: KnownMembers;
  branches?: readonly KnownMembers[];
  /** Names the interface has and no schema of ours: taken, and nothing follows from them. */
  passedOver: readonly string[];
}

/** A member nobody knows, and the known name that is spelled most alike. */
export interface UnknownMember {
  path: Path;
  nearest: string | null;
}

type Path = readonly (string | number)[];

/**
 * The known members of a schema's input; null where every member is free. `operation` names the rows of the table of names
 * that are passed over. Objects made with `z.looseObject`, maps and custom checks are free.
 */
export function knownMembers(schema: z.ZodType, operation: string, path = ''): KnownMembers | null {
  const { def } = schema;
  const inner = (one: unknown, at = path) => knownMembers(one as z.ZodType, operation, at);
  const passedOver = passedOverMembers(operation, path);
  if (schema instanceof z.ZodObject) return ofObject(schema, inner, path, passedOver);
  if (schema instanceof z.ZodArray) {
    const element = inner(schema.element, `${path}[]`);
    return element && { element, passedOver };
  }
  if (schema instanceof z.ZodRecord) {
    const values = inner(schema.valueType, `${path}{}`);
    return values && { values, passedOver };
  }
  if (schema instanceof z.ZodUnion) {
    const branches = schema.options.map((option) => inner(option));
    // A branch that takes anything takes every member; one for texts or numbers says nothing of objects.
    if (schema.options.some((option, index) => branches[index] === null && takesObjects(option))) return null;
    const known = branches.filter((branch) => branch !== null);
    return known.length === 0 ? null : { branches: known, passedOver };
  }
  if (schema instanceof z.ZodPipe) return inner(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  return 'innerType' in def ? inner(def.innerType) : null;
}

function ofObject(
  schema: z.ZodObject,
  inner: (one: unknown, at: string) => KnownMembers | null,
  path: string,
  passedOver: readonly string[],
): KnownMembers | null {
  if (schema.def.catchall && !(schema.def.catchall instanceof z.ZodNever)) return null;
  const members = new Map<string, KnownMembers | null>();
  for (const [name, member] of Object.entries(schema.shape)) {
    members.set(name, inner(member, path === '' ? name : `${path}.${name}`));
  }
  return { members, passedOver };
}

function takesObjects(option: unknown): boolean {
  return ['any', 'unknown', 'custom', 'record', 'object', 'array'].includes((option as z.ZodType).def.type);
}

/**
 * The unknown members of a request's value, those of its objects and arrays included. A member that is null, `""`, `[]` or `{}` is
 * passed over, because generated clients send such.
 */
export function unknownMembers(known: KnownMembers, value: unknown): UnknownMember[] {
  const unknown: UnknownMember[] = [];
  collect(known, value, [], unknown);
  return unknown;
}

function collect(known: KnownMembers, value: unknown, path: Path, unknown: UnknownMember[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (known.branches) collectBranch(known.branches, value, path, unknown);
  else if (Array.isArray(value)) {
    if (!known.element) return;
    for (let index = 0; index < value.length; index++) collect(known.element, value[index], [...path, index], unknown);
  } else if (known.members) collectObject(known, known.members, value as Record<string, unknown>, path, unknown);
  else if (known.values) {
    for (const [key, each] of Object.entries(value)) collect(known.values, each, [...path, key], unknown);
  }
}

function collectObject(
  known: KnownMembers,
  members: ReadonlyMap<string, KnownMembers | null>,
  value: Record<string, unknown>,
  path: Path,
  unknown: UnknownMember[],
): void {
  // Much of what is sent is events: nothing is made for a member that is known and holds a plain value.
  for (const name in value) {
    const member = members.get(name);
    if (member) collect(member, value[name], [...path, name], unknown);
    if (member !== undefined || isEmpty(value[name]) || known.passedOver.includes(name)) continue;
    unknown.push({ path: [...path, name], nearest: nearestOf(name, [...members.keys()]) });
  }
}

/** The alternative that knows most of the value's members is the one the caller meant. */
function collectBranch(branches: readonly KnownMembers[], value: object, path: Path, unknown: UnknownMember[]): void {
  const found = branches
    .filter((branch) => (Array.isArray(value) ? branch.element : branch.members || branch.values || branch.branches))
    .map((branch) => {
      const own: UnknownMember[] = [];
      collect(branch, value, path, own);
      return own;
    });
  const [best = []] = found.toSorted((a, b) => a.length - b.length);
  unknown.push(...best);
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (typeof value !== 'object' || JSON.isRawJSON(value)) return false;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}

/** The known name that is spelled most alike, one that holds the name or is held by it before others; null where none is known. */
export function nearestOf(name: string, known: readonly string[]): string | null {
  if (known.length === 0) return null;
  const related = known.filter((each) => each.includes(name) || name.includes(each));
  const nearest = closest(name, known as string[]);
  if (related.length === 0 || distance(name, nearest) <= 2) return nearest;
  return closest(name, related);
}

/** Issues of unknown members, in the form of the schema's own issues, so that all are told together. */
export function unknownIssues(
  unknown: readonly UnknownMember[],
  noun: 'member' | 'parameter',
): (FastifySchemaValidationError & { readonly [mark: symbol]: true })[] {
  return unknown.map(({ path, nearest }) => ({
    [zodIssue]: true,
    keyword: unknownMember,
    instancePath: `/${path.join('/')}`,
    schemaPath: `#/${path.join('/')}/${unknownMember}`,
    message: `is not a known ${noun}; ${
      nearest === null ? 'none is known here' : `the nearest that is known is ${nearest}`
    }`,
    params: {},
  }));
}

export const unknownMember = 'unknown_member';
// The mark by which @fastify/type-provider-zod knows its own issues.
const zodIssue = Symbol.for('ZodFastifySchemaValidationError');
