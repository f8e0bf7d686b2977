import { defineEntity, p } from '@mikro-orm/core';
import { jsonText, recordColumns } from '../../rows/columns.ts';

/** What is sold beside a plan: prices and entitlements that a subscription attaches. spec: catalogue-and-metering §10.1 */
const schema = defineEntity({
  name: 'Addon',
  tableName: 'addon',
  properties: {
    ...recordColumns,
    name: p.text(),
    description: p.text().default(''),
    lookupKey: p.text(),
    /** `onetime` attaches once at a time, `multiple_instance` as often as wanted. */
    type: p.text().default('multiple_instance'),
    /** Any JSON, as its text. */
    metadata: jsonText(),
  },
  uniques: [
    {
      name: 'addon_lookup_key_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.lookupKey}) where ${c.status} = 'published'`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'createdAt', 'id'] }],
});
export class Addon extends schema.class {}
schema.setClass(Addon);
