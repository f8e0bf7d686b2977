import { z } from 'zod';
import type { Price } from '../../db/entities/catalogue/price.ts';
import type { Transaction } from '../../db/transaction.ts';
import { addonsById } from '../../services/catalogue/addon.ts';
import { listPrices } from '../../services/catalogue/catalogue-lists.ts';
import { plansById } from '../../services/catalogue/plan/plan.ts';
import { createPrice, endPrice, findPrice, findPriceByLookupKey } from '../../services/catalogue/price/price.ts';
import { createPrices } from '../../services/catalogue/price/price-bulk.ts';
import { updatePrice } from '../../services/catalogue/price/price-change.ts';
import { priceContents } from '../../services/catalogue/price/price-parts.ts';
import type { Api } from '../api.ts';
import { bulkElements } from '../bulk-elements.ts';
import { decimalFormat } from '../decimal-format.ts';
import { errorResponses } from '../errors.ts';
import { listOf, toListQuery, viewList } from '../list.ts';
import { idParams } from '../scalars.schema.ts';
import { price, priceWithNumbers, viewPrice, withNumbers } from './price.schema.ts';
import {
  createPriceBody,
  createPricesBody,
  endPriceBody,
  newPrice,
  priceChange,
  updatePriceBody,
} from './price-input.schema.ts';
import { type PriceSearch, priceFilters, priceListQuery, priceSearch } from './price-search.schema.ts';

const prices = listOf(price, 'ListPricesResponse');

/** Prices. spec: catalogue-and-metering §4 */
export async function priceRoutes(app: Api): Promise<void> {
  registerPriceReads(app);
  const tags = ['Prices'];

  app.post('/prices', {
    schema: {
      operationId: 'createPrice',
      tags,
      summary: 'Create a price',
      body: createPriceBody,
      response: { 201: price, ...errorResponses },
    },
    config: { permission: 'price:write' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => viewWhole(tx, await createPrice(tx, newPrice(body)))),
  });

  app.post('/prices/bulk', {
    schema: {
      operationId: 'createPricesBulk',
      tags,
      summary: 'Create up to 100 prices, all or none',
      body: createPricesBody,
      response: { 201: z.object({ items: z.array(price) }).meta({ id: 'CreateBulkPriceResponse' }), ...errorResponses },
    },
    config: { permission: 'price:write' },
    attachValidation: true,
    handler: async (request) => {
      const elements = bulkElements(request, { schema: createPriceBody, most: 100 }, (item) => newPrice(item));
      return request.transaction(async (tx) => {
        const created = await createPrices(tx, elements);
        return { items: (await priceContents(tx, created)).map((row) => viewPrice(row.price, row)) };
      });
    },
  });

  app.put('/prices/:id', {
    schema: {
      operationId: 'updatePrice',
      tags,
      summary: 'Update a price; a new amount supersedes it',
      params: idParams,
      body: updatePriceBody,
      response: { 200: priceWithNumbers, ...errorResponses },
    },
    config: { permission: 'price:write' },
    handler: async ({ params, body, transaction }) =>
      transaction(async (tx) => {
        const view = await viewWhole(tx, await updatePrice(tx, params.id, priceChange(body)));
        return withNumbers(view, await decimalFormat(tx));
      }),
  });

  app.delete('/prices/:id', {
    schema: {
      operationId: 'deletePrice',
      tags,
      summary: 'End a price',
      params: idParams,
      body: endPriceBody,
      response: { 200: z.object({ message: z.string() }), ...errorResponses },
    },
    config: { permission: 'price:write' },
    handler: async ({ params, body, transaction }) =>
      transaction(async (tx) => {
        const ended = await endPrice(tx, params.id, body?.end_date ?? undefined);
        return { message: `price ${ended.id} ends at ${ended.endDate}` };
      }),
  });
}

function registerPriceReads(app: Api): void {
  const tags = ['Prices'];

  app.get('/prices', {
    schema: {
      operationId: 'listPrices',
      tags,
      summary: 'List prices',
      querystring: priceListQuery,
      response: { 200: prices, ...errorResponses },
    },
    config: { permission: 'price:read' },
    handler: async ({ query, transaction }) => transaction((tx) => pricePage(tx, query)),
  });

  app.post('/prices/search', {
    schema: {
      operationId: 'queryPrice',
      tags,
      summary: 'Search prices',
      body: priceSearch,
      response: { 200: prices, ...errorResponses },
    },
    config: { permission: 'price:read' },
    handler: async ({ body, transaction }) => transaction((tx) => pricePage(tx, body)),
  });

  app.get('/prices/lookup/:lookup_key', {
    schema: {
      operationId: 'getPriceByLookupKey',
      tags,
      summary: 'Get the price behind a lookup key',
      params: z.object({ lookup_key: z.string().min(1).max(255) }),
      response: { 200: price, ...errorResponses },
    },
    config: { permission: 'price:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewWhole(tx, await findPriceByLookupKey(tx, params.lookup_key))),
  });

  app.get('/prices/:id', {
    schema: {
      operationId: 'getPrice',
      tags,
      summary: 'Get a price',
      params: idParams,
      response: { 200: price, ...errorResponses },
    },
    config: { permission: 'price:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewWhole(tx, await findPrice(tx, params.id))),
  });
}

async function viewWhole(tx: Transaction, row: Price) {
  const [found] = await priceContents(tx, [row]);
  return viewPrice(row, found);
}

async function pricePage(tx: Transaction, search: PriceSearch) {
  const page = await listPrices(tx, toListQuery(search), priceFilters(search));
  const expand = search?.expand ?? [];
  const parts = {
    meters: expand.includes('meters'),
    groups: expand.includes('groups'),
    priceUnits: expand.includes('priceunit'),
  };
  const rows = await priceContents(tx, page.rows, parts);
  const plans = await plansById(tx, expand.includes('plan') ? page.rows.map((row) => row.entityId) : []);
  const addons = await addonsById(tx, expand.includes('addons') ? page.rows.map((row) => row.entityId) : []);
  const view = (row: (typeof rows)[number]) => {
    const { entityId } = row.price;
    return viewPrice(row.price, { ...row, plan: plans.get(entityId) ?? null, addon: addons.get(entityId) ?? null });
  };
  return viewList({ ...page, rows }, view, 'next');
}
