import { closest, distance } from 'fastest-levenshtein';
import type { FastifySchemaValidationError } from 'fastify';
import { z } from 'zod';
import { type UnbuiltMembers, unbuiltMembers } from './unbuilt-members.ts';

/**
 * The members a value may have, derived once from its schema: `members` of an object, `element` of an array, `values` of a
 * map, `branches` of a union. Null stands for a value whose members are free or that has none.
 */
export interface KnownMembers {
  members?: ReadonlyMap<string, KnownMembers | null>;
  element?: KnownMembers;
  values?: KnownMembers;
  branches?: readonly KnownMembers[];
  /** Names the interface has and this release does not. */
  unbuilt: UnbuiltMembers;
}

/** Surplus of a request: members nobody knows, and members that this release does not have. */
export interface SurplusMembers {
  unknown: { path: Path; nearest: string | null }[];
  later: Path[];
}

type Path = readonly (string | number)[];

/**
 * The known members of a schema's input; null where every member is free. `operation` names the rows of the table of names
 * that are not built. Objects made with `z.looseObject`, maps and custom checks are free.
 */
export function knownMembers(schema: z.ZodType, operation: string, path = ''): KnownMembers | null {
  const { def } = schema;
  const inner = (one: unknown, at = path) => knownMembers(one as z.ZodType, operation, at);
  const unbuilt = unbuiltMembers(operation, path);
  if (schema instanceof z.ZodObject) return ofObject(schema, inner, path, unbuilt);
  if (schema instanceof z.ZodArray) {
    const element = inner(schema.element, `${path}[]`);
    return element && { element, unbuilt };
  }
  if (schema instanceof z.ZodRecord) {
    const values = inner(schema.valueType, `${path}{}`);
    return values && { values, unbuilt };
  }
  if (schema instanceof z.ZodUnion) {
    const branches = schema.options.map((option) => inner(option));
    // A branch that takes anything takes every member; one for texts or numbers says nothing of objects.
    if (schema.options.some((option, index) => branches[index] === null && takesObjects(option))) return null;
    const known = branches.filter((branch) => branch !== null);
    return known.length === 0 ? null : { branches: known, unbuilt };
  }
  if (schema instanceof z.ZodPipe) return inner(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  return 'innerType' in def ? inner(def.innerType) : null;
}

function ofObject(
  schema: z.ZodObject,
  inner: (one: unknown, at: string) => KnownMembers | null,
  path: string,
  unbuilt: UnbuiltMembers,
): KnownMembers | null {
  if (schema.def.catchall && !(schema.def.catchall instanceof z.ZodNever)) return null;
  const members = new Map<string, KnownMembers | null>();
  for (const [name, member] of Object.entries(schema.shape)) {
    members.set(name, inner(member, path === '' ? name : `${path}.${name}`));
  }
  return { members, unbuilt };
}

/** True where a member that is known and not built has its place in a value, at any depth. */
export function namesUnbuilt(known: KnownMembers | null): boolean {
  if (known === null) return false;
  const parts = [...(known.members?.values() ?? []), known.element, known.values, ...(known.branches ?? [])];
  return known.unbuilt.later.length > 0 || parts.some((part) => namesUnbuilt(part ?? null));
}

function takesObjects(option: unknown): boolean {
  return ['any', 'unknown', 'custom', 'record', 'object', 'array'].includes((option as z.ZodType).def.type);
}

/**
 * The surplus members of a request's value, those of its objects and arrays included; null for none. A member that is null,
 * `""`, `[]` or `{}` is passed over, because generated clients send such.
 */
export function surplusMembers(known: KnownMembers, value: unknown): SurplusMembers | null {
  const surplus: SurplusMembers = { unknown: [], later: [] };
  collect(known, value, [], surplus);
  return surplus.unknown.length + surplus.later.length === 0 ? null : surplus;
}

function collect(known: KnownMembers, value: unknown, path: Path, surplus: SurplusMembers): void {
  if (typeof value !== 'object' || value === null) return;
  if (known.branches) collectBranch(known.branches, value, path, surplus);
  else if (Array.isArray(value)) {
    if (!known.element) return;
    for (let index = 0; index < value.length; index++) collect(known.element, value[index], [...path, index], surplus);
  } else if (known.members) collectObject(known, known.members, value as Record<string, unknown>, path, surplus);
  else if (known.values) {
    for (const [key, each] of Object.entries(value)) collect(known.values, each, [...path, key], surplus);
  }
}

function collectObject(
  known: KnownMembers,
  members: ReadonlyMap<string, KnownMembers | null>,
  value: Record<string, unknown>,
  path: Path,
  surplus: SurplusMembers,
): void {
  // Much of what is sent is events: nothing is made for a member that is known and holds a plain value.
  for (const name in value) {
    const member = members.get(name);
    if (member) collect(member, value[name], [...path, name], surplus);
    if (member !== undefined || isEmpty(value[name]) || known.unbuilt.passedOver.includes(name)) continue;
    if (!known.unbuilt.later.includes(name)) {
      surplus.unknown.push({ path: [...path, name], nearest: nearestOf(name, [...members.keys()]) });
    } else if (value[name] !== false && value[name] !== 0) surplus.later.push([...path, name]);
  }
}

/** The alternative that knows most of the value's members is the one the caller meant. */
function collectBranch(branches: readonly KnownMembers[], value: object, path: Path, surplus: SurplusMembers): void {
  const found = branches
    .filter((branch) => (Array.isArray(value) ? branch.element : branch.members || branch.values || branch.branches))
    .map((branch) => {
      const own: SurplusMembers = { unknown: [], later: [] };
      collect(branch, value, path, own);
      return own;
    });
  const [best] = found.toSorted((a, b) => a.unknown.length - b.unknown.length || a.later.length - b.later.length);
  surplus.unknown.push(...(best?.unknown ?? []));
  surplus.later.push(...(best?.later ?? []));
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
  { unknown }: SurplusMembers,
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
