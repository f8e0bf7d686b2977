import { z } from 'zod';
import {
  archivePriceUnit,
  createPriceUnit,
  findPriceUnit,
  findPriceUnitByCode,
  listPriceUnits,
  updatePriceUnit,
} from '../../services/catalogue/price/price-unit.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { listOf, toListQuery, viewList } from '../list.ts';
import { idParams, optionalBody } from '../scalars.schema.ts';
import {
  createPriceUnitBody,
  newPriceUnit,
  priceUnit,
  priceUnitChange,
  priceUnitListQuery,
  priceUnitSearch,
  updatePriceUnitBody,
  viewPriceUnit,
} from './price-unit.schema.ts';

const tags = ['Price Units'];
const priceUnits = listOf(priceUnit, 'ListPriceUnitsResponse');

/** Custom currencies. spec: catalogue-and-metering §4.5 */
export async function priceUnitRoutes(app: Api): Promise<void> {
  registerPriceUnitReads(app);

  app.post('/prices/units', {
    schema: {
      operationId: 'createPriceUnit',
      tags,
      summary: 'Create a custom currency',
      body: createPriceUnitBody,
      response: { 201: priceUnit, ...errorResponses },
    },
    config: { permission: 'price:write' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => viewPriceUnit(await createPriceUnit(tx, newPriceUnit(body)))),
  });

  app.put('/prices/units/:id', {
    schema: {
      operationId: 'updatePriceUnit',
      tags,
      summary: 'Update a custom currency; a new rate holds for every invoice that is not final',
      params: idParams,
      body: updatePriceUnitBody,
      response: { 200: priceUnit, ...errorResponses },
    },
    config: { permission: 'price:write' },
    handler: async ({ params, body, transaction }) =>
      transaction(async (tx) => viewPriceUnit(await updatePriceUnit(tx, params.id, priceUnitChange(body)))),
  });

  app.delete('/prices/units/:id', {
    schema: {
      operationId: 'deletePriceUnit',
      tags,
      summary: 'Archive a custom currency; prices that use it go on',
      params: idParams,
      body: optionalBody,
      response: { 200: z.object({ message: z.string() }), ...errorResponses },
    },
    config: { permission: 'price:write' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        await archivePriceUnit(tx, params.id);
        return { message: `price unit ${params.id} is archived` };
      }),
  });
}

function registerPriceUnitReads(app: Api): void {
  app.get('/prices/units', {
    schema: {
      operationId: 'listPriceUnits',
      tags,
      summary: 'List custom currencies',
      querystring: priceUnitListQuery,
      response: { 200: priceUnits, ...errorResponses },
    },
    config: { permission: 'price:read' },
    handler: async ({ query, transaction }) =>
      transaction(async (tx) => {
        const page = await listPriceUnits(tx, toListQuery(query), query.price_unit_ids);
        return viewList(page, viewPriceUnit, 'echo');
      }),
  });

  app.post('/prices/units/search', {
    schema: {
      operationId: 'queryPriceUnit',
      tags,
      summary: 'Search custom currencies',
      body: priceUnitSearch,
      response: { 200: priceUnits, ...errorResponses },
    },
    config: { permission: 'price:read' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => {
        const page = await listPriceUnits(tx, toListQuery(body), body?.price_unit_ids);
        return viewList(page, viewPriceUnit, 'echo');
      }),
  });

  app.get('/prices/units/code/:code', {
    schema: {
      operationId: 'getPriceUnitByCode',
      tags,
      summary: 'Get the custom currency of a code',
      params: z.object({ code: z.string().min(1).max(255) }),
      response: { 200: priceUnit, ...errorResponses },
    },
    config: { permission: 'price:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewPriceUnit(await findPriceUnitByCode(tx, params.code))),
  });

  app.get('/prices/units/:id', {
    schema: {
      operationId: 'getPriceUnit',
      tags,
      summary: 'Get a custom currency',
      params: idParams,
      response: { 200: priceUnit, ...errorResponses },
    },
    config: { permission: 'price:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewPriceUnit(await findPriceUnit(tx, params.id))),
  });
}
