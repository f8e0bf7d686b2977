import { expect } from 'vitest';
import type { AreaCalls, Conversation } from '../conversation.ts';

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
  };
  return { analytics };
}
