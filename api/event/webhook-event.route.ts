import { deliveriesOf } from '../../services/event/webhook/delivery.ts';
import { findEvent, listEvents } from '../../services/event/webhook/event-list.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams } from '../scalars.schema.ts';
import { shownBody } from './outbound-event-payload.ts';
import {
  eventFilters,
  shownWebhookEvent,
  viewDelivery,
  viewWebhookEvent,
  webhookDeliveryList,
  webhookDeliveryListQuery,
  webhookEventList,
  webhookEventListQuery,
} from './webhook-event.schema.ts';

const tags = ['Outbound events'];

/** Outbound events and what became of them at each endpoint. spec: platform §17.4 */
export async function webhookEventRoutes(app: Api): Promise<void> {
  app.get('/webhooks/events', {
    schema: {
      operationId: 'listWebhookEvents',
      tags,
      summary: 'List outbound events with what became of them',
      querystring: webhookEventListQuery,
      response: { 200: webhookEventList, ...errorResponses },
    },
    config: { permission: 'webhook:read' },
    handler: async ({ query, transaction }) =>
      transaction(async (tx) =>
        viewList(await listEvents(tx, toListQuery(query), eventFilters(query)), viewWebhookEvent, 'next'),
      ),
  });

  app.get('/webhooks/events/:id', {
    schema: {
      operationId: 'getWebhookEvent',
      tags,
      summary: 'Get an outbound event as receivers get it, with what became of it',
      params: idParams,
      response: { 200: shownWebhookEvent, ...errorResponses },
    },
    config: { permission: 'webhook:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        const event = await findEvent(tx, params.id);
        return { ...viewWebhookEvent(event), ...(await shownBody(tx, event)) };
      }),
  });

  app.get('/webhooks/events/:id/deliveries', {
    schema: {
      operationId: 'listWebhookDeliveries',
      tags,
      summary: 'List the attempts to deliver an outbound event',
      params: idParams,
      querystring: webhookDeliveryListQuery,
      response: { 200: webhookDeliveryList, ...errorResponses },
    },
    config: { permission: 'webhook:read' },
    handler: async ({ params, query, transaction }) =>
      transaction(async (tx) => {
        const { id: eventId } = await findEvent(tx, params.id);
        const { limit, offset } = toListQuery(query);
        const page = await deliveriesOf(tx, { eventId, endpointId: query.endpoint_id ?? null, limit, offset });
        return viewList({ ...page, limit, offset }, viewDelivery, 'next');
      }),
  });
}
