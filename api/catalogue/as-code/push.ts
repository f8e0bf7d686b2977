import { isDeepStrictEqual } from 'node:util';
import { refusalIn, refuse } from '../../../billing/refusal.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { type CatalogueDocument, catalogueNouns } from './document.ts';
import {
  type CatalogueContext,
  type CatalogueNoun,
  complete,
  type Entry,
  type StoredEntry,
  type UpdateAction,
} from './noun.ts';

/** One difference between the file and the environment. `name` reads `plan pro / price seats`. */
export interface CatalogueChange {
  action: 'create' | UpdateAction | 'remove' | 'keep';
  noun: string;
  name: string;
  fields: { field: string; from: unknown; to: unknown }[];
}

export interface PushOptions {
  /** Archives and ends what the file does not name; without it such things are listed as kept. */
  prune: boolean;
  /** Does everything and takes it back: what would be refused is refused. */
  dryRun: boolean;
  /** When new prices begin and those they replace end. */
  effectiveFrom: string;
}

/** A walk through a document: what is known so far, what was found, and what is left to be removed. */
interface Walk {
  tx: Transaction;
  context: CatalogueContext;
  options: PushOptions;
  changes: CatalogueChange[];
  problems: Record<string, string>;
  removals: (() => Promise<void>)[];
  /** Keys whose object could not be made: what refers to them is not blamed for it. */
  failed: Set<string>;
}

/**
 * Brings the environment to what a document says, in the caller's transaction, and answers the differences. Everything is
 * tried, each thing behind a savepoint, so that all problems are told at once by their paths in the document; with any,
 * nothing is written. Done twice, the second time changes nothing.
 */
export async function pushCatalogue(
  tx: Transaction,
  document: CatalogueDocument,
  options: PushOptions,
): Promise<CatalogueChange[]> {
  await tx.rows('savepoint catalogue');
  const context = { features: new Map(), groups: new Map(), owner: null, effectiveFrom: options.effectiveFrom };
  const walk: Walk = { tx, context, options, changes: [], problems: {}, removals: [], failed: new Set() };
  for (const noun of catalogueNouns) await pushSection(walk, noun, document[noun.section], context, 'catalogue', '');
  for (const remove of walk.removals.toReversed()) await remove();
  const count = Object.keys(walk.problems).length;
  if (count > 0) {
    const message = `the catalogue has ${count === 1 ? 'a problem' : `${count} problems`}; nothing was written`;
    throw refuse('validation_error', message, { fields: walk.problems });
  }
  if (options.dryRun) {
    tx.em.clear();
    await tx.rows('rollback to savepoint catalogue');
  }
  return walk.changes;
}

/** A section of the document, or the parts of an owner. An absent one is only read, for what refers to it. */
async function pushSection(
  walk: Walk,
  noun: CatalogueNoun,
  entries: readonly Entry[] | undefined,
  context: CatalogueContext,
  parent: string,
  prefix: string,
): Promise<void> {
  const stored = await noun.read(walk.tx, context);
  if (entries === undefined) return;
  const named = new Set<string>();
  const met = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const path = `${parent}.${noun.section}[${index}]`;
    const identity = String(entry.id ?? entry[noun.identity]);
    if (named.has(identity)) {
      walk.problems[`${path}.${entry.id ? 'id' : noun.identity}`] = `${identity} is named twice`;
      continue;
    }
    named.add(identity);
    const match = matching(noun, stored, entry);
    if (match) met.add(match.id);
    await pushEntry(walk, noun, { entry, match, path, name: `${prefix}${noun.noun} ${identity}` }, context);
  }
  for (const left of stored.filter(({ id }) => !met.has(id))) {
    await leaveOut(walk, noun, left, context, { place: `${parent}.${noun.section}`, prefix });
  }
}

/** What the document does not name is kept, or goes with all its parts, so that their keys are free again. */
async function leaveOut(
  walk: Walk,
  noun: CatalogueNoun,
  left: StoredEntry,
  context: CatalogueContext,
  { place, prefix }: { place: string; prefix: string },
): Promise<void> {
  const name = `${prefix}${noun.noun} ${left.key || left.id}`;
  walk.changes.push({ action: walk.options.prune ? 'remove' : 'keep', noun: noun.noun, name, fields: [] });
  if (!walk.options.prune) return;
  const remove = () => noun.remove(walk.tx, left, context);
  walk.removals.push(() => attempt(walk, noun, place, `${name} cannot be removed`, remove));
  for (const part of noun.ownerOf ? (noun.parts ?? []) : []) {
    const owned = { ...context, owner: noun.ownerOf!(left) };
    for (const each of await part.read(walk.tx, owned)) {
      await leaveOut(walk, part, each, owned, { place, prefix: `${name} / ` });
    }
  }
}

