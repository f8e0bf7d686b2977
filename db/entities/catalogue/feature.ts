import { defineEntity, p } from '@mikro-orm/core';
import { metadata, recordColumns } from '../../rows/columns.ts';

/** Something a plan offers; a metered one has a meter. spec: catalogue-and-metering §5.1 */
const schema = defineEntity({
  name: 'Feature',
  tableName: 'feature',
  properties: {
    ...recordColumns,
    name: p.text(),
    description: p.text().default(''),
    lookupKey: p.text(),
    type: p.text(),
    meterId: p.text().nullable(),
    groupId: p.text().nullable(),
    unitSingular: p.text().default(''),
    unitPlural: p.text().default(''),
    reportingUnit: p.json<{ unit_singular: string; unit_plural: string; conversion_rate: string }>().nullable(),
    alertSettings: p.json<Record<string, unknown>>().nullable(),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'feature_lookup_key_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.lookupKey}) where ${c.status} = 'published' and ${c.lookupKey} <> ''`,
    },
  ],
  indexes: [
    { properties: ['environmentId', 'createdAt', 'id'] },
    { properties: ['environmentId', 'meterId'] },
    { properties: ['environmentId', 'groupId'] },
  ],
});
export class Feature extends schema.class {}
schema.setClass(Feature);
