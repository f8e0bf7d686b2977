import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata } from '../../rows/columns.ts';

/** A person or a service account of a tenant; API keys belong to one. spec: platform §6 */
const schema = defineEntity({
  name: 'UserAccount',
  tableName: 'user_account',
  properties: {
    id: p.text().primary(),
    tenantId: p.text(),
    name: p.text().default(''),
    email: p.text().default(''),
    type: p.text(),
    roles: p.type('text[]').$type<string[]>(),
    metadata: metadata(),
    status: p.text().default('published'),
    createdAt: instant(),
    createdBy: p.text().default(''),
    updatedAt: instant(),
    updatedBy: p.text().default(''),
  },
  indexes: [{ properties: ['tenantId', 'createdAt'] }],
});
export class UserAccount extends schema.class {}
schema.setClass(UserAccount);
