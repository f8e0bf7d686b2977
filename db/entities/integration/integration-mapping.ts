import { defineEntity, p } from '@mikro-orm/core';
import { metadata, recordColumns } from '../../rows/columns.ts';

/** What an object of ours is called at a provider. spec: platform §14 */
const schema = defineEntity({
  name: 'IntegrationMapping',
  tableName: 'integration_mapping',
  properties: {
    ...recordColumns,
    entityType: p.text(),
    entityId: p.text(),
    providerType: p.text(),
    providerEntityId: p.text(),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'integration_mapping_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.entityType}, ${c.entityId}, ${c.providerType}) where ${c.status} = 'published'`,
    },
    {
      name: 'integration_mapping_provider_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.providerType}, ${c.providerEntityId}, ${c.entityType}) where ${c.status} = 'published'`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'createdAt', 'id'] }],
});
export class IntegrationMapping extends schema.class {}
schema.setClass(IntegrationMapping);
