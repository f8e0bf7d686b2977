import {
  createTaxAssociation,
  deleteTaxAssociation,
  findTaxAssociation,
  listTaxAssociations,
  updateTaxAssociation,
} from '../../services/invoice/terms/tax-association.ts';
import {
  createTaxRate,
  deleteTaxRate,
  findTaxRate,
  listTaxRates,
  updateTaxRate,
} from '../../services/invoice/terms/tax-rate.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams, noContent, optionalBody } from '../scalars.schema.ts';
import {
  createTaxAssociationBody,
  createTaxRateBody,
  newTaxAssociation,
  newTaxRate,
  taxAssociation,
  taxAssociationChange,
  taxAssociationFilters,
  taxAssociationList,
  taxAssociationListQuery,
  taxRate,
  taxRateChange,
  taxRateFilters,
  taxRateList,
  taxRateListQuery,
  updateTaxAssociationBody,
  updateTaxRateBody,
  viewTaxAssociation,
  viewTaxRate,
} from './tax.schema.ts';

/** Tax rates, and where they hold. spec: subscriptions-and-invoicing §1.13, §2.18 */
export async function taxRoutes(app: Api): Promise<void> {
  rateRoutes(app);
  associationRoutes(app);
}

function rateRoutes(app: Api): void {
  const tags = ['Tax rates'];

  app.post('/taxes/rates', {
    schema: {
      operationId: 'createTaxRate',
      tags,
      summary: 'Create a tax rate',
      body: createTaxRateBody,
      response: { 201: taxRate, ...errorResponses },
    },
    config: { permission: 'tax:write' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => viewTaxRate(await createTaxRate(tx, newTaxRate(body)))),
  });

  app.get('/taxes/rates', {
    schema: {
      operationId: 'getTaxRates',
      tags,
      summary: 'List tax rates: a bare array, its paging in x-total-count, x-limit and x-offset',
      querystring: taxRateListQuery,
      response: { 200: taxRateList, ...errorResponses },
    },
    config: { permission: 'tax:read' },
    handler: async ({ query, transaction }, reply) => {
      const page = await transaction((tx) => listTaxRates(tx, toListQuery(query), taxRateFilters(query)));
      void reply.headers({ 'x-total-count': page.total, 'x-limit': page.limit, 'x-offset': page.offset });
      return page.rows.map(viewTaxRate);
    },
  });

  app.get('/taxes/rates/:id', {
    schema: {
      operationId: 'getTaxRate',
      tags,
      summary: 'Get a tax rate, archived or not',
      params: idParams,
      response: { 200: taxRate, ...errorResponses },
    },
    config: { permission: 'tax:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewTaxRate(await findTaxRate(tx, params.id))),
  });

  app.put('/taxes/rates/:id', {
    schema: {
      operationId: 'updateTaxRate',
      tags,
      summary: 'Update a tax rate; of one in use only its status',
      params: idParams,
      body: updateTaxRateBody,
      response: { 200: taxRate, ...errorResponses },
    },
    config: { permission: 'tax:write' },
    handler: async ({ params, body, transaction }) =>
      transaction(async (tx) => viewTaxRate(await updateTaxRate(tx, params.id, taxRateChange(body)))),
  });

  app.delete('/taxes/rates/:id', {
    schema: {
      operationId: 'deleteTaxRate',
      tags,
      summary: 'Archive a tax rate that nothing is linked to',
      params: idParams,
      response: { 204: noContent, ...errorResponses },
    },
    config: { permission: 'tax:write' },
    handler: async ({ params, transaction }) => transaction((tx) => deleteTaxRate(tx, params.id)),
  });
}

function associationRoutes(app: Api): void {
  const tags = ['Tax associations'];

  app.post('/taxes/associations', {
    schema: {
      operationId: 'createTaxAssociation',
      tags,
      summary: 'Link a tax rate to the environment, a customer, a subscription or an invoice',
      body: createTaxAssociationBody,
      response: { 200: taxAssociation, ...errorResponses },
    },
    config: { permission: 'tax:write' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => viewTaxAssociation(await createTaxAssociation(tx, newTaxAssociation(body)))),
  });

  app.get('/taxes/associations', {
    schema: {
      operationId: 'listTaxAssociations',
      tags,
      summary: 'List tax associations with their rates',
      querystring: taxAssociationListQuery,
      response: { 200: taxAssociationList, ...errorResponses },
    },
    config: { permission: 'tax:read' },
    handler: async ({ query, transaction }) =>
      transaction(async (tx) => {
        const page = await listTaxAssociations(tx, toListQuery(query), taxAssociationFilters(query));
        return viewList(page, viewTaxAssociation, 'next');
      }),
  });

  app.get('/taxes/associations/:id', {
    schema: {
      operationId: 'getTaxAssociation',
      tags,
      summary: 'Get a tax association, archived or not',
      params: idParams,
      response: { 200: taxAssociation, ...errorResponses },
    },
    config: { permission: 'tax:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewTaxAssociation(await findTaxAssociation(tx, params.id))),
  });

  app.put('/taxes/associations/:id', {
    schema: {
      operationId: 'updateTaxAssociation',
      tags,
      summary: 'Change priority, behaviour or application of a tax association',
      params: idParams,
      body: updateTaxAssociationBody,
      response: { 200: taxAssociation, ...errorResponses },
    },
    config: { permission: 'tax:write' },
    handler: async ({ params, body, transaction }) =>
      transaction(async (tx) =>
        viewTaxAssociation(await updateTaxAssociation(tx, params.id, taxAssociationChange(body))),
      ),
  });

  app.delete('/taxes/associations/:id', {
    schema: {
      operationId: 'deleteTaxAssociation',
      tags,
      summary: 'End a tax association for every invoice computed from now on',
      params: idParams,
      body: optionalBody,
      response: { 200: taxAssociation, ...errorResponses },
    },
    config: { permission: 'tax:write' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewTaxAssociation(await deleteTaxAssociation(tx, params.id))),
  });
}
