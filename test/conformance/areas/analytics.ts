import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** What the customer on the test clock used in the second month of its subscription, and what it costs. */
export function analyticsCalls({ client, made }: Conversation): Record<string, AreaCalls> {
  const month = { startTime: '2026-02-01T00:00:00Z', endTime: '2026-03-01T00:00:00Z' };
  const analytics: AreaCalls = {
    async getUsageAnalytics() {
      const answer = await client.events.getUsageAnalytics({
        externalCustomerId: made.externalId,
        featureIds: [made.featureId],
        groupBy: ['source', 'properties.region'],
        windowSize: 'DAY',
        expand: ['price', 'meter', 'feature', 'subscription_line_item', 'plan', 'source'],
        ...month,
      });
      expect(answer).toMatchObject({
        currency: 'usd',
        items: [
          {
            featureId: made.featureId,
            meterId: made.meterId,
            subscriptionId: made.subscriptionId,
            planId: made.planId,
            totalUsage: '12.5',
            eventCount: 1,
            properties: { region: 'eu' },
            windowSize: 'DAY',
            points: [{ timestamp: '2026-02-01T00:00:00.000Z', usage: '12.5', eventCount: 1 }],
          },
        ],
      });
    },
    async getHuggingfaceInferenceData() {
      // The client's method takes no ids.
      expect(await client.events.getHuggingfaceInferenceData()).toMatchObject({ requests: [] });
    },
    async getDetailedCostAnalytics() {
      const { costsheet } = await client.costs.createCostsheet({ name: 'Suppliers' });
      await client.prices.createPrice({
        entityType: 'COSTSHEET',
        entityId: present(costsheet?.id),
        type: 'USAGE',
        billingModel: 'FLAT_FEE',
        billingCadence: 'RECURRING',
        billingPeriod: 'MONTHLY',
        invoiceCadence: 'ARREAR',
        priceUnitType: 'FIAT',
        currency: 'usd',
        amount: '0.004',
        meterId: made.meterId,
      });
      const answer = await client.costs.getDetailedCostAnalytics({
        externalCustomerId: made.externalId,
        featureIds: [made.featureId],
        expand: ['meter', 'price'],
        ...month,
      });
      expect(answer).toMatchObject({
        totalCost: '0.05',
        currency: 'usd',
        costAnalytics: [
          {
            costsheetId: costsheet?.id,
            meterId: made.meterId,
            totalQuantity: '12.5',
            totalEvents: 1,
            totalCost: '0.05',
          },
        ],
      });
    },
    async getDetailedCostAnalyticsV2() {
      const answer = await client.costs.getDetailedCostAnalyticsV2({ externalCustomerId: made.externalId, ...month });
      expect(answer).toMatchObject({ totalCost: '0.05', costAnalytics: [{ totalQuantity: '12.5' }] });
    },
  };
  return { analytics };
}
