import { usagePartReader } from '../../metering/usage-part-reader.ts';
import { findCustomer } from '../../services/customer/customer.ts';
import { usageAnalytics } from '../../services/usage/usage-analytics.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import {
  portalAnalyticsBody,
  usageAnalyticsAnswer,
  usageAnalyticsRequest,
  viewUsageAnalytics,
} from './usage-analytics.schema.ts';

/**
 * What the usage of the customer of the session is and costs. `/analytics/cost` is left out: it would show customers what
 * serving them costs and the margin on them. spec: platform §11; README decision 14
 */
export function portalAnalyticsRoutes(app: Api): void {
  app.post('/customer/portal/analytics/revenue', {
    schema: {
      tags: ['Customer portal'],
      security: [{ PortalSession: [] }],
      operationId: 'portalGetAnalytics',
      summary: 'What the usage of the customer of the session is and costs',
      body: portalAnalyticsBody,
      response: { 200: usageAnalyticsAnswer, ...errorResponses },
    },
    config: { permission: 'customer:read', idempotency: 'none' },
    handler: async ({ portalCustomerId, body, transaction }) => {
      const asked = usageAnalyticsRequest(body ?? {});
      const readParts = usagePartReader(app.dependencies.metering);
      return transaction(async (tx) => {
        const customer = await findCustomer(tx, portalCustomerId);
        return viewUsageAnalytics(await usageAnalytics(tx, customer, asked, readParts), body ?? {});
      });
    },
  });
}
