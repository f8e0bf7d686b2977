import { z } from 'zod';
import { Addon } from '../../../db/entities/catalogue/addon.ts';
import { badField } from '../../../db/rows/record.ts';
import { archiveAddon, createAddon, updateAddon } from '../../../services/catalogue/addon.ts';
import { addonChange, createAddonBody, newAddon } from '../addon.schema.ts';
import { viewJson } from '../addon-record.schema.ts';
import { entitlementNoun } from './entitlement.ts';
import type { CatalogueNoun, Entry } from './noun.ts';
import { priceNoun } from './price.ts';

const { name, lookup_key, description, metadata } = createAddonBody.shape;

/** Add-ons with their prices and entitlements. spec: catalogue-and-metering §10.1 */
export const addonNoun: CatalogueNoun = {
  noun: 'add-on',
  section: 'addons',
  permission: 'addon:write',
  identity: 'key',
  fields: { lookup_key: 'key', id: '' },
  parts: [priceNoun, entitlementNoun],
  ownerOf: ({ id, entry }) => ({ entityType: 'ADDON', id, name: String(entry.name) }),
  schema: z.strictObject({
    key: lookup_key.min(1, 'must not be empty'),
    name,
    description,
    type: z.enum(['onetime', 'multiple_instance']).nullish(),
    metadata,
    prices: z.array(priceNoun.schema).max(1000).optional(),
    entitlements: z.array(entitlementNoun.schema).max(1000).optional(),
  }),
  defaults: () => ({ key: '', name: '', description: '', type: 'multiple_instance', metadata: {} }),
  async read(tx) {
    const where = { environmentId: tx.scope.environmentId, status: 'published' };
    const rows = await tx.em.find(Addon, where, { orderBy: { createdAt: 'asc', id: 'asc' } });
    return rows.map((row) => ({
      id: row.id,
      key: row.lookupKey,
      entry: {
        key: row.lookupKey,
        name: row.name,
        description: row.description,
        type: row.type,
        metadata: viewJson(row.metadata),
      },
    }));
  },
  async create(tx, entry) {
    return (await createAddon(tx, newAddon(bodyOf(entry)))).id;
  },
  async update(tx, { id, key }, entry, changed) {
    if (changed.includes('type')) throw badField('type', `of add-on ${key} cannot be changed; make another add-on`);
    const body = bodyOf(entry);
    await updateAddon(
      tx,
      id,
      addonChange({ ...body, description: body.description ?? '', metadata: body.metadata ?? {} }),
    );
    return 'update';
  },
  remove: (tx, { id }) => archiveAddon(tx, id),
};

function bodyOf({ key, prices: _prices, entitlements: _entitlements, ...members }: Entry) {
  return { ...members, lookup_key: key } as z.output<typeof createAddonBody>;
}
