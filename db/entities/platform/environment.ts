import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/** One separate world of a tenant's data. `number` is its short key in the usage tables. spec: platform §9 */
const schema = defineEntity({
  name: 'Environment',
  tableName: 'environment',
  properties: {
    id: p.text().primary(),
    tenantId: p.text(),
    number: p.integer().unique().autoincrement(),
    name: p.text(),
    type: p.text(),
    status: p.text().default('published'),
    createdAt: instant(),
    createdBy: p.text().default(''),
    updatedAt: instant(),
    updatedBy: p.text().default(''),
  },
  indexes: [{ properties: ['tenantId', 'createdAt'] }],
});
export class Environment extends schema.class {}
schema.setClass(Environment);
