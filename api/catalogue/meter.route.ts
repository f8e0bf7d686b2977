import { z } from 'zod';
import type { Meter } from '../../db/entities/catalogue/meter.ts';
import type { Transaction } from '../../db/transaction.ts';
import { beginMetering } from '../../metering/begin-metering.ts';
import { listMeters } from '../../services/catalogue/catalogue-lists.ts';
import { archiveMeter, createMeter, extendMeterFilters, findMeter } from '../../services/catalogue/meter.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { listOf, listQuery, toListQuery, viewList } from '../list.ts';
import { idListQuery, idParams, optionalBody } from '../scalars.schema.ts';
import { beginMeterBuilds } from '../usage/meter-build.ts';
import { createMeterBody, meter, newMeter, updateMeterBody, viewMeter } from './meter.schema.ts';

const message = z.object({ message: z.string() });
const meterListQuery = listQuery({ event_name: z.string().optional(), meter_ids: idListQuery().optional() });

/** Meters. spec: catalogue-and-metering §5.2 */
export async function meterRoutes(app: Api): Promise<void> {
  app.get('/meters', {
    schema: {
      operationId: 'getAllMeters',
      tags: ['Meters'],
      summary: 'List meters',
      querystring: meterListQuery,
      response: { 200: listOf(meter, 'ListMetersResponse'), ...errorResponses },
    },
    config: { permission: 'meter:read' },
    handler: async ({ query, transaction }) =>
      transaction(async (tx) => {
        const filters = { meterIds: query.meter_ids, eventName: query.event_name };
        return viewList(await listMeters(tx, toListQuery(query), filters), viewMeter, 'next');
      }),
  });

  app.post('/meters', {
    schema: {
      operationId: 'createMeter',
      tags: ['Meters'],
      summary: 'Create a meter',
      body: createMeterBody,
      response: { 201: meter, ...errorResponses },
    },
    config: { permission: 'meter:write' },
    handler: async (request) => {
      const { body, transaction } = request;
      const made = await transaction(async (tx) => counted(tx, await createMeter(tx, newMeter(body))));
      await beginMeterBuilds(request, app.dependencies.database);
      return made;
    },
  });

  app.get('/meters/:id', {
    schema: {
      operationId: 'getMeter',
      tags: ['Meters'],
      summary: 'Get a meter',
      params: idParams,
      response: { 200: meter, ...errorResponses },
    },
    config: { permission: 'meter:read' },
    handler: async ({ params, transaction }) => transaction(async (tx) => viewMeter(await findMeter(tx, params.id))),
  });

  app.put('/meters/:id', {
    schema: {
      operationId: 'updateMeter',
      tags: ['Meters'],
      summary: 'Add filters to a meter',
      params: idParams,
      body: updateMeterBody,
      response: { 200: meter, ...errorResponses },
    },
    config: { permission: 'meter:write' },
    handler: async (request) => {
      const { params, body, transaction } = request;
      const changed = await transaction(async (tx) =>
        counted(tx, await extendMeterFilters(tx, params.id, body.filters)),
      );
      await beginMeterBuilds(request, app.dependencies.database);
      return changed;
    },
  });

  const archive = { tags: ['Meters'], params: idParams, response: { 200: message, ...errorResponses } };
  app.delete('/meters/:id', {
    schema: { ...archive, operationId: 'deleteMeter', summary: 'Archive a meter', body: optionalBody },
    config: { permission: 'meter:write' },
    handler: async ({ params, transaction }) => transaction((tx) => archived(tx, params.id)),
  });
  app.post('/meters/:id/disable', {
    schema: { ...archive, operationId: 'disableMeter', summary: 'Archive a meter', body: optionalBody },
    config: { permission: 'meter:write' },
    handler: async ({ params, transaction }) => transaction((tx) => archived(tx, params.id)),
  });
}

async function archived(tx: Transaction, id: string): Promise<{ message: string }> {
  await archiveMeter(tx, id);
  return { message: `meter ${id} is archived` };
}

/** The view of a new or changed meter, which counts from now on. */
async function counted(tx: Transaction, row: Meter) {
  await beginMetering(tx, row);
  return viewMeter(row);
}
