import { usagePartReader } from '../../metering/usage-part-reader.ts';
import { costAnalytics } from '../../services/usage/cost-analytics.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import {
  costAnalyticsAnswer,
  costAnalyticsBody,
  costAnalyticsRequest,
  viewCostAnalytics,
} from './cost-analytics.schema.ts';

/** Cost against revenue; the published client has the operation under two paths. spec: catalogue-and-metering §10.2 */
export async function costAnalyticsRoutes(app: Api): Promise<void> {
  for (const [url, operationId] of [
    ['/costs/analytics', 'getDetailedCostAnalytics'],
    ['/costs/analytics-v2', 'getDetailedCostAnalyticsV2'],
  ] as const) {
    app.post(url, {
      schema: {
        operationId,
        tags: ['Costs'],
        summary: 'What usage cost by the active cost sheet, what it earns, and the margin',
        body: costAnalyticsBody,
        response: { 200: costAnalyticsAnswer, ...errorResponses },
      },
      config: { permission: 'costsheet:read' },
      handler: async ({ body, transaction }) => {
        const asked = costAnalyticsRequest(body);
        const readParts = usagePartReader(app.dependencies.metering);
        return transaction(async (tx) => viewCostAnalytics(await costAnalytics(tx, asked, readParts), body));
      },
    });
  }
}
