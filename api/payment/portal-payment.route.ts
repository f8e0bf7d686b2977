import type { FastifyRequest } from 'fastify';
import { isWithinMandate } from '../../billing/payment/saved-method.ts';
import { decimalText } from '../../db/rows/columns.ts';
import { missing } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { portalInvoice } from '../../services/across/portal.ts';
import { chargeableMethod } from '../../services/collection/payment.ts';
import { findCheckout } from '../../services/payment/checkout/checkout-read.ts';
import { findPayment } from '../../services/payment/payment-list.ts';
import {
  archivePaymentMethod,
  listPaymentMethods,
  makeDefaultPaymentMethod,
} from '../../services/payment/payment-method.ts';
import { followMethods } from '../../services/topup/auto-topup-switch.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { idParams, optionalBody } from '../scalars.schema.ts';
import {
  isWithoutCustomer,
  portalCheckoutOf,
  portalIntegrations,
  portalMethodBody,
  portalMethods,
  portalPayBody,
  portalPayment,
  portalSetup,
  portalSetupBody,
  viewPortalMethods,
} from '../wallet/portal-money.schema.ts';
import { checkoutRead } from './checkout.schema.ts';
import { openSetup } from './checkout-setup.ts';
import { cancelAtWorkflow, pageProviders, pageUrlOf, readCheckout, runningSessionOf } from './checkout-workflow.ts';
import { paymentMessage } from './payment.schema.ts';
import { openInvoicePage } from './payment-link.ts';
import { chargeSavedMethod } from './portal-charge.ts';

const common = { tags: ['Customer portal'], security: [{ PortalSession: [] }] };
const reading = { permission: 'customer:read', idempotency: 'none' } as const;
const writing = { permission: 'customer:write', idempotency: 'none' } as const;

/** Payments, payment pages and saved methods of the customer of the session. spec: wallets-and-payments §1.8 */
export function portalPaymentRoutes(app: Api): void {
  payRoutes(app);
  sessionRoutes(app);
  methodRoutes(app);
  setupRoutes(app);
}

function payRoutes(app: Api): void {
  app.post('/customer/portal/invoices/:id/pay', {
    schema: {
      ...common,
      operationId: 'portalPayInvoice',
      summary: 'Pay what remains of an invoice: on a payment page, or from the saved method',
      params: idParams,
      body: portalPayBody,
      response: { 200: portalPayment, ...errorResponses },
    },
    config: writing,
    handler: async (request) => {
      const { params, body, portalCustomerId, transaction } = request;
      const key = body.idempotency_key ?? null;
      const hasMethod = await transaction(async (tx) => {
        const { row } = await portalInvoice(tx, portalCustomerId, params.id);
        const method = isWithoutCustomer(body) ? await chargeableMethod(tx, portalCustomerId, null) : null;
        return method !== null && isWithinMandate(method.maxAmount, decimalText(row.amountRemaining));
      });
      if (!hasMethod) {
        const paymentId = await openInvoicePage(request, params.id, portalCheckoutOf(body, key)).then(
          (opened) => opened.paymentId,
          (error: unknown) => paymentOfOpenPage(request, error),
        );
        return viewPaid(request, paymentId);
      }
      return viewPaid(request, await chargeSavedMethod(request, params.id, key));
    },
  });
}

/** The payment of the page that is open for the invoice already. Throws what refused another one where none of the customer is. */
async function paymentOfOpenPage({ transaction, portalCustomerId }: FastifyRequest, error: unknown): Promise<string> {
  const open = runningSessionOf(error);
  const session = open === null ? null : await transaction((tx) => findCheckout(tx, open));
  if (!session?.checkoutPaymentId || session.customerId !== portalCustomerId) throw error;
  return session.checkoutPaymentId;
}

async function viewPaid(request: FastifyRequest, paymentId: string) {
  return request.transaction(async (tx) => {
    const { row } = await findPayment(tx, paymentId);
    const session = row.checkoutSessionId ? await findCheckout(tx, row.checkoutSessionId) : null;
    const url = session ? pageUrlOf(request, session) : null;
    return {
      payment_id: row.id,
      invoice_id: row.destinationId,
      status: row.paymentStatus,
      amount: row.amount,
      currency: row.currency,
      payment_action: url === null ? null : ({ type: 'checkout_url', url } as const),
    };
  });
}

