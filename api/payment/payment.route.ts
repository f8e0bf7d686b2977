import type { FastifyRequest } from 'fastify';
import { isPaymentSettled } from '../../billing/payment/payment.ts';
import { refuse } from '../../billing/refusal.ts';
import { customerNow } from '../../db/clock.ts';
import { anyOf } from '../../db/list.ts';
import { badField } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { type ChangedPayment, changePayment } from '../../services/payment/payment-change.ts';
import { findPayment, listPayments, type PaymentWithAttempts } from '../../services/payment/payment-list.ts';
import { archivePayment, requestPayment } from '../../services/payment/payment-request.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams, optionalBody } from '../scalars.schema.ts';
import { readCheckout } from './checkout-workflow.ts';
import {
  createPaymentBody,
  payment,
  paymentChangeOf,
  paymentFiltersOf,
  paymentList,
  paymentListQuery,
  paymentMessage,
  paymentRequestOf,
  playPayerBody,
  updatePaymentBody,
  viewPayment,
} from './payment.schema.ts';
import { createPaymentLink, processLink, viewPayments } from './payment-link.ts';
import {
  cancelAtWorkflow,
  connectedGateways,
  processAtWorkflow,
  refreshAtWorkflow,
  tellThoseWaiting,
} from './payment-workflow.ts';
import { sendRefundsOf } from './refund-workflow.ts';

const tags = ['Payments'];

/** Payments of invoices, and of cards without one. spec: wallets-and-payments §1.5, §2.19 */
export async function paymentRoutes(app: Api): Promise<void> {
  app.post('/payments', {
    schema: {
      operationId: 'createPayment',
      tags,
      summary: 'Pay an invoice, or charge a card without one to verify it',
      body: createPaymentBody,
      response: { 201: payment, ...errorResponses },
    },
    config: { permission: 'payment:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const isLink = request.body.payment_method_type === 'PAYMENT_LINK';
      if (isLink) return viewOne(request, await createPaymentLink(request, request.body));
      if (request.body.save_card_and_make_default) {
        throw badField('save_card_and_make_default', 'is only for payment links');
      }
      const input = {
        ...paymentRequestOf(request.body, request.idempotencyKey),
        id: request.newId('pay'),
      };
      const requested = await request.transaction(async (tx) =>
        requestPayment(tx, { ...input, gateways: await connectedGateways(tx, app.dependencies) }),
      );
      if (requested.toProcess) await processAtWorkflow(request.temporal, request.scope, requested);
      return request.transaction(async (tx) => viewPayment(await findPayment(tx, requested.id)));
    },
  });

  app.get('/payments', {
    schema: {
      operationId: 'listPayments',
      tags,
      summary: 'List payments',
      querystring: paymentListQuery,
      response: { 200: paymentList, ...errorResponses },
    },
    config: { permission: 'payment:read' },
    handler: async (request) =>
      request.transaction(async (tx) => {
        const { payment_ids, ...query } = request.query;
        const own = { ...anyOf('id', payment_ids), ...paymentFiltersOf(query) };
        const page = await listPayments(tx, toListQuery(query), own);
        const views = await viewPayments(request, tx, page.rows);
        return viewList({ ...page, rows: views }, (view) => view, 'next');
      }),
  });

  app.get('/payments/:id', {
    schema: {
      operationId: 'getPayment',
      tags,
      summary: 'Get a payment with its attempts; an open one is asked about at its gateway first',
      params: idParams,
      response: { 200: payment, ...errorResponses },
    },
    config: { permission: 'payment:read' },
    handler: async (request) => {
      const { id } = request.params;
      const found = await request.transaction((tx) => findPayment(tx, id));
      const { checkoutSessionId } = found.row;
      if (checkoutSessionId) {
        if (!isPaymentSettled(found.row.paymentStatus as 'PENDING')) await readCheckout(request, checkoutSessionId);
        return viewOne(request, id);
      }
      if (!awaitsGateway(found) || !(await refreshAtWorkflow(request.temporal, id))) return viewPayment(found);
      return request.transaction(async (tx) => viewPayment(await findPayment(tx, id)));
    },
  });

  app.put('/payments/:id', {
    schema: {
      operationId: 'updatePayment',
      tags,
      summary: 'Change a payment by hand',
      params: idParams,
      body: updatePaymentBody,
      response: { 200: payment, ...errorResponses },
    },
    config: { permission: 'payment:write' },
    handler: async (request) => {
      const { id } = request.params;
      let changed: ChangedPayment | undefined;
      const answer = await request.transaction(async (tx) => {
        changed = await changePayment(tx, id, paymentChangeOf(request.body));
        return viewPayment(await findPayment(tx, id));
      });
      if (changed?.isSettled) {
        const { invoiceId } = changed;
        const owner = await request.transaction((tx) => ownerOf(tx, id));
        await tellThoseWaiting(request.temporal, changed, owner.testClockId === null ? null : owner.at);
        await sendRefundsOf(request, { ...owner, id: invoiceId ?? id }, invoiceId === null ? 'payment' : 'invoice');
      }
      return answer;
    },
  });

  app.post('/payments/:id/process', {
    schema: {
      operationId: 'processPayment',
      tags,
      summary: 'Process a pending payment now',
      params: idParams,
      body: optionalBody,
      response: { 200: payment, ...errorResponses },
    },
    config: { permission: 'payment:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      const { row } = await request.transaction((tx) => findPayment(tx, id));
      if (isUnopenedLink(row)) {
        await processLink(request, row);
        return viewOne(request, id);
      }
      const pending = await request.transaction(async (tx) => {
        if (row.paymentStatus !== 'PENDING')
          throw wrongStatus(id, row.paymentStatus, 'only a PENDING payment is processed');
        return { ...(await ownerOf(tx, id)), toProcess: true };
      });
      await processAtWorkflow(request.temporal, request.scope, pending);
      return request.transaction(async (tx) => viewPayment(await findPayment(tx, id)));
    },
  });

  app.delete('/payments/:id', {
    schema: {
      operationId: 'deletePayment',
      tags,
      summary: 'Delete a payment that moved no money',
      params: idParams,
      response: { 200: paymentMessage, ...errorResponses },
    },
    config: { permission: 'payment:write' },
    handler: async (request) =>
      request.transaction(async (tx) => {
        await archivePayment(tx, request.params.id);
        return { message: 'payment deleted successfully' };
      }),
  });

  await app.register(openPaymentRoutes);
}

