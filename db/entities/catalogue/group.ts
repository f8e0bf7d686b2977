import { defineEntity, p } from '@mikro-orm/core';
import { metadata, recordColumns } from '../../rows/columns.ts';

/** Several prices, or several features, that are presented together. Its members name it. spec: catalogue-and-metering §4.6 */
const schema = defineEntity({
  name: 'Group',
  // GROUP is a word of SQL.
  tableName: 'catalogue_group',
  properties: {
    ...recordColumns,
    name: p.text(),
    entityType: p.text(),
    lookupKey: p.text(),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'group_lookup_key_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.lookupKey}) where ${c.status} = 'published'`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'createdAt', 'id'] }],
});
export class Group extends schema.class {}
schema.setClass(Group);
