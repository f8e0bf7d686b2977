import { defineEntity, p } from '@mikro-orm/core';
import { metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** What is sold: prices, entitlements and grants hang on it. spec: catalogue-and-metering §3 */
const schema = defineEntity({
  name: 'Plan',
  tableName: 'plan',
  properties: {
    ...recordColumns,
    name: p.text(),
    description: p.text().default(''),
    lookupKey: p.text().default(''),
    displayOrder: p.integer().nullable(),
    /** Usage of a period that is invoiced before its end; a subscription's own wins. Null and 0: none. */
    autoInvoiceThreshold: numeric().nullable(),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'plan_lookup_key_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.lookupKey}) where ${c.status} = 'published' and ${c.lookupKey} <> ''`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'createdAt', 'id'] }],
});
export class Plan extends schema.class {}
schema.setClass(Plan);
