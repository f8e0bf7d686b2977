import { z } from 'zod';
import type { Costsheet } from '../../db/entities/catalogue/costsheet.ts';
import type { Transaction } from '../../db/transaction.ts';
import {
  createCostsheet,
  deleteCostsheet,
  findActiveCostsheet,
  findCostsheet,
  listCostsheets,
  updateCostsheet,
} from '../../services/catalogue/costsheet.ts';
import { costsheetContent } from '../../services/catalogue/costsheet-content.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { expandInput, viewList } from '../list.ts';
import { idParams, optionalBody } from '../scalars.schema.ts';
import {
  costsheetAnswer,
  costsheetChange,
  costsheetFilters,
  costsheetListQuery,
  costsheetSearch,
  costsheets,
  createCostsheetBody,
  deletedCostsheet,
  newCostsheet,
  updateCostsheetBody,
  viewCostsheetAnswer,
  viewListedCostsheet,
} from './costsheet.schema.ts';

const tags = ['Costs'];

/** Cost sheets. spec: catalogue-and-metering §10.2 */
export async function costsheetRoutes(app: Api): Promise<void> {
  registerCostsheetReads(app);

  app.post('/costs', {
    schema: {
      operationId: 'createCostsheet',
      tags,
      summary: 'Create a cost sheet',
      body: createCostsheetBody,
      response: { 201: costsheetAnswer, ...errorResponses },
    },
    config: { permission: 'costsheet:write' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => whole(tx, await createCostsheet(tx, newCostsheet(body)))),
  });

  app.put('/costs/:id', {
    schema: {
      operationId: 'updateCostsheet',
      tags,
      summary: 'Update a cost sheet',
      params: idParams,
      body: updateCostsheetBody,
      response: { 200: costsheetAnswer, ...errorResponses },
    },
    config: { permission: 'costsheet:write' },
    handler: async ({ params, body, transaction }) =>
      transaction(async (tx) => whole(tx, await updateCostsheet(tx, params.id, costsheetChange(body)))),
  });

  app.delete('/costs/:id', {
    schema: {
      operationId: 'deleteCostsheet',
      tags,
      summary: 'Delete a cost sheet',
      params: idParams,
      body: optionalBody,
      response: { 200: deletedCostsheet, ...errorResponses },
    },
    config: { permission: 'costsheet:write' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        await deleteCostsheet(tx, params.id);
        return { message: `cost sheet ${params.id} is deleted`, id: params.id };
      }),
  });
}

function registerCostsheetReads(app: Api): void {
  app.post('/costs/search', {
    schema: {
      operationId: 'queryCostsheet',
      tags,
      summary: 'Search cost sheets',
      body: costsheetSearch,
      response: { 200: costsheets, ...errorResponses },
    },
    config: { permission: 'costsheet:read' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => {
        const page = await listCostsheets(tx, costsheetListQuery(body), costsheetFilters(body));
        return viewList(page, viewListedCostsheet, 'echo');
      }),
  });

  app.get('/costs/active', {
    schema: {
      operationId: 'getActiveCostsheet',
      tags,
      summary: 'Get the cost sheet in force: the newest one',
      response: { 200: costsheetAnswer, ...errorResponses },
    },
    config: { permission: 'costsheet:read' },
    handler: async ({ transaction }) => transaction(async (tx) => whole(tx, await findActiveCostsheet(tx))),
  });

  app.get('/costs/:id', {
    schema: {
      operationId: 'getCostsheet',
      tags,
      summary: 'Get a cost sheet with its prices',
      params: idParams,
      querystring: z.object({ expand: expandInput(['prices']).optional() }),
      response: { 200: costsheetAnswer, ...errorResponses },
    },
    config: { permission: 'costsheet:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => whole(tx, await findCostsheet(tx, params.id))),
  });
}

async function whole(tx: Transaction, row: Costsheet) {
  return viewCostsheetAnswer(await costsheetContent(tx, row));
}
