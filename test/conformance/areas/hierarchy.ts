import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** A company and its department: subscriptions that are linked, with the department's invoices going to the company. */
export function hierarchyCalls({ client, made }: Conversation): Record<string, AreaCalls> {
  let companyId = '';
  let parentId = '';
  let childId = '';
  const terms = () =>
    ({
      planId: made.planId,
      currency: 'usd',
      billingCadence: 'RECURRING',
      billingPeriod: 'MONTHLY',
      billingCycle: 'anniversary',
      collectionMethod: 'send_invoice',
    }) as const;
  const calls: AreaCalls = {
    async createCustomer() {
      companyId = present((await client.customers.createCustomer({ externalId: 'company', name: 'Company' })).id);
      const department = await client.customers.createCustomer({
        externalId: 'department',
        name: 'Department',
        parentCustomerExternalId: 'company',
      });
      expect(department).toMatchObject({ parentCustomerId: companyId });
    },
    async createSubscription() {
      const parent = await client.subscriptions.createSubscription({ ...terms(), externalCustomerId: 'company' });
      parentId = present(parent.id);
      const child = await client.subscriptions.createSubscription({
        ...terms(),
        externalCustomerId: 'department',
        parentSubscriptionId: parentId,
        invoiceBilling: 'invoice_to_parent',
      });
      childId = present(child.id);
      expect(child).toMatchObject({ parentSubscriptionId: parentId, invoicingCustomerId: companyId });
    },
    async querySubscription() {
      const children = await client.subscriptions.querySubscription({ parentSubscriptionIds: [parentId] });
      expect(children).toMatchObject({ items: [{ id: childId }], pagination: { total: 1 } });
    },
    async queryInvoice() {
      const invoices = await client.invoices.queryInvoice({ customerId: companyId, subscriptionId: childId });
      expect(invoices).toMatchObject({ items: [{ customerId: companyId, subscriptionId: childId }] });
    },
    async updateSubscription() {
      await client.subscriptions.updateSubscription(childId, { parentSubscriptionId: '' });
      const alone = await client.subscriptions.querySubscription({ parentSubscriptionIds: [parentId] });
      expect(alone).toMatchObject({ pagination: { total: 0 } });
      const linked = await client.subscriptions.updateSubscription(childId, { parentSubscriptionId: parentId });
      expect(linked).toMatchObject({ id: childId, parentSubscriptionId: parentId });
    },
    async cancelSubscription() {
      for (const id of [childId, parentId]) {
        const cancelled = await client.subscriptions.cancelSubscription(id, { cancellationType: 'immediate' });
        expect(cancelled).toMatchObject({ subscriptionId: id, status: 'cancelled' });
      }
    },
  };
  return { 'subscription hierarchy': calls };
}
