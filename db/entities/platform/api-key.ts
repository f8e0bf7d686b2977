import { defineEntity, p } from '@mikro-orm/core';
import { instant, recordColumns } from '../../rows/columns.ts';

/** An API key: only the SHA-256 of its text is kept. It is bound to one environment and carries roles. spec: platform §7 */
const schema = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    ...recordColumns,
    userId: p.text(),
    name: p.text(),
    type: p.text(),
    keyHash: p.text().unique(),
    displayId: p.text(),
    roles: p.type('text[]').$type<string[]>(),
    userType: p.text(),
    expiresAt: instant().nullable(),
    lastUsedAt: instant().nullable(),
  },
  indexes: [{ properties: ['environmentId', 'createdAt'] }],
});
export class ApiKey extends schema.class {}
schema.setClass(ApiKey);
