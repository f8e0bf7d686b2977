import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** What objects are called at providers. */
export function integrationCalls({ client, made }: Conversation): Record<string, AreaCalls> {
  let mappingId = '';
  const integrations: AreaCalls = {
    async createEntityIntegrationMapping() {
      const object = { entityType: 'customer', entityId: made.customerId, providerType: 'stripe' } as const;
      const mapping = await client.entityIntegrationMappings.createEntityIntegrationMapping({
        ...object,
        providerEntityId: 'cus_N1',
        metadata: { account: 'eu' },
      });
      expect(mapping).toMatchObject({ ...object, providerEntityId: 'cus_N1', status: 'published' });
      mappingId = present(mapping.id);
    },
    async deleteEntityIntegrationMapping() {
      await client.entityIntegrationMappings.deleteEntityIntegrationMapping(mappingId);
    },
  };
  return { integrations };
}