function sessionRoutes(app: Api): void {
  app.get('/customer/portal/checkout-sessions/:id', {
    schema: {
      ...common,
      operationId: 'portalGetCheckoutSession',
      summary: 'A checkout session of the customer of the session; an active one is asked about at its provider first',
      params: idParams,
      response: { 200: checkoutRead, ...errorResponses },
    },
    config: reading,
    handler: async (request) => readCheckout(request, await ownSession(request, request.params.id)),
  });

  app.post('/customer/portal/checkout-sessions/:id/cancel', {
    schema: {
      ...common,
      operationId: 'portalCancelCheckoutSession',
      summary: 'Cancel a checkout session of the customer of the session',
      params: idParams,
      body: optionalBody,
      response: { 200: checkoutRead, ...errorResponses },
    },
    config: writing,
    handler: async (request) => cancelAtWorkflow(request, await ownSession(request, request.params.id)),
  });
}

/** Id of a checkout session, where it belongs to the customer of the session. Throws `not_found`. */
async function ownSession({ transaction, portalCustomerId }: FastifyRequest, id: string): Promise<string> {
  const row = await transaction((tx) => findCheckout(tx, id));
  if (row.customerId !== portalCustomerId) throw missing('checkout session', id);
  return row.id;
}

function methodRoutes(app: Api): void {
  app.get('/customer/portal/payment-methods', {
    schema: {
      ...common,
      operationId: 'portalGetPaymentMethods',
      summary: 'The saved payment methods of the customer of the session by provider',
      response: { 200: portalMethods, ...errorResponses },
    },
    config: reading,
    handler: async ({ portalCustomerId, transaction }) =>
      transaction(async (tx) => viewPortalMethods(await listPaymentMethods(tx, portalCustomerId))),
  });

  app.post('/customer/portal/payment-methods/default', {
    schema: {
      ...common,
      operationId: 'portalMakeDefaultPaymentMethod',
      summary: 'Charge this method when none is named',
      body: portalMethodBody,
      response: { 200: paymentMessage, ...errorResponses },
    },
    config: writing,
    handler: async ({ portalCustomerId, body, transaction }) =>
      transaction(async (tx) => {
        await ownMethod(tx, portalCustomerId, body);
        await makeDefaultPaymentMethod(tx, portalCustomerId, body.payment_method_id);
        await followMethods(tx, tx.scope, portalCustomerId, { isNew: false });
        return { message: 'payment method is the default now' };
      }),
  });

  app.post('/customer/portal/payment-methods/delete', {
    schema: {
      ...common,
      operationId: 'portalDeletePaymentMethod',
      summary: 'Forget a saved payment method',
      body: portalMethodBody,
      response: { 200: paymentMessage, ...errorResponses },
    },
    config: writing,
    handler: async ({ portalCustomerId, body, transaction }) =>
      transaction(async (tx) => {
        await ownMethod(tx, portalCustomerId, body);
        await archivePaymentMethod(tx, portalCustomerId, body.payment_method_id);
        await followMethods(tx, tx.scope, portalCustomerId, { isNew: false });
        return { message: 'payment method deleted successfully' };
      }),
  });
}

/** Throws `not_found` unless the customer has this method at this provider. */
async function ownMethod(
  tx: Transaction,
  customerId: string,
  { payment_provider: provider, payment_method_id: id }: { payment_provider: string; payment_method_id: string },
): Promise<void> {
  const methods = await listPaymentMethods(tx, customerId);
  if (!methods.some((method) => method.id === id && method.gateway === provider)) {
    throw missing('payment method', id, 'payment_method_id');
  }
}

function setupRoutes(app: Api): void {
  app.post('/customer/portal/payment-methods', {
    schema: {
      ...common,
      operationId: 'portalCreatePaymentMethod',
      summary: 'Open a page on which the customer of the session saves a payment method',
      body: portalSetupBody,
      response: { 200: portalSetup, ...errorResponses },
    },
    config: writing,
    handler: async (request) => {
      const { payment_provider: provider, ...urls } = request.body;
      const { row, url } = await openSetup(request, request.portalCustomerId, { provider, ...urls });
      return { provider, action: { type: 'redirect' as const, url: url ?? '', expires_at: row.expiresAt } };
    },
  });

  app.get('/customer/portal/integrations', {
    schema: {
      ...common,
      operationId: 'portalGetIntegrations',
      summary: 'The payment providers that the customer of the session can pay with',
      response: { 200: portalIntegrations, ...errorResponses },
    },
    config: reading,
    handler: async (request) => {
      const { builtIn, connected } = await pageProviders(request);
      const able = [...builtIn, ...connected];
      const capabilities = [
        { type: 'payment_page', is_default: true },
        { type: 'saved_method', is_default: false },
      ];
      return { payment_integrations: able.map((provider) => ({ provider, capabilities })) };
    },
  });
}
