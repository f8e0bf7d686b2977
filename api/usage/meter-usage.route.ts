import type { z } from 'zod';
import type { Transaction } from '../../db/transaction.ts';
import { detailedUsage } from '../../metering/detailed-usage.ts';
import { meterUsage } from '../../metering/meter-usage.ts';
import { usagePartReader } from '../../metering/usage-part-reader.ts';
import { findCustomerByExternalId } from '../../services/customer/customer.ts';
import { usageAnalytics } from '../../services/usage/usage-analytics.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import {
  detailedUsageAnswer,
  detailedUsageBody,
  detailedUsageRequest,
  metersUsageAnswer,
  metersUsageBody,
  meterUsageAnswer,
  meterUsageBody,
  meterUsageRequest,
  viewDetailedUsage,
  viewMeterUsage,
} from './meter-usage.schema.ts';
import { usageAnalyticsRequest } from './usage-analytics.schema.ts';

const tags = ['Meters'];

/** How much of meters a customer used. spec: catalogue-and-metering §7.5 */
export async function meterUsageRoutes(app: Api): Promise<void> {
  const { metering } = app.dependencies;
  /** The customer's lines with what their time buckets used. */
  const linesOf = async (tx: Transaction, body: z.output<typeof detailedUsageBody>) => {
    const customer = await findCustomerByExternalId(tx, body.external_customer_id);
    return (await usageAnalytics(tx, customer, usageAnalyticsRequest(body), usagePartReader(metering))).items;
  };

  app.post('/meter-usage/query', {
    schema: {
      operationId: 'queryUsage',
      tags,
      summary: 'How much of a meter a customer used',
      body: meterUsageBody,
      response: { 200: meterUsageAnswer, ...errorResponses },
    },
    config: { permission: 'event:read' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => {
        const [usage] = await meterUsage(tx, metering, meterUsageRequest(body));
        return viewMeterUsage(usage!);
      }),
  });

  app.post('/meter-usage/analytics', {
    schema: {
      operationId: 'getAnalytics',
      tags,
      summary: 'How much of several meters a customer used',
      body: metersUsageBody,
      response: { 200: metersUsageAnswer, ...errorResponses },
    },
    config: { permission: 'event:read' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => ({
        items: (await meterUsage(tx, metering, meterUsageRequest(body))).map(viewMeterUsage),
      })),
  });

  app.post('/meter-usage/detailed-analytics', {
    schema: {
      operationId: 'getDetailedAnalytics',
      tags,
      summary: 'Every measure of meters for a customer, by source, property and window',
      body: detailedUsageBody,
      response: { 200: detailedUsageAnswer, ...errorResponses },
    },
    config: { permission: 'event:read' },
    handler: async ({ body, transaction }) => {
      const asked = detailedUsageRequest(body);
      return transaction(async (tx) => {
        const items = await detailedUsage(tx, metering, asked);
        return viewDetailedUsage(items, body, body.breakdown_bucket ? await linesOf(tx, body) : []);
      });
    },
  });
}
