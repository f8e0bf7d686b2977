import { setTimeout as delay } from 'node:timers/promises';
import { realNow } from '../../db/clock.ts';
import { fenceMs, findEndpoint } from '../../services/event/webhook/endpoint.ts';
import { cancelReplay, latestReplay, retryEvent, startReplay } from '../../services/event/webhook/replay.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { idParams, noContent, optionalBody } from '../scalars.schema.ts';
import { endpointTold } from './webhook-endpoint.ts';
import {
  dashboard,
  replayBody,
  replayInput,
  retryAnswer,
  retryBody,
  viewReplay,
  webhookReplay,
} from './webhook-replay.schema.ts';

const tags = ['Outbound events'];

/** Outbound events that are sent again, because somebody asks for it. spec: platform §17.4; design: people-and-events §B 22 */
export async function webhookReplayRoutes(app: Api): Promise<void> {
  const tell = endpointTold(app.dependencies.temporal, (err) =>
    app.log.warn({ err }, 'the workflow of a webhook endpoint was not told'),
  );

  app.post('/webhooks/endpoints/:id/replay', {
    schema: {
      operationId: 'startWebhookReplay',
      tags,
      summary: 'Send the events of a time again to a webhook endpoint',
      params: idParams,
      body: replayBody,
      response: { 202: webhookReplay, ...errorResponses },
    },
    config: { permission: 'webhook:write' },
    handler: async ({ params, body, scope, transaction }) => {
      const input = replayInput(body, realNow());
      const view = await transaction(async (tx) => viewReplay(await startReplay(tx, params.id, input)));
      tell(scope, params.id);
      return view;
    },
  });

  app.get('/webhooks/endpoints/:id/replay', {
    schema: {
      operationId: 'getWebhookReplay',
      tags,
      summary: 'Get the latest replay to a webhook endpoint and how far it is',
      params: idParams,
      response: { 200: webhookReplay, ...errorResponses },
    },
    config: { permission: 'webhook:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        const { id } = await findEndpoint(tx, params.id);
        return viewReplay(await latestReplay(tx, id));
      }),
  });

  app.delete('/webhooks/endpoints/:id/replay', {
    schema: {
      operationId: 'cancelWebhookReplay',
      tags,
      summary: 'Cancel the replay to a webhook endpoint that is under way',
      params: idParams,
      body: optionalBody,
      response: { 204: noContent, ...errorResponses },
    },
    config: { permission: 'webhook:write' },
    handler: async ({ params, scope, transaction }) => {
      const { isServed } = await transaction(async (tx) => {
        const { id } = await findEndpoint(tx, params.id);
        return cancelReplay(tx, id);
      });
      tell(scope, params.id);
      // By then every worker has seen it: no request of it begins after the answer.
      if (isServed) await delay(fenceMs);
    },
  });

  app.post('/webhooks/retry', {
    schema: {
      operationId: 'retryOutboundWebhook',
      tags,
      summary: 'Send an outbound event to every webhook endpoint that lacks it',
      body: retryBody,
      response: { 202: retryAnswer, ...errorResponses },
    },
    config: { permission: 'webhook:write' },
    handler: async ({ body, scope, transaction }) => {
      const eventId = body.system_event_id;
      let endpointIds: string[] = [];
      const answer = await transaction(async (tx) => {
        endpointIds = await retryEvent(tx, eventId);
        const message = `${eventId} is sent again to ${endpointIds.join(', ')}`;
        return { success: true as const, message, system_event_id: eventId };
      });
      for (const endpointId of endpointIds) tell(scope, endpointId);
      return answer;
    },
  });

  app.get('/webhooks/dashboard', {
    schema: {
      operationId: 'getDashboardURL',
      tags,
      summary: 'Tell that webhooks are looked after here and not by a hosted dispatcher',
      response: { 200: dashboard, ...errorResponses },
    },
    config: { permission: 'webhook:read' },
    handler: async () => ({ svix_enabled: false, url: '', token: null, app_id: null }),
  });
}
