import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { NewSubscription } from '../../billing/subscription/new-subscription.ts';
import { childTaxWarnings, zoneWarnings } from '../../billing/subscription/unpriced-time.ts';
import { inReadTransaction } from '../../db/transaction.ts';
import { type CustomerPresent, readCustomerPresent } from '../../services/customer/customer-present.ts';
import { listSubscriptions } from '../../services/subscription/read/subscription-read.ts';
import {
  activateDraft,
  cancelSubscription,
  createSubscription,
  updateSubscription,
} from '../../workflows/subscription/subscription.messages.ts';
import type { Api } from '../api.ts';
import { sendCommand } from '../command.ts';
import { errorResponses, notBuiltResponse } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { checkoutRequestOf, viewOpened } from '../payment/checkout-workflow.ts';
import { idParams } from '../scalars.schema.ts';
import { createSubscriptionBody, creationOf, updateOf, updateSubscriptionBody } from './subscription.schema.ts';
import { viewCancellation } from './subscription-cancellation.route.ts';
import { cancelResult } from './subscription-cancellation.schema.ts';
import { openSubscriptionCheckout } from './subscription-checkout.ts';
import { activateSubscriptionBody, cancellationOf, cancelSubscriptionBody } from './subscription-end.schema.ts';
import {
  subscriptionExpandQuery,
  subscriptionFiltersOf,
  subscriptionListQuery,
  subscriptionPartsOf,
  subscriptionSearchBody,
} from './subscription-list.schema.ts';
import { subscription, subscriptionList, viewSubscription } from './subscription-view.schema.ts';
import { objectOf, readWhole } from './subscription-whole.route.ts';

const tags = ['Subscriptions'];

/** Subscriptions: mutations go to the workflow of the subscription, reads to its rows. spec: subscriptions-and-invoicing §1.1 */
export async function subscriptionRoutes(app: Api): Promise<void> {
  app.post('/subscriptions', {
    schema: {
      operationId: 'createSubscription',
      tags,
      summary: 'Create a subscription',
      body: createSubscriptionBody,
      response: { 201: subscription, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'subscription:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const subscriptionId = request.newId('subs');
      const customer = await inReadTransaction(app.dependencies.database, request.scope, (tx) =>
        readCustomerPresent(tx, tx.scope, request.body),
      );
      const facts = { subscriptionId, at: customer.at, customerId: customer.id };
      const content = creationOf(request.body, facts, request.newId);
      const checkout = await byCheckout(request, content, customer);
      if (checkout) return { ...(await readWhole(request, subscriptionId)), checkout_session: checkout };
      const object = {
        kind: 'subscription' as const,
        id: subscriptionId,
        customerId: customer.id,
        testClockId: customer.testClockId,
        at: customer.at,
        creating: true,
      };
      await sendCommand(request, object, createSubscription, { id: subscriptionId, content });
      const made = await readWhole(request, subscriptionId);
      const ofTaxes = childTaxWarnings(content.hierarchy?.groupedChildren.map(({ creation }) => creation) ?? []);
      return { ...made, warnings: [...made.warnings, ...zoneWarnings(content.timezone, made.timezone), ...ofTaxes] };
    },
  });

  app.get('/subscriptions', {
    schema: {
      operationId: 'listSubscriptions',
      tags,
      summary: 'List subscriptions',
      querystring: subscriptionListQuery,
      response: { 200: subscriptionList, ...errorResponses },
    },
    config: { permission: 'subscription:read' },
    handler: async (request) => listed(request, request.query),
  });

  app.post('/subscriptions/search', {
    schema: {
      operationId: 'querySubscription',
      tags,
      summary: 'Search subscriptions',
      body: subscriptionSearchBody,
      response: { 200: subscriptionList, ...errorResponses },
    },
    config: { permission: 'subscription:read' },
    handler: async (request) => listed(request, request.body),
  });

  for (const { path, operationId } of [
    { path: '/subscriptions/:id', operationId: 'getSubscription' },
    { path: '/subscriptions/:id/v2', operationId: 'getSubscriptionV2' },
  ]) {
    app.get(path, {
      schema: {
        operationId,
        tags,
        summary: 'Get a subscription',
        params: idParams,
        querystring: subscriptionExpandQuery,
        response: { 200: subscription, ...errorResponses },
      },
      config: { permission: 'subscription:read' },
      handler: async (request) => readWhole(request, request.params.id),
    });
  }

  registerActivation(app);
  registerMutations(app);
}

type ListInput = z.output<typeof subscriptionListQuery> | z.output<typeof subscriptionSearchBody>;

/** Page of subscriptions, by the filters of a query string or a body. */
function listed(request: FastifyRequest, asked: ListInput) {
  const filters = subscriptionFiltersOf(asked ?? {});
  const parts = subscriptionPartsOf(asked ?? {});
  return request.transaction(async (tx) =>
    viewList(await listSubscriptions(tx, toListQuery(asked), filters, parts), (row) => viewSubscription(row), 'next'),
  );
}

type CreateBody = z.output<typeof createSubscriptionBody>;

/** The session that pays a new subscription; null without one, and where nothing is to be paid at once. spec: wallets-and-payments §2.17 Gating */
async function byCheckout(
  request: FastifyRequest<{ Body: CreateBody }>,
  subscription: NewSubscription,
  { id: customerId, testClockId, at }: CustomerPresent,
) {
  const { checkout, ...configuration } = request.body;
  if (!checkout) return null;
  const isAutomatic = configuration.collection_method === 'charge_automatically';
  const session = await checkoutRequestOf(request, checkout, isAutomatic ? 'always' : 'if_automatic');
  const input = { subscription, configuration, owner: { customerId, testClockId, at } };
  if (!(await openSubscriptionCheckout(request, session, input))) return null;
  return request.transaction((tx) => viewOpened(request, tx, session.sessionId));
}

function registerActivation(app: Api): void {
  app.post('/subscriptions/:id/activate', {
    schema: {
      operationId: 'activateSubscription',
      tags,
      summary: 'Activate a draft',
      params: idParams,
      body: activateSubscriptionBody,
      response: { 200: subscription, ...errorResponses },
    },
    config: { permission: 'subscription:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      const object = await request.transaction((tx) => objectOf(tx, id));
      const content = { startDate: request.body.start_date };
      await sendCommand(request, object, activateDraft, { id: request.newId('subs_change'), content });
      return readWhole(request, id);
    },
  });
}

function registerMutations(app: Api): void {
  app.put('/subscriptions/:id', {
    schema: {
      operationId: 'updateSubscription',
      tags,
      summary: 'Update a subscription',
      params: idParams,
      body: updateSubscriptionBody,
      response: { 200: subscription, ...errorResponses },
    },
    config: { permission: 'subscription:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      const object = await request.transaction((tx) => objectOf(tx, id));
      const command = { id: request.newId('subs_change'), content: updateOf(request.body) };
      await sendCommand(request, object, updateSubscription, command);
      return readWhole(request, id);
    },
  });

  app.post('/subscriptions/:id/cancel', {
    schema: {
      operationId: 'cancelSubscription',
      tags,
      summary: 'Cancel a subscription now, at a date or at the end of its period',
      params: idParams,
      body: cancelSubscriptionBody,
      response: { 200: cancelResult, ...errorResponses },
    },
    config: { permission: 'subscription:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      const { body } = request;
      const object = await request.transaction((tx) => objectOf(tx, id));
      const command = { id: request.newId('subs_change'), content: cancellationOf(body) };
      await sendCommand(request, object, cancelSubscription, command);
      return request.transaction((tx) => viewCancellation(tx, object, body));
    },
  });
}
