import { setTimeout as delay } from 'node:timers/promises';
import { fenceMs, findEndpoint, rotateSecret } from '../../services/event/webhook/endpoint.ts';
import { openEndpoint, signingSecrets } from '../../services/event/webhook/endpoint-secret.ts';
import type { Api } from '../api.ts';
import { errorResponses, notBuiltResponse } from '../errors.ts';
import { idParams } from '../scalars.schema.ts';
import { endpointSecrets, rotateSecretBody, viewSecrets } from './webhook-secret.schema.ts';

const tags = ['Outbound events'];

/** Signing secrets of webhook endpoints. Whoever reads one can sign as we do: to read events is not enough. spec: platform §17.4 */
export async function webhookSecretRoutes(app: Api): Promise<void> {
  const keys = app.dependencies.config.secretEncryptionKeys ?? [];

  app.get('/webhooks/endpoints/:id/secret', {
    schema: {
      operationId: 'getWebhookEndpointSecret',
      tags,
      summary: 'Show the signing secrets of a webhook endpoint',
      params: idParams,
      response: { 200: endpointSecrets, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'webhook:write', carriesCredential: true },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        const secrets = openEndpoint(keys, await findEndpoint(tx, params.id));
        return viewSecrets(signingSecrets(secrets, Date.now()));
      }),
  });

  app.post('/webhooks/endpoints/:id/secret/rotate', {
    schema: {
      operationId: 'rotateWebhookEndpointSecret',
      tags,
      summary: 'Have another secret sign the requests to a webhook endpoint',
      params: idParams,
      body: rotateSecretBody,
      response: { 200: endpointSecrets, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'webhook:write', carriesCredential: true },
    handler: async ({ params, body, transaction }) => {
      const change = { secret: body?.secret ?? undefined, expireOldNow: body?.expire_old_now ?? false };
      const { secrets, isServed } = await transaction((tx) => rotateSecret(tx, keys, params.id, change));
      // By then every worker has seen it: a request that begins after the answer is signed with exactly the secrets of the answer.
      if (isServed) await delay(fenceMs);
      return viewSecrets(secrets);
    },
  });
}
