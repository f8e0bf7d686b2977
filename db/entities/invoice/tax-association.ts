import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, recordColumns } from '../../rows/columns.ts';

/**
 * Says that a tax rate holds for a tenant's environment, a customer, a subscription or an invoice.
 * spec: subscriptions-and-invoicing §1.13, §2.18.1
 */
const schema = defineEntity({
  name: 'TaxAssociation',
  tableName: 'tax_association',
  properties: {
    ...recordColumns,
    taxRateId: p.text(),
    entityType: p.text(),
    /** Empty for the whole environment. */
    entityId: p.text().default(''),
    taxBehavior: p.text().default('exclusive'),
    priority: p.integer().default(100),
    /** Empty for every currency. */
    currency: p.text().default(''),
    autoApply: p.boolean().default(true),
    startDate: instant(),
    endDate: instant().nullable(),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'tax_association_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.entityType}, ${c.entityId}, ${c.taxRateId}, ${c.currency}) where ${c.status} = 'published'`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'createdAt', 'id'] }, { properties: ['environmentId', 'taxRateId'] }],
});
export class TaxAssociation extends schema.class {}
schema.setClass(TaxAssociation);
