import type { FastifyRequest } from 'fastify';
import { isCheckoutActive } from '../../billing/payment/checkout.ts';
import { refuse } from '../../billing/refusal.ts';
import { badField, missing } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { readCustomerPresent } from '../../services/customer/customer-present.ts';
import { archiveCheckout, findCheckout, listCheckouts } from '../../services/payment/checkout/checkout-read.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams, noContent, optionalBody } from '../scalars.schema.ts';
import { createSubscriptionBody, creationOf } from '../subscription/subscription.schema.ts';
import { openSubscriptionCheckout } from '../subscription/subscription-checkout.ts';
import {
  type CreateCheckoutBody,
  checkoutFiltersOf,
  checkoutList,
  checkoutListQuery,
  checkoutRead,
  checkoutSession,
  createCheckoutBody,
  orderedWithSubscription,
  viewCheckout,
} from './checkout.schema.ts';
import { cancelAtWorkflow, checkoutRequestOf, readCheckout, viewOpened } from './checkout-workflow.ts';

const tags = ['Checkout'];
const write = { permission: 'checkoutsession:write', idempotency: 'lifecycle' } as const;

/** Checkout sessions. spec: wallets-and-payments §1.4, §2.17 */
export async function checkoutRoutes(app: Api): Promise<void> {
  app.post('/checkout/sessions', {
    schema: {
      operationId: 'createCheckoutSession',
      tags,
      summary: 'Open a payment page for a new subscription',
      body: createCheckoutBody,
      response: { 201: checkoutSession, ...errorResponses },
    },
    config: write,
    handler: async (request) => createSession(request, request.body),
  });

  app.get('/checkout/sessions', {
    schema: {
      operationId: 'listCheckoutSessions',
      tags,
      summary: 'List checkout sessions',
      querystring: checkoutListQuery,
      response: { 200: checkoutList, ...errorResponses },
    },
    config: { permission: 'checkoutsession:read' },
    handler: async ({ query, transaction }) =>
      transaction(async (tx) =>
        viewList(
          await listCheckouts(tx, toListQuery(query), checkoutFiltersOf(query)),
          (row) => viewCheckout(row, null),
          'next',
        ),
      ),
  });

  app.get('/checkout/sessions/:id', {
    schema: {
      operationId: 'getCheckoutSession',
      tags,
      summary: 'Get a checkout session; an active one is asked about at its provider first',
      params: idParams,
      response: { 200: checkoutRead, ...errorResponses },
    },
    config: { permission: 'checkoutsession:read' },
    handler: async (request) => readCheckout(request, request.params.id),
  });

  app.post('/checkout/sessions/:id/cancel', {
    schema: {
      operationId: 'cancelCheckoutSession',
      tags,
      summary: 'Cancel a checkout session; all it had drafted is taken back',
      params: idParams,
      body: optionalBody,
      response: { 200: checkoutRead, ...errorResponses },
    },
    config: write,
    handler: async (request) => cancelAtWorkflow(request, request.params.id),
  });

  app.delete('/checkout/sessions/:id', {
    schema: {
      operationId: 'deleteCheckoutSession',
      tags,
      summary: 'Cancel a checkout session, or archive one that has ended',
      params: idParams,
      response: { 204: noContent, ...errorResponses },
    },
    config: write,
    handler: async (request) => {
      const { id } = request.params;
      const row = await request.transaction((tx) => findCheckout(tx, id));
      if (isCheckoutActive(row.checkoutStatus)) await cancelAtWorkflow(request, id);
      else await request.transaction((tx) => archiveCheckout(tx, id));
    },
  });
}

const startedAt: Record<string, string> = {
  add_addon: 'POST /subscriptions/addon',
  modify_subscription: 'POST /subscriptions/{id}/modify/execute',
  wallet_topup: 'POST /wallets/{id}/top-up',
  pay_invoice: 'POST /invoices',
};

async function createSession(request: FastifyRequest, body: CreateCheckoutBody) {
  const params = parametersOf(body);
  const owner = await request.transaction((tx) => ownerOf(tx, body.customer_external_id));
  const session = await checkoutRequestOf(request, body, 'if_automatic');
  const asked = createSubscriptionBody.parse({
    ...params,
    external_customer_id: body.customer_external_id,
    collection_method: body.payment_provider_config?.collection_method ?? 'send_invoice',
  });
  const facts = { subscriptionId: request.newId('subs'), at: owner.at, customerId: owner.customerId };
  const subscription = creationOf(asked, facts, request.newId);
  if (!(await openSubscriptionCheckout(request, session, { subscription, configuration: params, owner }))) {
    throw refuse('validation_error', 'configuration has nothing to pay at once; create it with POST /subscriptions', {
      fields: { configuration: 'nothing to pay' },
    });
  }
  return request.transaction((tx) => viewOpened(request, tx, session.sessionId));
}

/** The one block of a configuration. Throws `validation_error` for another action, none and several. spec: wallets-and-payments §3 row 31 */
function parametersOf({ action, configuration }: CreateCheckoutBody) {
  const elsewhere = startedAt[action];
  if (elsewhere) throw badField('action', `${action} starts with ${elsewhere} and a checkout object`);
  const given = Object.entries(configuration ?? {}).filter(([, value]) => value !== undefined && value !== null);
  const params = configuration?.create_subscription_params;
  if (!params || given.length !== 1) {
    throw badField('configuration', 'must have exactly one block, create_subscription_params');
  }
  if (isGiven(params.subscription_id)) {
    throw badField(
      'configuration.create_subscription_params.subscription_id',
      'is not accepted: the session makes a new subscription',
    );
  }
  const surplus = orderedWithSubscription.find((name) => isGiven(params[name]));
  if (surplus !== undefined) {
    const remedy = 'is not accepted here; send it to POST /subscriptions with a checkout object';
    throw badField(`configuration.create_subscription_params.${surplus}`, remedy);
  }
  const notTaken = new Set<string>(['subscription_id', ...orderedWithSubscription]);
  const taken = Object.entries(params).filter(([name]) => !notTaken.has(name));
  return Object.fromEntries(taken) as Omit<typeof params, 'subscription_id' | (typeof orderedWithSubscription)[number]>;
}

/** Generated clients send members that say nothing. */
function isGiven(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** The customer that pays. Throws `not_found`, and `invalid_operation` for an archived one. spec: wallets-and-payments §3 row 32 */
async function ownerOf(tx: Transaction, externalId: string) {
  const [known] = await tx.rows<{ id: string; status: string }>(
    `select id, status from customer where environment_id = $1 and external_id = $2 order by status = 'published' desc limit 1`,
    [tx.scope.environmentId, externalId],
  );
  if (!known) throw missing('customer', externalId, 'customer_external_id');
  if (known.status !== 'published') {
    throw refuse('invalid_operation', `customer_external_id: the customer ${externalId} is ${known.status}`);
  }
  const { id: customerId, testClockId, at } = await readCustomerPresent(tx, tx.scope, { customer_id: known.id });
  return { customerId, testClockId, at };
}
