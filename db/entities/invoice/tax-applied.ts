import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** What one rate came to on one invoice, with the rate as it was then. spec: subscriptions-and-invoicing §2.18.3 */
const schema = defineEntity({
  name: 'TaxApplied',
  tableName: 'tax_applied',
  properties: {
    ...recordColumns,
    entityType: p.text().default('invoice'),
    entityId: p.text(),
    taxRateId: p.text(),
    taxAssociationId: p.text().nullable(),
    taxBehavior: p.text(),
    /** Order of application. */
    position: p.integer(),
    currency: p.text(),
    taxableAmount: numeric(),
    taxAmount: numeric(),
    appliedAt: instant(),
    /** The rate's record, keys as in `TaxRateSnapshot`. */
    taxRate: p.json<Record<string, unknown>>(),
    /** Invoice and rate, so that computing again replaces the row. */
    idempotencyKey: p.text(),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'tax_applied_unique',
      expression: (c, t, n) => `create unique index "${n}" on ${t} (${c.environmentId}, ${c.idempotencyKey})`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'entityId', 'position'] }, { properties: ['environmentId', 'taxRateId'] }],
});
export class TaxApplied extends schema.class {}
schema.setClass(TaxApplied);
