import { defineEntity, p } from '@mikro-orm/core';
import { metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** A percentage that can be charged as tax, named by its code. spec: subscriptions-and-invoicing §1.13 */
const schema = defineEntity({
  name: 'TaxRate',
  tableName: 'tax_rate',
  properties: {
    ...recordColumns,
    code: p.text(),
    name: p.text(),
    description: p.text().default(''),
    percentageValue: numeric(),
    scope: p.text().default('INTERNAL'),
    taxRateStatus: p.text().default('ACTIVE'),
    taxRateType: p.text().default('percentage'),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'tax_rate_code_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.code}) where ${c.status} = 'published'`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'createdAt', 'id'] }],
});
export class TaxRate extends schema.class {}
schema.setClass(TaxRate);