function matching(noun: CatalogueNoun, stored: readonly StoredEntry[], entry: Entry): StoredEntry | undefined {
  if (entry.id) return stored.find(({ id }) => id === entry.id);
  return stored.find(({ key }) => key !== '' && key === entry[noun.identity]);
}

interface Pushed {
  entry: Entry;
  match: StoredEntry | undefined;
  path: string;
  name: string;
}

async function pushEntry(walk: Walk, noun: CatalogueNoun, pushed: Pushed, context: CatalogueContext): Promise<void> {
  const { entry: written, match, path } = pushed;
  if (written.id && !match) {
    walk.problems[`${path}.id`] = `names no ${noun.noun} of this environment; give it a key instead`;
    return;
  }
  // What is known by its id keeps the key it has until the file gives it one.
  const entry = match && written.key === undefined && written.id ? { ...written, key: match.key } : written;
  const whole = { ...pushed, entry };
  const id = match ? await change(walk, noun, { ...whole, match }, context) : await make(walk, noun, whole, context);
  if (id === null || !noun.ownerOf) return;
  const owned = { ...context, owner: noun.ownerOf({ id, entry }) };
  for (const part of noun.parts ?? []) {
    await pushSection(walk, part, entry[part.section] as Entry[] | undefined, owned, path, `${pushed.name} / `);
  }
}

async function make(walk: Walk, noun: CatalogueNoun, { entry, path, name }: Pushed, context: CatalogueContext) {
  let id: string | null = null;
  await attempt(walk, noun, path, '', async () => {
    id = await noun.create(walk.tx, entry, context);
    noun.learn?.({ id, key: String(entry[noun.identity]), entry }, context);
  });
  if (id === null) walk.failed.add(String(entry[noun.identity]));
  else walk.changes.push({ action: 'create', noun: noun.noun, name, fields: shown(complete(noun, entry, context)) });
  return id;
}

async function change(
  walk: Walk,
  noun: CatalogueNoun,
  { entry, match, path, name }: Pushed & { match: StoredEntry },
  context: CatalogueContext,
): Promise<string> {
  const wanted = complete(noun, entry, context);
  const changed = Object.keys(wanted).filter((member) => !isDeepStrictEqual(wanted[member], match.entry[member]));
  if (changed.length === 0) return match.id;
  await attempt(walk, noun, path, '', async () => {
    const action = await noun.update(walk.tx, match, entry, changed, context);
    const fields = changed.map((field) => ({ field, from: match.entry[field] ?? null, to: wanted[field] ?? null }));
    walk.changes.push({ action, noun: noun.noun, name, fields });
  });
  return match.id;
}

function shown(entry: Entry): CatalogueChange['fields'] {
  const told = Object.entries(entry).filter(([member, value]) => member !== 'key' && !isNothing(value));
  return told.map(([field, to]) => ({ field, from: null, to }));
}

/** What a file need not say: nothing, an empty text, list or map. */
export function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** Runs one step behind a savepoint; a refusal becomes a problem of the place in the document it is about. */
async function attempt(
  walk: Walk,
  noun: CatalogueNoun,
  path: string,
  about: string,
  work: () => Promise<void>,
): Promise<void> {
  await walk.tx.rows('savepoint entry');
  try {
    await work();
    await walk.tx.rows('release savepoint entry');
  } catch (error) {
    const refusal = refusalIn(error);
    if (!refusal) throw error;
    walk.tx.em.clear();
    await walk.tx.rows('rollback to savepoint entry');
    if ([...walk.failed].some((key) => refusal.message.includes(` names ${key},`))) return;
    const fields = Object.entries((refusal.details?.fields ?? {}) as Record<string, string>);
    const problems = fields.length > 0 ? fields : [['', refusal.message]];
    for (const [field = '', problem = ''] of problems) {
      const place = placeOf(path, noun, field);
      walk.problems[place] ??= about ? `${about}: ${refusal.message}` : problem;
    }
  }
}

/** `catalogue.plans[0].prices[1]` and the wire field `tiers[0].up_to` are `catalogue.plans[0].prices[1].tiers[0].up_to`. */
function placeOf(path: string, noun: CatalogueNoun, field: string): string {
  const [first = '', ...rest] = field.split(/(?=[.[])/);
  const name = [noun.fields[first] ?? first, ...rest].join('');
  return name === '' ? path : `${path}.${name}`;
}
