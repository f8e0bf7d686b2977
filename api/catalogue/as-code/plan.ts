import { z } from 'zod';
import { Plan } from '../../../db/entities/catalogue/plan.ts';
import { archivePlan, createPlan, updatePlan } from '../../../services/catalogue/plan/plan.ts';
import { createPlanBody } from '../plan.schema.ts';
import { entitlementNoun } from './entitlement.ts';
import type { CatalogueNoun, Entry } from './noun.ts';
import { priceNoun } from './price.ts';

const { name, description, display_order, auto_invoice_threshold, metadata } = createPlanBody.shape;
const text = z.string().min(1, 'must not be empty').max(255);

/** Plans with their prices and entitlements. spec: catalogue-and-metering §3 */
export const planNoun: CatalogueNoun = {
  noun: 'plan',
  section: 'plans',
  permission: 'plan:write',
  identity: 'key',
  fields: { lookup_key: 'key', id: '' },
  parts: [priceNoun, entitlementNoun],
  ownerOf: ({ id, entry }) => ({ entityType: 'PLAN', id, name: String(entry.name) }),
  schema: z
    .strictObject({
      key: text.optional(),
      id: text.optional(),
      name,
      description,
      display_order,
      auto_invoice_threshold,
      metadata,
      prices: z.array(priceNoun.schema).max(1000).optional(),
      entitlements: z.array(entitlementNoun.schema).max(1000).optional(),
    })
    .refine((entry) => entry.key !== undefined || entry.id !== undefined, { path: ['key'], message: 'is required' }),
  defaults: () => ({
    key: '',
    name: '',
    description: '',
    display_order: null,
    auto_invoice_threshold: null,
    metadata: {},
  }),
  async read(tx) {
    const where = { environmentId: tx.scope.environmentId, status: 'published' };
    const rows = await tx.em.find(Plan, where, { orderBy: { createdAt: 'asc', id: 'asc' } });
    return rows.map((row) => ({
      id: row.id,
      key: row.lookupKey,
      entry: {
        key: row.lookupKey,
        name: row.name,
        description: row.description,
        display_order: row.displayOrder ?? null,
        auto_invoice_threshold: row.autoInvoiceThreshold ?? null,
        metadata: row.metadata,
      },
    }));
  },
  async create(tx, entry) {
    return (await createPlan(tx, membersOf(entry))).id;
  },
  async update(tx, { id }, entry) {
    await updatePlan(tx, id, membersOf(entry));
    return 'update';
  },
  remove: (tx, { id }) => archivePlan(tx, id),
};

function membersOf(entry: Entry) {
  return {
    name: entry.name as string,
    lookupKey: (entry.key as string) ?? '',
    description: (entry.description as string) ?? '',
    displayOrder: (entry.display_order as number) ?? null,
    autoInvoiceThreshold: (entry.auto_invoice_threshold as string) || null,
    metadata: (entry.metadata as Record<string, string>) ?? {},
  };
}
