import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { inboundAnswer, inboundParams } from './inbound.schema.ts';
import { inboundOf } from './inbound.ts';
import { providerInboxSignal } from './provider-inbox.ts';

/** Largest notification. spec: platform §16 */
const notificationLimitBytes = 1024 * 1024;

/** Providers whose notifications are taken, and what people call them. */
const notifying = [
  ['chargebee', 'Chargebee'],
  ['moyasar', 'Moyasar'],
  ['nomod', 'Nomod'],
  ['paddle', 'Paddle'],
  ['razorpay', 'Razorpay'],
  ['stripe', 'Stripe'],
  ['whop', 'Whop'],
] as const;

/**
 * Notifications of providers. No key and no tenant's state is looked at: who sent one is told by its signature over the bytes as they came,
 * before anything of them is read. spec: platform §16; README decision 30
 */
export async function inboundRoutes(app: Api): Promise<void> {
  const { config, database, providers, temporal } = app.dependencies;
  const inbound = inboundOf({
    database,
    secretKeys: config.secretEncryptionKeys ?? [],
    notificationsOf: (provider) => providers?.get(provider)?.notifications,
    onKept: providerInboxSignal(temporal, (err) =>
      app.log.warn({ err }, 'the workflow of notifications was not told of one'),
    ),
    onLost: (err) => app.log.error({ err }, 'a notification could not be stored'),
  });
  // The bytes as they were signed, whatever type they are said to have.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  for (const [provider, name] of notifying) {
    app.post(`/webhooks/${provider}/:tenant_id/:environment_id`, {
      bodyLimit: notificationLimitBytes,
      schema: {
        operationId: `handle${name}Webhook`,
        tags: ['Connections'],
        summary: `Take a notification of ${name}, signed with the webhook secret of the connection`,
        security: [],
        params: inboundParams,
        response: { 200: inboundAnswer, ...errorResponses },
      },
      handler: async (request) => {
        const { tenant_id: tenantId, environment_id: environmentId } = request.params;
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        await inbound.take({ provider, tenantId, environmentId, headers: request.headers, body });
        await app.callerLimits.spare(request);
        return { status: 'success' as const, message: 'stored' };
      },
    });
  }
}