/** What can be done about a payment that waits for its payer; own operations. */
async function openPaymentRoutes(app: Api): Promise<void> {
  app.post('/payments/:id/cancel', {
    schema: {
      operationId: 'cancelPayment',
      tags,
      summary: 'Give up a payment that waits for its payer',
      params: idParams,
      body: optionalBody,
      response: { 200: payment, ...errorResponses },
    },
    config: { permission: 'payment:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      const { status, at } = await request.transaction(async (tx) => {
        const { row } = await findPayment(tx, id);
        return { status: row.paymentStatus, at: await customerNow(tx, row.customerId) };
      });
      if (!(await cancelAtWorkflow(request.temporal, request.scope, id, at))) {
        throw wrongStatus(id, status, 'only one that waits for its payer can be canceled');
      }
      return request.transaction(async (tx) => viewPayment(await findPayment(tx, id)));
    },
  });

  app.post('/payments/:id/payer', {
    schema: {
      operationId: 'playPayer',
      tags,
      summary: 'Confirm or fail a waiting payment of the sandbox gateway, in place of its payer',
      params: idParams,
      body: playPayerBody,
      response: { 200: payment, ...errorResponses },
    },
    config: { permission: 'payment:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      const { row } = await request.transaction((tx) => findPayment(tx, id));
      const gateway = app.dependencies.gateways.get(row.paymentGateway ?? '');
      if (!gateway?.payer) throw refuse('invalid_operation', `payment ${id} is not of the sandbox gateway`);
      if (!(await gateway.payer.play(row.intentToken, request.body.action))) {
        throw wrongStatus(id, row.paymentStatus, 'nothing waits for its payer');
      }
      await refreshAtWorkflow(request.temporal, id);
      return request.transaction(async (tx) => viewPayment(await findPayment(tx, id)));
    },
  });
}

async function ownerOf(tx: Transaction, id: string) {
  const { row } = await findPayment(tx, id);
  const at = await customerNow(tx, row.customerId);
  return { id, customerId: row.customerId, testClockId: row.testClockId ?? null, at };
}

function awaitsGateway({ row }: PaymentWithAttempts): boolean {
  return row.attended && row.paymentGateway !== null && !isPaymentSettled(row.paymentStatus as 'PROCESSING');
}

function isUnopenedLink({ paymentMethodType, paymentStatus, checkoutSessionId }: PaymentWithAttempts['row']): boolean {
  return paymentMethodType === 'PAYMENT_LINK' && paymentStatus === 'INITIATED' && !checkoutSessionId;
}

/** A payment as it is answered now. */
async function viewOne(request: FastifyRequest, id: string) {
  return request.transaction(async (tx) => {
    const [view] = await viewPayments(request, tx, [await findPayment(tx, id)]);
    return view!;
  });
}

function wrongStatus(id: string, status: string, rule: string) {
  return refuse('invalid_operation', `payment ${id} is ${status}; ${rule}`, { payment_status: status });
}
