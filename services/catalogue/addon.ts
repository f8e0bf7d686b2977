import { LockMode } from '@mikro-orm/core';
import { realNow } from '../../db/clock.ts';
import { Addon } from '../../db/entities/catalogue/addon.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { badField, missing, newRecord, refuseArchived, refuseInvalid, takenKey, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { flushUnique } from '../../db/unique.ts';
import { writeAudit } from '../platform/audit.ts';

/** `metadata` is the JSON text of any object. */
export interface NewAddon {
  name: string;
  lookupKey: string;
  description: string;
  type: 'onetime' | 'multiple_instance';
  metadata: string;
}

/** What may change of an add-on; an absent member stays. */
export type AddonChange = { [Member in 'name' | 'description' | 'metadata']?: NewAddon[Member] | undefined };

/** Creates an add-on. Throws `validation_error`, `already_exists` for a taken lookup key. spec: catalogue-and-metering §10.1 */
export async function createAddon(tx: Transaction, input: NewAddon): Promise<Addon> {
  refuseBlank('name', input.name);
  refuseBlank('lookup_key', input.lookupKey);
  const addon = tx.em.create(Addon, { ...newRecord(tx, 'addon'), ...input });
  await flushUnique(tx, { addon_lookup_key_unique: () => takenKey('add-on', addon.lookupKey) });
  await auditAddon(tx, addon, 'created');
  return addon;
}

/** An add-on of this environment, archived or not; throws `not_found`. */
export async function findAddon(tx: Transaction, id: string): Promise<Addon> {
  const addon = await tx.em.findOne(Addon, { id, environmentId: tx.scope.environmentId });
  if (!addon) throw missing('add-on', id);
  return addon;
}

/** The published add-on behind a lookup key; throws `not_found`. spec: catalogue-and-metering §10.1 */
export async function findAddonByLookupKey(tx: Transaction, lookupKey: string): Promise<Addon> {
  const where = { environmentId: tx.scope.environmentId, lookupKey, status: 'published' };
  const addon = await tx.em.findOne(Addon, where);
  if (!addon) throw missing('published add-on with lookup_key', lookupKey, 'lookup_key');
  return addon;
}

/** The add-ons of the given ids, by id. */
export async function addonsById(tx: Transaction, ids: readonly string[]): Promise<Map<string, Addon>> {
  if (ids.length === 0) return new Map();
  const addons = await tx.em.find(Addon, { id: { $in: [...new Set(ids)] }, environmentId: tx.scope.environmentId });
  return new Map(addons.map((addon) => [addon.id, addon]));
}

/**
 * The add-on a new price or entitlement belongs to, held against archiving it meanwhile; other additions share it. `field`
 * is the wire field that names it. Throws `not_found`, `invalid_operation` for an archived one.
 */
export async function publishedAddon(tx: Transaction, id: string, field: string): Promise<Addon> {
  const where = { id, environmentId: tx.scope.environmentId };
  const addon = await tx.em.findOne(Addon, where, { lockMode: LockMode.PESSIMISTIC_READ, refresh: true });
  if (!addon) throw missing('add-on', id, field);
  if (addon.status !== 'published') {
    throw refuseInvalid(field, `add-on ${id} is ${addon.status}; only published add-ons can be added to`);
  }
  return addon;
}

const addonList: ListDefinition<Addon> = {
  entity: Addon,
  columns: { name: 'string', description: 'string', lookup_key: 'string', type: 'string' },
};

type Ids = readonly string[] | null | undefined;

/** One page of add-ons. spec: catalogue-and-metering §2.3 */
export function listAddons(
  tx: Transaction,
  query: ListQuery,
  filters: { addonIds: Ids; lookupKeys: Ids },
): Promise<ListPage<Addon>> {
  return listPage(tx, addonList, query, {
    $and: [anyOf('id', filters.addonIds), anyOf('lookupKey', filters.lookupKeys)],
  });
}

/** Changes an add-on; absent members stay. Throws `not_found`, `invalid_operation` on an archived one. spec: §10.1 */
export async function updateAddon(tx: Transaction, id: string, change: AddonChange): Promise<Addon> {
  const addon = await lockAddon(tx, id);
  refuseArchived('add-on', addon);
  if (change.name !== undefined) {
    refuseBlank('name', change.name);
    addon.name = change.name;
  }
  if (change.description !== undefined) addon.description = change.description;
  if (change.metadata !== undefined) addon.metadata = change.metadata;
  touch(tx, addon);
  await tx.em.flush();
  await auditAddon(tx, addon, 'updated');
  return addon;
}

/**
 * Archives an add-on; repeating it changes nothing. Its prices, entitlements and running charges stay. Throws `not_found`, and
 * `validation_error` while it is attached: at its customer's present an attachment, or a charge of one, has not ended. Who
 * attaches it locks it too, so that neither misses the other. spec: catalogue-and-metering §10.1, §11, §13 row 46
 */
export async function archiveAddon(tx: Transaction, id: string): Promise<void> {
  const addon = await lockAddon(tx, id);
  if (addon.status !== 'published') return;
  const [user] = await tx.rows<{ entity_id: string }>(activeUseText, [tx.scope.environmentId, id, realNow()]);
  if (user) {
    throw badField('id', `names add-on ${id}, which is attached to subscription ${user.entity_id}; detach it first`);
  }
  addon.status = 'archived';
  touch(tx, addon);
  await tx.em.flush();
  await auditAddon(tx, addon, 'archived');
}

const activeUseText = `
select a.entity_id from addon_association a join subscription s on s.id = a.entity_id
left join test_clock c on c.id = s.test_clock_id
cross join lateral (select coalesce(c.frozen_time, $3::timestamptz) as instant) present
where a.environment_id = $1 and a.addon_id = $2 and a.status = 'published' and (
  (a.addon_status not in ('cancelled', 'pending') and (a.end_date is null or a.end_date > present.instant))
  or exists (select from subscription_line_item l where l.environment_id = a.environment_id and l.subscription_id = a.entity_id
    and l.addon_association_id = a.id and l.status = 'published' and (l.end_date is null or l.end_date > present.instant)))
order by a.id limit 1`;

async function lockAddon(tx: Transaction, id: string): Promise<Addon> {
  const where = { id, environmentId: tx.scope.environmentId };
  const addon = await tx.em.findOne(Addon, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!addon) throw missing('add-on', id);
  return addon;
}

function refuseBlank(field: string, text: string): void {
  if (text.trim() === '') throw badField(field, 'must not be blank');
}

/** The audit row of an add-on's change. Add-ons emit no events. spec: platform §17.3 */
function auditAddon(tx: Transaction, addon: Addon, action: string): Promise<void> {
  const detail = { name: addon.name, lookup_key: addon.lookupKey, type: addon.type };
  return writeAudit(tx, tx.scope, [
    { objectType: 'addon', objectId: addon.id, action, occurredAt: addon.updatedAt, detail },
  ]);
}
