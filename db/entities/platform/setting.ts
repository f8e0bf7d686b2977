import { defineEntity, p } from '@mikro-orm/core';
import { recordColumns } from '../../rows/columns.ts';

/** A setting of an environment, by key; what is not stored has its documented default. spec: platform §12 */
const schema = defineEntity({
  name: 'Setting',
  tableName: 'setting',
  properties: { ...recordColumns, key: p.text(), value: p.json<Record<string, unknown>>() },
  uniques: [{ properties: ['environmentId', 'key'] }],
});
export class Setting extends schema.class {}
schema.setClass(Setting);
