import { z } from 'zod';
import { createTestEvent } from '../../services/event/webhook/test-event.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { readEventExamples } from '../reference/outbound-webhooks.ts';
import { idParams } from '../scalars.schema.ts';

/** Bodies of test events by type: those the API description shows. */
const bodies = new Map(Object.entries(readEventExamples()).map(([type, body]) => [type, JSON.stringify(body)]));

const testWebhookBody = z
  .object({ event_type: z.enum([...bodies.keys()].sort()) })
  .meta({ examples: [{ event_type: 'invoice.update.finalized' }] });
const startedTest = z.object({ delivery_id: z.string() }).meta({ id: 'TestWebhookEndpointResponse' });

/** Test events of webhook endpoints. spec: platform §17.4; design: people-and-events §B 23 */
export async function webhookTestRoutes(app: Api): Promise<void> {
  app.post('/webhooks/endpoints/:id/test', {
    schema: {
      operationId: 'testWebhookEndpoint',
      tags: ['Outbound events'],
      summary: 'Send a test event to a webhook endpoint',
      params: idParams,
      body: testWebhookBody,
      response: { 202: startedTest, ...errorResponses },
    },
    config: { permission: 'webhook:write' },
    handler: async ({ params, body: { event_type: eventType }, transaction }) => {
      const event = { eventType, body: bodies.get(eventType) ?? '' };
      return transaction(async (tx) => ({ delivery_id: await createTestEvent(tx, params.id, event) }));
    },
  });
}
