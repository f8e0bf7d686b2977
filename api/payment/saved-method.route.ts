import { findCustomer } from '../../services/customer/customer.ts';
import { pageOfMethods } from '../../services/payment/payment-method.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { idParams } from '../scalars.schema.ts';
import { openSetup } from './checkout-setup.ts';
import {
  savedMethods,
  savedMethodsQuery,
  setupIntent,
  setupIntentBody,
  viewSavedMethod,
  viewSetupIntent,
} from './saved-method.schema.ts';

const tags = ['Payments'];

/** Saved methods of a customer by provider, and the page on which one is saved. spec: wallets-and-payments §1.5 */
export async function savedMethodRoutes(app: Api): Promise<void> {
  app.get('/payments/customers/:id/methods', {
    schema: {
      operationId: 'listCustomerPaymentMethods',
      tags,
      summary: 'List the saved methods of a customer by provider',
      params: idParams,
      querystring: savedMethodsQuery,
      response: { 200: savedMethods, ...errorResponses },
    },
    config: { permission: 'payment:read' },
    handler: async ({ params, query, transaction }) =>
      transaction(async (tx) => {
        await findCustomer(tx, params.id);
        const { starting_after: startingAfter, ending_before: endingBefore, provider, limit } = query;
        const pages = await pageOfMethods(tx, params.id, { provider, limit, startingAfter, endingBefore });
        return Object.fromEntries(
          [...pages].map(([name, { methods, hasMore, total }]) => [
            name,
            { data: methods.map(viewSavedMethod), has_more: hasMore, total_count: total },
          ]),
        );
      }),
  });

  app.post('/payments/customers/:id/setup/intent', {
    schema: {
      operationId: 'createSetupIntentSession',
      tags,
      summary: 'Open a payment page on which a customer saves a method and pays nothing',
      params: idParams,
      body: setupIntentBody,
      response: { 200: setupIntent, ...errorResponses },
    },
    config: { permission: 'payment:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { payment_method_types: _card, ...wishes } = request.body;
      const { row, url } = await openSetup(request, request.params.id, wishes);
      return viewSetupIntent(row, url);
    },
  });
}
