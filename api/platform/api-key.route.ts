import { createApiKey, deleteApiKey, listApiKeys, serviceAccountNames } from '../../services/platform/api-key.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams, noContent } from '../scalars.schema.ts';
import { apiKeyList, apiKeyListQuery, createApiKeyBody, createdApiKey, viewApiKey } from './api-key.schema.ts';

const tags = ['API keys'];

/** API keys of the environment. spec: platform §7 */
export async function apiKeyRoutes(app: Api): Promise<void> {
  app.post('/secrets/api/keys', {
    schema: {
      operationId: 'createApiKey',
      tags,
      summary: 'Create an API key; its text is in this answer only',
      body: createApiKeyBody,
      response: { 201: createdApiKey, ...errorResponses },
    },
    config: { permission: 'secret:write', carriesCredential: true },
    handler: async (request) => {
      const { name, type, expires_at, service_account_id } = request.body;
      const input = { name, type, expiresAt: expires_at, serviceAccountId: service_account_id };
      return request.transaction(async (tx) => {
        const { key, plaintext } = await createApiKey(tx, request.caller, input);
        const names = await serviceAccountNames(tx, [key]);
        return { secret: viewApiKey(key, names.get(key.userId)), api_key: plaintext };
      });
    },
  });

  app.get('/secrets/api/keys', {
    schema: {
      operationId: 'listApiKeys',
      tags,
      summary: 'List API keys of both kinds, without their text',
      querystring: apiKeyListQuery,
      response: { 200: apiKeyList, ...errorResponses },
    },
    config: { permission: 'secret:read' },
    handler: async (request) => {
      const { user_id, not_expired_at } = request.query;
      const query = toListQuery(request.query);
      return request.transaction(async (tx) => {
        const filters = { userId: user_id, notExpiredAt: not_expired_at };
        const page = await listApiKeys(tx, request.caller, query, filters);
        const names = await serviceAccountNames(tx, page.rows);
        return viewList(page, (row) => viewApiKey(row, names.get(row.userId)), 'next');
      });
    },
  });

  app.delete('/secrets/api/keys/:id', {
    schema: {
      operationId: 'deleteApiKey',
      tags,
      summary: 'Remove an API key; it is refused from then on',
      params: idParams,
      response: { 204: noContent, ...errorResponses },
    },
    config: { permission: 'secret:write' },
    handler: async (request) => {
      await request.transaction(async (tx) => deleteApiKey(tx, request.caller, request.params.id));
      app.forgetCredentials();
    },
  });
}
