import { z } from 'zod';
import type { Customer } from '../../db/entities/customer/customer.ts';
import type { Transaction } from '../../db/transaction.ts';
import { planOnboarding } from '../../services/across/customer-onboarding.ts';
import {
  createCustomer,
  customerIdOf,
  deleteCustomer,
  findCustomer,
  findCustomerByExternalId,
  parentsOf,
  updateCustomer,
} from '../../services/customer/customer.ts';
import { listCustomers } from '../../services/customer/customer-list.ts';
import { mappingsOfCustomers } from '../../services/integration/integration-mapping.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams, noContent } from '../scalars.schema.ts';
import {
  createCustomerBody,
  customer,
  customerExpandQuery,
  customerFieldsOf,
  customerFiltersOf,
  customerList,
  customerListQuery,
  customerSearchBody,
  onboardingOf,
  updateCustomerBody,
  updateCustomerQuery,
  viewCustomer,
} from './customer.schema.ts';
import { beginOnboarding } from './onboarding-workflow.ts';

const tags = ['Customers'];
const externalIdParams = z.object({ external_id: z.string().min(1).max(255) });
const lookupKeyParams = z.object({ lookup_key: z.string().min(1).max(255) });

/** Customers. spec: platform §10 */
export async function customerRoutes(app: Api): Promise<void> {
  app.post('/customers', {
    schema: {
      operationId: 'createCustomer',
      tags,
      summary: 'Create a customer',
      body: createCustomerBody,
      response: { 201: customer, ...errorResponses },
    },
    config: { permission: 'customer:write' },
    handler: async (request) => {
      const { external_id, name, test_clock_id } = request.body;
      const input = { ...customerFieldsOf(request.body), externalId: external_id, name, testClockId: test_clock_id };
      const onboarding = onboardingOf(request.body);
      let onboardingId: string | null = null;
      // What the transaction returns is the answer, which is kept under the request's Idempotency-Key.
      const made = await request.transaction(async (tx) => {
        const row = await createCustomer(tx, input);
        onboardingId = await planOnboarding(tx, row.id, onboarding);
        return viewWithParent(tx, row);
      });
      if (onboardingId) await beginOnboarding(request, made.id, onboardingId);
      return made;
    },
  });

  app.put('/customers', {
    schema: {
      operationId: 'updateCustomerByQuery',
      tags,
      summary: 'Update the customer named by id or external_customer_id',
      querystring: updateCustomerQuery,
      body: updateCustomerBody,
      response: { 200: customer, ...errorResponses },
    },
    config: { permission: 'customer:write' },
    handler: async (request) => {
      const { id, external_customer_id } = request.query;
      const fields = customerFieldsOf(request.body);
      return request.transaction(async (tx) => {
        const customerId = await customerIdOf(tx, { id, externalId: external_customer_id });
        return viewWithParent(tx, await updateCustomer(tx, customerId, fields));
      });
    },
  });

  app.put('/customers/:id', {
    schema: {
      operationId: 'updateCustomer',
      tags,
      summary: 'Update a customer',
      params: idParams,
      body: updateCustomerBody,
      response: { 200: customer, ...errorResponses },
    },
    config: { permission: 'customer:write' },
    handler: async (request) => {
      const fields = customerFieldsOf(request.body);
      return request.transaction(async (tx) => viewWithParent(tx, await updateCustomer(tx, request.params.id, fields)));
    },
  });

  app.delete('/customers/:id', {
    schema: {
      operationId: 'deleteCustomer',
      tags,
      summary: 'Archive a customer without live subscriptions',
      params: idParams,
      response: { 204: noContent, ...errorResponses },
    },
    config: { permission: 'customer:write' },
    handler: async (request) => request.transaction(async (tx) => deleteCustomer(tx, request.params.id)),
  });

  listRoutes(app);
  lookUpRoutes(app);
}

function listRoutes(app: Api): void {
  app.get('/customers', {
    schema: {
      operationId: 'listCustomers',
      tags,
      summary: 'List customers',
      querystring: customerListQuery,
      response: { 200: customerList, ...errorResponses },
    },
    config: { permission: 'customer:read' },
    handler: async (request) => {
      const query = toListQuery(request.query);
      const filters = customerFiltersOf(request.query);
      return request.transaction(async (tx) =>
        viewPage(tx, await listCustomers(tx, query, filters), request.query.expand),
      );
    },
  });

  app.post('/customers/search', {
    schema: {
      operationId: 'queryCustomer',
      tags,
      summary: 'Search customers',
      body: customerSearchBody,
      response: { 200: customerList, ...errorResponses },
    },
    config: { permission: 'customer:read' },
    handler: async (request) => {
      const query = toListQuery(request.body);
      const filters = customerFiltersOf(request.body);
      return request.transaction(async (tx) =>
        viewPage(tx, await listCustomers(tx, query, filters), request.body?.expand),
      );
    },
  });
}

function lookUpRoutes(app: Api): void {
  app.get('/customers/:id', {
    schema: {
      operationId: 'getCustomer',
      tags,
      summary: 'Get a customer, archived or not',
      params: idParams,
      querystring: customerExpandQuery,
      response: { 200: customer, ...errorResponses },
    },
    config: { permission: 'customer:read' },
    handler: async (request) =>
      request.transaction(async (tx) =>
        viewWithParent(tx, await findCustomer(tx, request.params.id), request.query.expand),
      ),
  });

  app.get('/customers/external/:external_id', {
    schema: {
      operationId: 'getCustomerByExternalId',
      tags,
      summary: 'Get the published customer with an external id',
      params: externalIdParams,
      querystring: customerExpandQuery,
      response: { 200: customer, ...errorResponses },
    },
    config: { permission: 'customer:read' },
    handler: async (request) => {
      const { external_id } = request.params;
      return request.transaction(async (tx) =>
        viewWithParent(tx, await findCustomerByExternalId(tx, external_id), request.query.expand),
      );
    },
  });

  app.get('/customers/lookup/:lookup_key', {
    schema: {
      operationId: 'getCustomerByLookupKey',
      tags,
      summary: 'Get the published customer with an external id, by its older name',
      params: lookupKeyParams,
      querystring: customerExpandQuery,
      response: { 200: customer, ...errorResponses },
    },
    config: { permission: 'customer:read' },
    handler: async (request) => {
      const { lookup_key } = request.params;
      return request.transaction(async (tx) =>
        viewWithParent(tx, await findCustomerByExternalId(tx, lookup_key), request.query.expand),
      );
    },
  });
}

type Expand = readonly string[] | null | undefined;

async function viewWithParent(tx: Transaction, row: Customer, expand?: Expand) {
  const parents = await parentsOf(tx, [row]);
  const mappings = await expandedMappings(tx, [row], expand);
  return viewCustomer(row, parents.get(row.parentCustomerId ?? ''), mappings.get(row.id));
}

async function viewPage(tx: Transaction, page: Awaited<ReturnType<typeof listCustomers>>, expand: Expand) {
  const parents = await parentsOf(tx, page.rows);
  const mappings = await expandedMappings(tx, page.rows, expand);
  const view = (row: Customer) => viewCustomer(row, parents.get(row.parentCustomerId ?? ''), mappings.get(row.id));
  return viewList(page, view, 'next');
}

/** What customers are called at providers, if it was asked for. spec: platform §10.1 integrations */
async function expandedMappings(tx: Transaction, rows: readonly Customer[], expand: Expand) {
  return mappingsOfCustomers(tx, expand?.includes('integrations') ? rows.map(({ id }) => id) : []);
}
