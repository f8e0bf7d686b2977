import { refuse } from '../../billing/refusal.ts';
import { missing } from '../../db/rows/record.ts';
import { inTransaction } from '../../db/transaction.ts';
import { connectionsOf, deleteConnection, linkedProviders } from '../../services/integration/connection.ts';
import type { Api } from '../api.ts';
import { errorResponses, notBuiltResponse } from '../errors.ts';
import { idParams, noContent, optionalBody } from '../scalars.schema.ts';
import { saveConnectionChange, saveNewConnection } from './connection.ts';
import {
  agreedProvider,
  createIntegrationBody,
  integrationSecret,
  linkedIntegrations,
  newIntegration,
  providerParams,
  replacedIntegration,
  viewIntegration,
} from './secret-integration.schema.ts';

const tags = ['Connections'];

/** Connections as older clients know them: a secret of a provider. spec: platform §7 Legacy client operations */
export async function secretIntegrationRoutes(app: Api): Promise<void> {
  const { database } = app.dependencies;

  app.post('/secrets/integrations/create/:provider', {
    schema: {
      operationId: 'createOrUpdateIntegration',
      tags,
      summary: "Create a provider's connection, or replace its name and secrets (older form of /connections)",
      params: providerParams,
      body: createIntegrationBody,
      response: { 201: integrationSecret, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'secret:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { params, body, scope } = request;
      const provider = agreedProvider(params.provider, body.provider);
      const [former, ...more] = await inTransaction(database, scope, (tx) => connectionsOf(tx, provider));
      if (more.length > 0) {
        const message = `there are several connections to ${provider}; change one with PUT /connections/{id}`;
        throw refuse('invalid_operation', message, { fields: { provider: 'has several connections' } });
      }
      if (!former)
        return saveNewConnection(request, newIntegration(provider, body, scope), viewIntegration, 'credentials');
      const change = replacedIntegration(provider, body);
      return saveConnectionChange(request, former.id, change, viewIntegration, 'credentials');
    },
  });

  app.get('/secrets/integrations/by-provider/:provider', {
    schema: {
      operationId: 'getIntegration',
      tags,
      summary: 'Get the connection to a provider as a secret record',
      params: providerParams,
      response: { 200: integrationSecret, ...errorResponses },
    },
    config: { permission: 'secret:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        const [newest] = await connectionsOf(tx, params.provider);
        if (!newest) throw missing('connection to', params.provider, 'provider');
        return viewIntegration(newest);
      }),
  });

  app.get('/secrets/integrations/linked', {
    schema: {
      operationId: 'listLinkedIntegrations',
      tags,
      summary: 'List the providers there is a connection to',
      response: { 200: linkedIntegrations, ...errorResponses },
    },
    config: { permission: 'secret:read' },
    handler: async ({ transaction }) => transaction(async (tx) => ({ providers: await linkedProviders(tx) })),
  });

  app.delete('/secrets/integrations/:id', {
    schema: {
      operationId: 'deleteIntegration',
      tags,
      summary: 'Archive a connection and forget its secrets (older form of DELETE /connections/{id})',
      params: idParams,
      body: optionalBody,
      response: { 204: noContent, ...errorResponses },
    },
    config: { permission: 'secret:write' },
    handler: async ({ params, transaction }) => transaction((tx) => deleteConnection(tx, params.id)),
  });
}
