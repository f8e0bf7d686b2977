import { customerNow } from '../../db/clock.ts';
import { findRefund, listRefunds } from '../../db/stores/payment/refund-list.ts';
import { retryRefund } from '../../workflows/refund.messages.ts';
import type { Api } from '../app.ts';
import { errorResponses } from '../errors.ts';
import { updateObject } from '../lifecycle.ts';
import { toListQuery, viewList } from '../list.ts';
import {
  refund,
  refundFiltersOf,
  refundList,
  refundListQuery,
  retryRefundBody,
  viewRefund,
} from '../schemas/refund.ts';
import { idParams } from '../schemas/scalars.ts';

const tags = ['Refunds'];

/** Refunds, which credit notes make. spec: wallets-and-payments §1.6, §2.21 */
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
      await updateObject(request, { kind: 'refund', id, ...owner }, retryRefund, { target });
      return request.transaction(async (tx) => viewRefund(await findRefund(tx, id)));
    },
  });
}
