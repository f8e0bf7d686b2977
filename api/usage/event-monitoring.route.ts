import { realNow } from '../../db/clock.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { eventCostsNanoUsd } from '../../metering/event-cost.ts';
import { seriesWindows } from '../../metering/series.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import {
  inferenceAnswer,
  inferenceBody,
  monitoredInterval,
  monitoringAnswer,
  monitoringQuery,
  viewMonitoring,
} from './event-monitoring.schema.ts';

const tags = ['Events'];

/** How many events there are, and what single events cost. spec: catalogue-and-metering §6.1 */
export async function eventMonitoringRoutes(app: Api): Promise<void> {
  const { database, metering } = app.dependencies;

  app.get('/events/monitoring', {
    schema: {
      operationId: 'getMonitoringData',
      tags,
      summary: 'How many events there are in each window',
      querystring: monitoringQuery,
      response: { 200: monitoringAnswer, ...errorResponses },
    },
    config: { permission: 'event:read' },
    handler: async ({ query, scope }) => {
      const interval = monitoredInterval(query, realNow());
      const windowSize = query.window_size ?? 'HOUR';
      const windows = seriesWindows(interval, { windowSize, timezone: 'UTC', billingAnchor: null });
      return viewMonitoring(
        await inSqlTransaction(database, scope, (tx) => metering.counts(tx, scope, interval, windows)),
      );
    },
  });

  for (const [url, operationId] of [
    ['/events/huggingface-inference', 'getHuggingfaceInferenceData'],
    ['/events/huggingface-billing', 'getHuggingFaceBillingData'],
  ] as const) {
    app.post(url, {
      schema: {
        operationId,
        tags,
        summary: 'What the events with these ids cost, in billionths of a US dollar',
        body: inferenceBody,
        response: { 200: inferenceAnswer, ...errorResponses },
      },
      config: { permission: 'event:read' },
      handler: async ({ body, transaction }) =>
        transaction(async (tx) => {
          const costs = await eventCostsNanoUsd(tx, metering, body?.requestIds ?? []);
          return { requests: costs.map(({ id, costNanoUsd }) => ({ requestId: id, costNanoUsd })) };
        }),
    });
  }
}
