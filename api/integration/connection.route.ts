import { providers } from '../../integrations/providers.ts';
import {
  connectionsTo,
  deleteConnection,
  findConnection,
  listConnections,
} from '../../services/integration/connection.ts';
import type { Api } from '../api.ts';
import { errorResponses, notBuiltResponse } from '../errors.ts';
import { toListQuery } from '../list.ts';
import { idParams, noContent, optionalBody } from '../scalars.schema.ts';
import {
  connection,
  connectionChange,
  connectionList,
  connectionListQuery,
  connectionSearch,
  createConnectionBody,
  integrationConfig,
  newConnection,
  updateConnectionBody,
  viewConnection,
  viewConnections,
  viewIntegrationConfig,
} from './connection.schema.ts';
import { saveConnectionChange, saveNewConnection } from './connection.ts';

const tags = ['Connections'];
const capableProviders = providers.flatMap(({ name, exchanges }) => (exchanges ? [name] : []));

/** Connections to providers and what may be exchanged with them. Nothing is exchanged here. spec: platform §13 */
export async function connectionRoutes(app: Api): Promise<void> {
  app.post('/connections', {
    schema: {
      operationId: 'createConnection',
      tags,
      summary: 'Connect a provider; its secrets are kept encrypted and never shown',
      body: createConnectionBody,
      response: { 201: connection, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'connection:write', idempotency: 'lifecycle' },
    handler: async (request) => saveNewConnection(request, newConnection(request.body, request.scope), viewConnection),
  });

  app.get('/connections', {
    schema: {
      operationId: 'listConnections',
      tags,
      summary: 'List connections',
      querystring: connectionListQuery,
      response: { 200: connectionList, ...errorResponses },
    },
    config: { permission: 'connection:read' },
    handler: async ({ query, transaction }) =>
      transaction(async (tx) => {
        const filters = { ids: query.connection_ids, providerType: query.provider_type };
        return viewConnections(await listConnections(tx, toListQuery(query), filters));
      }),
  });

  app.post('/connections/search', {
    schema: {
      operationId: 'queryConnections',
      tags,
      summary: 'Search connections',
      body: connectionSearch,
      response: { 200: connectionList, ...errorResponses },
    },
    config: { permission: 'connection:read' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => {
        const filters = { ids: body?.connection_ids, providerType: body?.provider_type };
        return viewConnections(await listConnections(tx, toListQuery(body), filters));
      }),
  });

  app.get('/connections/:id', {
    schema: {
      operationId: 'getConnection',
      tags,
      summary: 'Get a connection',
      params: idParams,
      response: { 200: connection, ...errorResponses },
    },
    config: { permission: 'connection:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewConnection(await findConnection(tx, params.id))),
  });

  app.put('/connections/:id', {
    schema: {
      operationId: 'updateConnection',
      tags,
      summary: 'Change a connection; webhook secrets alone, or all secrets as a whole',
      params: idParams,
      body: updateConnectionBody,
      response: { 200: connection, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'connection:write', idempotency: 'lifecycle' },
    handler: async (request) =>
      saveConnectionChange(request, request.params.id, connectionChange(request.body, request.scope), viewConnection),
  });

  app.delete('/connections/:id', {
    schema: {
      operationId: 'deleteConnection',
      tags,
      summary: 'Archive a connection and forget its secrets',
      params: idParams,
      body: optionalBody,
      response: { 204: noContent, ...errorResponses },
    },
    config: { permission: 'connection:write' },
    handler: async ({ params, transaction }) => transaction((tx) => deleteConnection(tx, params.id)),
  });

  app.get('/integrations/config', {
    schema: {
      operationId: 'getIntegrationConfig',
      tags,
      summary: 'What each connected provider can exchange, and what is switched on',
      response: { 200: integrationConfig, ...errorResponses },
    },
    config: { permission: 'integration:read' },
    handler: async ({ transaction }) =>
      transaction(async (tx) => viewIntegrationConfig(await connectionsTo(tx, capableProviders))),
  });
}
