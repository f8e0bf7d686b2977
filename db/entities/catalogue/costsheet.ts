import { defineEntity, p } from '@mikro-orm/core';
import { metadata, recordColumns } from '../../rows/columns.ts';

/** What usage costs us: prices with entity_type COSTSHEET hang on it. spec: catalogue-and-metering §10.2 */
const schema = defineEntity({
  name: 'Costsheet',
  tableName: 'costsheet',
  properties: {
    ...recordColumns,
    name: p.text(),
    description: p.text().default(''),
    lookupKey: p.text().default(''),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'costsheet_name_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.name}) where ${c.status} = 'published'`,
    },
    {
      name: 'costsheet_lookup_key_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.lookupKey}) where ${c.status} = 'published' and ${c.lookupKey} <> ''`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'createdAt', 'id'] }],
});
export class Costsheet extends schema.class {}
schema.setClass(Costsheet);
