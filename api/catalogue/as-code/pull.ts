import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../../db/transaction.ts';
import { type CatalogueDocument, catalogueNouns } from './document.ts';
import type { CatalogueContext, CatalogueNoun, Entry, StoredEntry } from './noun.ts';
import { isNothing } from './push.ts';

/** The environment's catalogue as a document that says no more than it must, in the order of its keys; pushing it changes nothing. */
export async function pullCatalogue(tx: Transaction, at: string): Promise<CatalogueDocument> {
  const context: CatalogueContext = { features: new Map(), groups: new Map(), owner: null, effectiveFrom: at };
  const document: Record<string, Entry[]> = {};
  for (const noun of catalogueNouns) document[noun.section] = await pullSection(tx, noun, context);
  return document as CatalogueDocument;
}

async function pullSection(tx: Transaction, noun: CatalogueNoun, context: CatalogueContext): Promise<Entry[]> {
  const entries: Entry[] = [];
  const inOrder = (await noun.read(tx, context)).toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  for (const stored of inOrder) {
    const entry = brief(noun, stored, context);
    for (const part of noun.ownerOf ? (noun.parts ?? []) : []) {
      const parts = await pullSection(tx, part, { ...context, owner: noun.ownerOf!(stored) });
      if (parts.length > 0) entry[part.section] = parts;
    }
    entries.push(entry);
  }
  return entries;
}

/** What has no key comes last. */
function nameOf({ id, key }: StoredEntry): string {
  return key === '' ? `\uffff${id}` : key;
}

/** Only what differs from what an absent member means; what has no key is known by its id. */
function brief(noun: CatalogueNoun, { id, key, entry }: StoredEntry, context: CatalogueContext): Entry {
  const defaults = noun.defaults(entry, context);
  const isVerbatim = (member: string) => member === 'metadata' || noun.verbatim?.includes(member);
  const told = Object.entries(entry).filter(
    ([member, value]) => member === noun.identity || !(isNothing(value) || isDeepStrictEqual(value, defaults[member])),
  );
  const members = Object.fromEntries(
    told.map(([member, value]) => [member, isVerbatim(member) ? value : terse(value, noun.implied ?? {})]),
  );
  if (key !== '') return members;
  const { [noun.identity]: _none, ...rest } = members;
  return { id, ...rest };
}

/** A value without the members inside it that say nothing. */
function terse(value: unknown, implied: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(value)) return value.map((each) => terse(each, implied));
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  const given = Object.entries(value).filter(([name, member]) => !isNothing(member) && implied[name] !== member);
  return Object.fromEntries(given.map(([name, member]) => [name, terse(member, implied)]));
}
