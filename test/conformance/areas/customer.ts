import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Customers. The one that is kept stands on a test clock, which only the raw interface can say. */
export function customerCalls({ client, api, made }: Conversation): Record<string, AreaCalls> {
  let createdId = '';
  const customers: AreaCalls = {
    async createCustomer() {
      const customer = await client.customers.createCustomer({
        externalId: 'acme',
        name: 'Acme',
        email: 'billing@acme.example',
        addressCountry: 'DE',
        metadata: { tier: 'gold' },
      });
      expect(customer).toMatchObject({
        externalId: 'acme',
        name: 'Acme',
        email: 'billing@acme.example',
        addressCountry: 'DE',
        metadata: { tier: 'gold' },
        status: 'published',
      });
      createdId = present(customer.id);
    },
    async getCustomer() {
      expect(await client.customers.getCustomer(createdId)).toMatchObject({ id: createdId, externalId: 'acme' });
    },
    async getCustomerByExternalId() {
      expect(await client.customers.getCustomerByExternalId('acme')).toMatchObject({ id: createdId });
    },
    async updateCustomer() {
      const byId = await client.customers.updateCustomer({ name: 'Acme Corp' }, createdId);
      expect(byId).toMatchObject({ id: createdId, name: 'Acme Corp', email: 'billing@acme.example' });
      const byExternalId = await client.customers.updateCustomer({ email: 'a@acme.example' }, undefined, 'acme');
      expect(byExternalId).toMatchObject({ id: createdId, email: 'a@acme.example' });
    },
    async queryCustomer() {
      const found = await client.customers.queryCustomer({ externalIds: ['acme'], limit: 5 });
      expect(found).toMatchObject({ items: [{ id: createdId }], pagination: { total: 1, limit: 5 } });
    },
    async deleteCustomer() {
      await client.customers.deleteCustomer(createdId);
      expect(await client.customers.queryCustomer({ externalId: 'acme' })).toMatchObject({ items: [] });
      const clock = await api<{ id: string }>('POST', '/test-clocks', { frozen_time: '2026-01-01T00:00:00Z' });
      const kept = await api<{ id: string }>('POST', '/customers', {
        external_id: 'globex',
        name: 'Globex',
        test_clock_id: clock.body.id,
      });
      Object.assign(made, { clockId: clock.body.id, customerId: kept.body.id, externalId: 'globex' });
    },
  };
  return { customers };
}
