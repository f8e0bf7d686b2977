import type { z } from 'zod';
import { badField } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import type { Permission } from '../../../services/platform/roles.ts';

/** One entry of a catalogue file. It is known by `key`, or by `id` while the stored object has no lookup key. */
export type Entry = Record<string, unknown>;

/** A stored object in the form of the file, every member present. `key` is empty without a lookup key. */
export interface StoredEntry {
  id: string;
  key: string;
  entry: Entry;
}

/** What prices and entitlements hang on. */
export interface Owner {
  entityType: 'PLAN' | 'ADDON';
  id: string;
  name: string;
}

/** A metered or other feature as the rest of a file refers to it. */
export interface NamedFeature {
  id: string;
  type: string;
  meterId: string | null;
  meterName: string | null;
}

/** What the entries of a file may refer to, and when what is priced anew begins. */
export interface CatalogueContext {
  features: Map<string, NamedFeature>;
  /** By entity type and key, `price compute`. */
  groups: Map<string, string>;
  owner: Owner | null;
  effectiveFrom: string;
}

/**
 * A kind of object of the catalogue: its shape in the file and how it is read and written. A new kind is a file like
 * `group.ts` and a line in `document.ts`. `schema` brings an entry to canonical form; `defaults` names every member that is
 * compared, with what it is when the file does not say. The work is done by the stores, whose refusals name wire fields:
 * `fields` says what the file calls them.
 */
export interface CatalogueNoun {
  noun: string;
  /** The member of the file, or of the owner's entry, that lists the entries. */
  section: string;
  permission: Permission;
  schema: z.ZodType<Entry>;
  /** The member that an entry is known by. */
  identity: string;
  fields: Readonly<Record<string, string>>;
  defaults(entry: Entry, context: CatalogueContext): Entry;
  /** Members inside members, `tiers[0].flat_amount`, that need not be said when they have this value. */
  implied?: Readonly<Record<string, unknown>>;
  /** Members whose value is the caller's own and is given as it is. */
  verbatim?: readonly string[];
  read(tx: Transaction, context: CatalogueContext): Promise<StoredEntry[]>;
  create(tx: Transaction, entry: Entry, context: CatalogueContext): Promise<string>;
  update(
    tx: Transaction,
    stored: StoredEntry,
    entry: Entry,
    changed: readonly string[],
    context: CatalogueContext,
  ): Promise<UpdateAction>;
  remove(tx: Transaction, stored: StoredEntry, context: CatalogueContext): Promise<void>;
  /** Makes a created object known to what refers to it. */
  learn?(stored: StoredEntry & { entry: Entry }, context: CatalogueContext): void;
  /** What an entry holds besides its own members, and as whose parts they are written. */
  parts?: readonly CatalogueNoun[];
  ownerOf?(stored: { id: string; entry: Entry }): Owner;
}

/** How a change came about: in place, by a successor, or by ending the object and creating another. */
export type UpdateAction = 'update' | 'supersede' | 'replace';

/** An entry with every member that is compared. */
export function complete(noun: CatalogueNoun, entry: Entry, context: CatalogueContext): Entry {
  const defaults = noun.defaults(entry, context);
  return Object.fromEntries(Object.entries(defaults).map(([member, value]) => [member, entry[member] ?? value]));
}

/** The feature that a member of an entry names; refuses one that neither the file nor the environment has. */
export function featureNamed(context: CatalogueContext, key: unknown): NamedFeature {
  const feature = context.features.get(String(key));
  if (!feature) throw badField('feature', `names ${key}, which is no feature of the file or of the environment`);
  return feature;
}

/** The id of the group that an entry is in: `''` for none, which takes an object out of its group. */
export function groupNamed(context: CatalogueContext, type: 'price' | 'feature', key: unknown): string {
  if (key === null || key === undefined || key === '') return '';
  const id = context.groups.get(`${type} ${key}`);
  if (!id) throw badField('group', `names ${key}, which is no ${type} group of the file or of the environment`);
  return id;
}

/** The key of the group with this id; null for none. */
export function groupKey(context: CatalogueContext, id: string | null | undefined): string | null {
  const [name] = [...context.groups].find(([, groupId]) => groupId === id) ?? [];
  return name === undefined ? null : name.slice(name.indexOf(' ') + 1);
}
