import { defineEntity, p } from '@mikro-orm/core';
import { metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** A custom currency: one of it is worth `conversionRate` of its base currency. spec: catalogue-and-metering §4.5 */
const schema = defineEntity({
  name: 'PriceUnit',
  tableName: 'price_unit',
  properties: {
    ...recordColumns,
    name: p.text(),
    code: p.text(),
    symbol: p.text(),
    baseCurrency: p.text(),
    conversionRate: numeric(),
    precision: p.integer(),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'price_unit_code_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.code}) where ${c.status} = 'published'`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'createdAt', 'id'] }],
});
export class PriceUnit extends schema.class {}
schema.setClass(PriceUnit);
