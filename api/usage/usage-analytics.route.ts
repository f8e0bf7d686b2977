import { usagePartReader } from '../../metering/usage-part-reader.ts';
import { findCustomerByExternalId } from '../../services/customer/customer.ts';
import { usageAnalytics } from '../../services/usage/usage-analytics.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import {
  usageAnalyticsAnswer,
  usageAnalyticsBody,
  usageAnalyticsRequest,
  viewUsageAnalytics,
} from './usage-analytics.schema.ts';

/** What a customer's usage is and costs. spec: catalogue-and-metering §7.6 */
export async function usageAnalyticsRoutes(app: Api): Promise<void> {
  app.post('/events/analytics', {
    schema: {
      operationId: 'getUsageAnalytics',
      tags: ['Events'],
      summary: 'What the usage of a customer is and costs, by line, source, property and window',
      body: usageAnalyticsBody,
      response: { 200: usageAnalyticsAnswer, ...errorResponses },
    },
    config: { permission: 'event:read' },
    handler: async ({ body, transaction }) => {
      const asked = usageAnalyticsRequest(body);
      const readParts = usagePartReader(app.dependencies.metering);
      return transaction(async (tx) => {
        const customer = await findCustomerByExternalId(tx, body.external_customer_id);
        return viewUsageAnalytics(await usageAnalytics(tx, customer, asked, readParts), body);
      });
    },
  });
}
