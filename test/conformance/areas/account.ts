import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Tenants, environments, users, roles and API keys. */
export function accountCalls({ client }: Conversation): Record<string, AreaCalls> {
  let [tenantId, environmentId, serviceAccountId, keyId] = ['', '', '', ''];
  const tenants: AreaCalls = {
    async updateTenant() {
      const tenant = await client.tenants.updateTenant({ name: 'Conformance', metadata: { region: 'eu' } });
      expect(tenant).toMatchObject({ name: 'Conformance', metadata: { region: 'eu' } });
      tenantId = present(tenant.id);
    },
    async getTenantById() {
      expect(await client.tenants.getTenantById(tenantId)).toMatchObject({ id: tenantId, name: 'Conformance' });
    },
  };
  const environments: AreaCalls = {
    async createEnvironment() {
      const environment = await client.environments.createEnvironment({ name: 'Staging', type: 'development' });
      expect(environment).toMatchObject({ name: 'Staging', type: 'development' });
      environmentId = present(environment.id);
    },
    async updateEnvironment() {
      const renamed = await client.environments.updateEnvironment(environmentId, { name: 'Live' });
      expect(renamed).toMatchObject({ id: environmentId, name: 'Live' });
    },
  };
  const users: AreaCalls = {
    async createUser() {
      const user = await client.users.createUser({ type: 'service_account', roles: ['event_ingestor'] });
      expect(user).toMatchObject({ type: 'service_account', roles: ['event_ingestor'], tenant: { id: tenantId } });
      serviceAccountId = present(user.id);
    },
    async getUserInfo() {
      expect(await client.users.getUserInfo()).toMatchObject({ type: 'user', tenant: { id: tenantId } });
    },
    async queryUser() {
      const found = await client.users.queryUser({ type: 'service_account' });
      expect(found).toMatchObject({ items: [{ id: serviceAccountId }], pagination: { total: 1 } });
    },
  };
  const rbac: AreaCalls = {
    async listRbacRoles() {
      expect(JSON.stringify(await client.rbac.listRbacRoles())).toContain('event_ingestor');
    },
    async getRbacRole() {
      expect(await client.rbac.getRbacRole('event_ingestor')).toMatchObject({ id: 'event_ingestor' });
    },
  };
  const secrets: AreaCalls = {
    async createApiKey() {
      const created = await client.secrets.createApiKey({
        name: 'Ingest',
        type: 'private_key',
        serviceAccountId,
      });
      expect(created).toMatchObject({
        apiKey: expect.stringMatching(/^sk_/),
        secret: { name: 'Ingest', type: 'private_key', roles: ['event_ingestor'] },
      });
      keyId = present(created.secret?.id);
    },
    async listApiKeys() {
      const keys = await client.secrets.listApiKeys(10, 0);
      expect(present(keys.items).map((key) => key.id)).toContain(keyId);
    },
    async deleteApiKey() {
      await client.secrets.deleteApiKey(keyId);
      const keys = await client.secrets.listApiKeys();
      expect(present(keys.items).map((key) => key.id)).not.toContain(keyId);
    },
  };
  return { tenants, environments, users, rbac, secrets };
}
