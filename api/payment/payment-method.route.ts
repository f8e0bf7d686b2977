import type { FastifyRequest } from 'fastify';
import { badField } from '../../db/rows/record.ts';
import { inTransaction, type Transaction } from '../../db/transaction.ts';
import { findCustomer } from '../../services/customer/customer.ts';
import { refusePlayedMoney } from '../../services/integration/connection-mode.ts';
import {
  archivePaymentMethod,
  listPaymentMethods,
  lockCustomer,
  makeDefaultPaymentMethod,
  savePaymentMethod,
} from '../../services/payment/payment-method.ts';
import { followMethods } from '../../services/topup/auto-topup-switch.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { idParams, noContent } from '../scalars.schema.ts';
import {
  createPaymentMethodBody,
  paymentMethod,
  paymentMethodList,
  paymentMethodParams,
  viewPaymentMethod,
} from './payment-method.schema.ts';

/** Saved cards of a customer. spec: wallets-and-payments §1.5 */
export async function paymentMethodRoutes(app: Api): Promise<void> {
  const { database, gateways } = app.dependencies;

  app.post('/customers/:id/payment-methods', {
    schema: {
      operationId: 'createPaymentMethod',
      tags: ['Payment methods'],
      summary: 'Save a card at a gateway',
      params: idParams,
      body: createPaymentMethodBody,
      response: { 201: paymentMethod, ...errorResponses },
    },
    config: { permission: 'payment:write' },
    handler: async (request) => {
      const { gateway: gatewayName, card_number, max_amount, set_default, metadata } = request.body;
      const customerId = request.params.id;
      const gateway = gateways.get(gatewayName);
      if (!gateway) throw badField('gateway', `must be one of ${[...gateways.keys()].join(', ')}`);
      const saveCard = gateway.methods?.saveCard;
      if (!saveCard) throw badField('gateway', `must take card numbers; ${gatewayName} saves cards on its own page`);
      await inTransaction(database, request.scope, async (tx) => {
        await refusePlayedMoney(tx, request.scope, gatewayName);
        await lockCustomer(tx, customerId);
      });
      // Outside the transaction: a slow gateway must not hold a row.
      const saved = await saveCard({ cardNumber: card_number });
      const input = {
        customerId,
        gateway: gatewayName,
        gatewayToken: saved.token,
        brand: saved.brand,
        lastFour: saved.lastFour,
        maxAmount: max_amount ?? null,
        setDefault: set_default ?? false,
        metadata: metadata ?? {},
      };
      return changed(request, customerId, { isNew: true }, async (tx) =>
        viewPaymentMethod(await savePaymentMethod(tx, input)),
      );
    },
  });

  app.get('/customers/:id/payment-methods', {
    schema: {
      operationId: 'listPaymentMethods',
      tags: ['Payment methods'],
      summary: 'List the saved cards of a customer, the default first',
      params: idParams,
      response: { 200: paymentMethodList, ...errorResponses },
    },
    config: { permission: 'payment:read' },
    handler: async (request) =>
      request.transaction(async (tx) => {
        await findCustomer(tx, request.params.id);
        return { items: (await listPaymentMethods(tx, request.params.id)).map(viewPaymentMethod) };
      }),
  });

  app.post('/customers/:id/payment-methods/:payment_method_id/default', {
    schema: {
      operationId: 'makeDefaultPaymentMethod',
      tags: ['Payment methods'],
      summary: 'Charge this card when none is named',
      params: paymentMethodParams,
      response: { 200: paymentMethod, ...errorResponses },
    },
    config: { permission: 'payment:write' },
    handler: async (request) => {
      const { id, payment_method_id } = request.params;
      return changed(request, id, { isNew: false }, async (tx) =>
        viewPaymentMethod(await makeDefaultPaymentMethod(tx, id, payment_method_id)),
      );
    },
  });

  app.delete('/customers/:id/payment-methods/:payment_method_id', {
    schema: {
      operationId: 'deletePaymentMethod',
      tags: ['Payment methods'],
      summary: 'Forget a saved card',
      params: paymentMethodParams,
      response: { 204: noContent, ...errorResponses },
    },
    config: { permission: 'payment:write' },
    handler: async (request) => {
      const { id, payment_method_id } = request.params;
      await changed(request, id, { isNew: false }, (tx) => archivePaymentMethod(tx, id, payment_method_id));
    },
  });
}

/** Changes the methods of a customer; its wallets that fill themselves are told. */
async function changed<Answer>(
  request: FastifyRequest,
  customerId: string,
  { isNew }: { isNew: boolean },
  change: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> {
  return request.transaction(async (tx) => {
    const answer = await change(tx);
    await followMethods(tx, tx.scope, customerId, { isNew });
    return answer;
  });
}
