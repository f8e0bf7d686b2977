import { createOutboxListener } from '../../services/event/outbox-listener.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { createEventStreams, streamPermission } from './event-streams.ts';
import { feedQueryOf, outboundEventPage, outboundEventQuery, viewOutboundEventPage } from './outbound-event.schema.ts';
import { createOutboundEventFeed } from './outbound-event-feed.ts';
import { needsBodies, withBodies } from './outbound-event-payload.ts';
import { eventStream, outboundEventStreamHeaders, outboundEventStreamQuery } from './outbound-event-stream.schema.ts';
import { webhookEndpointRoutes } from './webhook-endpoint.route.ts';
import { webhookEventRoutes } from './webhook-event.route.ts';
import { webhookReplayRoutes } from './webhook-replay.route.ts';
import { webhookSecretRoutes } from './webhook-secret.route.ts';
import { webhookTestRoutes } from './webhook-test.route.ts';

/** The feed of outbound events, from any position, with long polling, and the endpoints they are sent to. spec: platform §17; design: architecture §5 */
export async function outboundEventRoutes(app: Api): Promise<void> {
  await app.register(webhookEndpointRoutes);
  await app.register(webhookEventRoutes);
  await app.register(webhookReplayRoutes);
  await app.register(webhookSecretRoutes);
  await app.register(webhookTestRoutes);
  const listener = createOutboxListener(app.dependencies.database);
  const feed = createOutboundEventFeed(app.dependencies.database, undefined, listener);
  const streams = createEventStreams(app, listener);
  // Before the server waits for open requests, so that it need not wait for those that wait for events.
  app.addHook('preClose', async () => {
    streams.close();
    await feed.close();
  });

  app.get('/outbound-events', {
    schema: {
      operationId: 'listOutboundEvents',
      tags: ['Outbound events'],
      summary: 'Read outbound events in order, and wait for the next',
      querystring: outboundEventQuery,
      response: { 200: outboundEventPage, ...errorResponses },
    },
    config: { permission: 'webhook:read' },
    handler: async (request, reply) => {
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      void reply.header('cache-control', 'no-store');
      const page = await feed.read(request.scope, feedQueryOf(request.query), gone.signal);
      if (!needsBodies(page)) return viewOutboundEventPage(page);
      return request.transaction(async (tx) => viewOutboundEventPage(await withBodies(tx, page)));
    },
  });

  app.get('/outbound-events/stream', {
    schema: {
      operationId: 'streamOutboundEvents',
      tags: ['Outbound events'],
      summary: 'Receive outbound events in order as they come about',
      querystring: outboundEventStreamQuery,
      headers: outboundEventStreamHeaders,
      response: { 200: eventStream, ...errorResponses },
    },
    // Reading a stream needs the right to its events.
    exposeHeadRoute: false,
    config: { permission: streamPermission },
    handler: async (request, reply) => {
      const { cursor = 'latest', types = null } = request.query;
      const last = request.headers['last-event-id'];
      await streams.open(request, reply, { cursor: last || cursor, types });
    },
  });
}
