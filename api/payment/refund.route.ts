import { customerNow } from '../../db/clock.ts';
import { refundableGateways } from '../../integrations/provider-adapter.ts';
import { refundPayment } from '../../services/refund/payment-refund.ts';
import { findRefund, listRefunds } from '../../services/refund/refund-list.ts';
import { retryRefund } from '../../workflows/payment/refund.messages.ts';
import type { Api } from '../api.ts';
import { sendCommand } from '../command.ts';
import { errorResponses } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams } from '../scalars.schema.ts';
import {
  refund,
  refundFiltersOf,
  refundList,
  refundListQuery,
  refundPaymentBody,
  retryRefundBody,
  viewRefund,
} from './refund.schema.ts';
import { sendRefundsOf } from './refund-workflow.ts';

const tags = ['Refunds'];

/** Refunds, which credit notes make, and people of payments without an invoice. spec: wallets-and-payments §1.6, §2.21 */
export async function refundRoutes(app: Api): Promise<void> {
  app.get('/refunds', {
    schema: {
      operationId: 'listRefunds',
      tags,
      summary: 'List refunds',
      querystring: refundListQuery,
      response: { 200: refundList, ...errorResponses },
    },
    config: { permission: 'payment:read' },
    handler: async ({ query, transaction }) =>
      transaction(async (tx) =>
        viewList(await listRefunds(tx, toListQuery(query), refundFiltersOf(query)), viewRefund, 'next'),
      ),
  });

  app.get('/refunds/:id', {
    schema: {
      operationId: 'getRefund',
      tags,
      summary: 'Get a refund',
      params: idParams,
      response: { 200: refund, ...errorResponses },
    },
    config: { permission: 'payment:read' },
    handler: async ({ params, transaction }) => transaction(async (tx) => viewRefund(await findRefund(tx, params.id))),
  });

  app.post('/payments/:id/refund', {
    schema: {
      operationId: 'refundPayment',
      tags,
      summary: 'Give the money of a payment without an invoice back, and take the credits it bought',
      params: idParams,
      body: refundPaymentBody,
      response: { 201: refund, ...errorResponses },
    },
    config: { permission: 'payment:write' },
    handler: async (request) => {
      const paymentId = request.params.id;
      const answer = await request.transaction(async (tx) => {
        const refundId = await refundPayment(tx, {
          paymentId,
          amount: request.body?.amount ?? null,
          reason: request.body?.refund_reason ?? 'REQUESTED_BY_CUSTOMER',
          refundableGateways: refundableGateways(app.dependencies.gateways, app.dependencies.providers),
        });
        const row = await findRefund(tx, refundId);
        const at = await customerNow(tx, row.customerId);
        return { view: viewRefund(row), source: { id: paymentId, testClockId: row.testClockId ?? null, at } };
      });
      await sendRefundsOf(request, answer.source, 'payment');
      return answer.view;
    },
  });

  app.post('/refunds/:id/retry', {
    schema: {
      operationId: 'retryRefund',
      tags,
      summary: 'Try a failed refund again, into the prepaid wallet or back to its gateway',
      params: idParams,
      body: retryRefundBody,
      response: { 200: refund, ...errorResponses },
    },
    config: { permission: 'payment:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      const owner = await request.transaction(async (tx) => {
        const { customerId, testClockId } = await findRefund(tx, id);
        return { customerId, testClockId: testClockId ?? null, at: await customerNow(tx, customerId) };
      });
      const target = request.body?.refund_target ?? 'PREPAID_WALLET';
      const command = { id: request.newId('refund_cmd'), content: { target } };
      await sendCommand(request, { kind: 'refund', id, ...owner }, retryRefund, command);
      return request.transaction(async (tx) => viewRefund(await findRefund(tx, id)));
    },
  });
}
