import { createCustomer, findCustomer } from '../../db/stores/customer.ts';
import type { Api } from '../app.ts';
import { errorResponses } from '../errors.ts';
import { createCustomerBody, customer, customerFieldsOf, viewCustomer } from '../schemas/customer.ts';
import { idParams } from '../schemas/scalars.ts';

/** Customers. spec: platform §10 */
export async function customerRoutes(app: Api): Promise<void> {
  app.post('/customers', {
    schema: {
      operationId: 'createCustomer',
      tags: ['Customers'],
      summary: 'Create a customer',
      body: createCustomerBody,
      response: { 201: customer, ...errorResponses },
    },
    config: { permission: 'customer:write' },
    handler: async (request) => {
      const { external_id, name, test_clock_id } = request.body;
      const input = { ...customerFieldsOf(request.body), externalId: external_id, name, testClockId: test_clock_id };
      return request.transaction(async (tx) => viewCustomer(await createCustomer(tx, input)));
    },
  });

  app.get('/customers/:id', {
    schema: {
      operationId: 'getCustomer',
      tags: ['Customers'],
      summary: 'Get a customer',
      params: idParams,
      response: { 200: customer, ...errorResponses },
    },
    config: { permission: 'customer:read' },
    handler: async (request) =>
      request.transaction(async (tx) => viewCustomer(await findCustomer(tx, request.params.id))),
  });
}
