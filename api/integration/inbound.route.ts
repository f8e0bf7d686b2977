import { providerAdapters } from '../../integrations/connect.ts';
import { notificationsOf, providers } from '../../integrations/providers.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { inboundAnswer, inboundParams } from './inbound.schema.ts';
import { inboundOf } from './inbound.ts';
import { providerInboxSignal } from './provider-inbox.ts';

/** Largest notification. spec: platform §16 */
const notificationLimitBytes = 1024 * 1024;

const takesPayments = providerAdapters();

/** Providers whose notifications are taken. */
const notifying = providers.flatMap(({ name, title }) => {
  const notifications = notificationsOf(name, takesPayments);
  if (!notifications) return [];
  const operation = name.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
  const consequence = takesPayments.has(name)
    ? `after that the workflow of the session, payment or refund it is about asks ${title}. One that is nothing to us is stored and answered with 200 too, so that ${title} does not repeat it`
    : `nothing follows from it in this release, which exchanges nothing with ${title}`;
  const description = `Takes no API key: ${notifications.proof}. It is stored once and answered; ${consequence}.`;
  return [{ provider: name, title, operationId: `handle${operation}Webhook`, description }];
});

/**
 * Notifications of providers. No key and no tenant's state is looked at: who sent one is told by its signature over the bytes as they came,
 * before anything of them is read. spec: platform §16; README decision 30
 */
export async function inboundRoutes(app: Api): Promise<void> {
  const { config, database, providers, temporal } = app.dependencies;
  const inbound = inboundOf({
    database,
    secretKeys: config.secretEncryptionKeys ?? [],
    notificationsOf: (provider) => notificationsOf(provider, providers),
    onKept: providerInboxSignal(temporal, (err) =>
      app.log.warn({ err }, 'the workflow of notifications was not told of one'),
    ),
    onLost: (err) => app.log.error({ err }, 'a notification could not be stored'),
  });
  // The bytes as they were signed, whatever type they are said to have.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  for (const { provider, title, operationId, description } of notifying) {
    app.post(`/webhooks/${provider}/:tenant_id/:environment_id`, {
      bodyLimit: notificationLimitBytes,
      schema: {
        operationId,
        tags: ['Connections'],
        summary: `Take a notification of ${title}, signed with the webhook secret of the connection`,
        description,
        security: [],
        params: inboundParams,
        response: { 200: inboundAnswer, ...errorResponses },
      },
      handler: async (request) => {
        const { tenant_id: tenantId, environment_id: environmentId } = request.params;
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const url = `${request.protocol}://${request.host}${request.originalUrl}`;
        await inbound.take({ provider, tenantId, environmentId, headers: request.headers, body, url });
        await app.callerLimits.spare(request);
        return { status: 'success' as const, message: 'stored' };
      },
    });
  }
}
