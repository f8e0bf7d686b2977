import { setTimeout as delay } from 'node:timers/promises';
import {
  createEndpoint,
  deleteEndpoint,
  fenceMs,
  findEndpoint,
  listEndpoints,
  updateEndpoint,
} from '../../services/event/webhook/endpoint.ts';
import { endpointStatistics } from '../../services/event/webhook/statistics.ts';
import type { Api } from '../api.ts';
import { errorResponses, notBuiltResponse } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams, noContent, optionalBody } from '../scalars.schema.ts';
import {
  createdEndpoint,
  createEndpointBody,
  endpointChange,
  endpointList,
  endpointListQuery,
  newEndpoint,
  updateEndpointBody,
  viewEndpoint,
  webhookEndpoint,
} from './webhook-endpoint.schema.ts';
import { endpointTold } from './webhook-endpoint.ts';
import { viewStatistics, watchedEndpoint } from './webhook-statistics.schema.ts';

const tags = ['Outbound events'];

/** Receivers of outbound events. spec: platform §17.4 */
export async function webhookEndpointRoutes(app: Api): Promise<void> {
  const { config, temporal, webhooks = { allowedHosts: [] } } = app.dependencies;
  const keys = config.secretEncryptionKeys ?? [];
  const tell = endpointTold(temporal, (err) =>
    app.log.warn({ err }, 'the workflow of a webhook endpoint was not told'),
  );

  app.post('/webhooks/endpoints', {
    schema: {
      operationId: 'createWebhookEndpoint',
      tags,
      summary: 'Have outbound events sent to an address; the answer shows the signing secret',
      body: createEndpointBody,
      response: { 201: createdEndpoint, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'webhook:write', carriesCredential: true },
    handler: async ({ body, transaction }) => {
      const input = await newEndpoint(body, webhooks);
      return transaction(async (tx) => {
        const { row, secret } = await createEndpoint(tx, keys, input);
        return { ...viewEndpoint(row), secret };
      });
    },
  });

  app.get('/webhooks/endpoints', {
    schema: {
      operationId: 'listWebhookEndpoints',
      tags,
      summary: 'List webhook endpoints',
      querystring: endpointListQuery,
      response: { 200: endpointList, ...errorResponses },
    },
    config: { permission: 'webhook:read' },
    handler: async ({ query, transaction }) =>
      transaction(async (tx) => viewList(await listEndpoints(tx, toListQuery(query)), viewEndpoint, 'next')),
  });

  app.get('/webhooks/endpoints/:id', {
    schema: {
      operationId: 'getWebhookEndpoint',
      tags,
      summary: 'Get a webhook endpoint',
      params: idParams,
      response: { 200: watchedEndpoint, ...errorResponses },
    },
    config: { permission: 'webhook:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        const row = await findEndpoint(tx, params.id);
        return { ...viewEndpoint(row), statistics: viewStatistics(await endpointStatistics(tx, row.id)) };
      }),
  });

  app.put('/webhooks/endpoints/:id', {
    schema: {
      operationId: 'updateWebhookEndpoint',
      tags,
      summary: 'Change a webhook endpoint',
      params: idParams,
      body: updateEndpointBody,
      response: { 200: webhookEndpoint, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'webhook:write' },
    handler: async ({ params, body, scope, transaction }) => {
      const change = await endpointChange(body, webhooks);
      const { view, isServedElsewhere } = await transaction(async (tx) => {
        const { row, isServedElsewhere } = await updateEndpoint(tx, keys, params.id, change);
        return { view: viewEndpoint(row), isServedElsewhere };
      });
      tell(scope, params.id);
      // By then every worker has seen it: no request to the former address begins after the answer.
      if (isServedElsewhere) await delay(fenceMs);
      return view;
    },
  });

  app.delete('/webhooks/endpoints/:id', {
    schema: {
      operationId: 'deleteWebhookEndpoint',
      tags,
      summary: 'Delete a webhook endpoint with what waits for it',
      params: idParams,
      body: optionalBody,
      response: { 204: noContent, ...errorResponses },
    },
    config: { permission: 'webhook:write' },
    handler: async ({ params, scope, transaction }) => {
      const { isServed } = await transaction((tx) => deleteEndpoint(tx, params.id));
      tell(scope, params.id);
      // By then every worker has seen it: no request to it begins after the answer.
      if (isServed) await delay(fenceMs);
    },
  });
}
