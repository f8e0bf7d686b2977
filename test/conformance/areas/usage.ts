import { expect } from 'vitest';
import type { AreaCalls, Conversation } from '../conversation.ts';

/** What the customer on the test clock has and uses, in the second month of its subscription. */
export function usageCalls({ client, api, made }: Conversation): Record<string, AreaCalls> {
  const usage: AreaCalls = {
    async getCustomerUsageSummary() {
      await api('POST', '/events', {
        event_name: made.eventName,
        external_customer_id: made.externalId,
        timestamp: '2026-02-01T00:30:00Z',
        properties: { units: '12.5', region: 'eu' },
      });
      const summary = await client.customers.getCustomerUsageSummary({
        customerLookupKey: made.externalId,
        featureIds: [made.featureId],
      });
      expect(summary).toMatchObject({
        customerId: made.customerId,
        features: [{ totalLimit: 50, currentUsage: '12.5', usagePercent: '0.25', isUnlimited: false }],
        period: { startTime: '2026-02-01T00:00:00.000Z', endTime: '2026-03-01T00:00:00.000Z', period: 'MONTHLY' },
        pagination: { total: 1 },
      });
      expect(summary.features?.[0]).toMatchObject({ nextUsageResetAt: '2026-03-01T00:00:00.000Z' });
    },
    async getCustomerEntitlements() {
      const { features } = await client.customers.getCustomerEntitlements(made.customerId);
      expect(features).toMatchObject([
        {
          feature: { id: made.featureId },
          entitlement: { usageLimit: 50, isEnabled: true, usageResetPeriod: 'MONTHLY' },
          sources: [{ subscriptionId: made.subscriptionId, entityType: 'plan', entityId: made.planId }],
        },
      ]);
    },
    async getSubscriptionEntitlements() {
      const answer = await client.subscriptions.getSubscriptionEntitlements(made.subscriptionId, [made.featureId]);
      expect(answer).toMatchObject({
        subscriptionId: made.subscriptionId,
        planId: made.planId,
        features: [{ feature: { id: made.featureId } }],
      });
    },
    async getSubscriptionUsage() {
      const january = await client.subscriptions.getSubscriptionUsage({
        subscriptionId: made.subscriptionId,
        startTime: '2026-01-01T00:00:00Z',
        endTime: '2026-02-01T00:00:00Z',
      });
      // The usage line of the invoice that was previewed and paid.
      expect(january).toMatchObject({
        amount: 3.71,
        displayAmount: '$3.71',
        currency: 'usd',
        charges: [{ quantity: 170.5, amount: 3.71, meterId: made.meterId, isOverage: false }],
        commitmentAmount: 0,
        hasOverage: false,
      });
    },
    async getCustomerUpcomingGrants() {
      expect(await client.customers.getCustomerUpcomingGrants(made.customerId)).toMatchObject({ items: [] });
    },
    async getSubscriptionUpcomingGrants() {
      expect(await client.subscriptions.getSubscriptionUpcomingGrants(made.subscriptionId)).toMatchObject({
        items: [],
        pagination: { total: 0 },
      });
    },
  };
  return { usage };
}
