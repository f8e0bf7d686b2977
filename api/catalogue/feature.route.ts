import { z } from 'zod';
import type { Transaction } from '../../db/transaction.ts';
import { beginMetering } from '../../metering/begin-metering.ts';
import { listFeatures } from '../../services/catalogue/catalogue-lists.ts';
import {
  archiveFeature,
  cloneFeature,
  createFeature,
  type FeatureWithMeter,
  findFeature,
  updateFeature,
} from '../../services/catalogue/feature.ts';
import { groupsById } from '../../services/catalogue/group.ts';
import { metersById } from '../../services/catalogue/meter.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { listOf, listQuery, searchBody, toListQuery, viewList } from '../list.ts';
import { idListInput, idListQuery, idParams, optionalBody } from '../scalars.schema.ts';
import { beginMeterBuilds } from '../usage/meter-build.ts';
import {
  cloneFeatureBody,
  createFeatureBody,
  feature,
  featureChange,
  featureCopy,
  newFeature,
  updateFeatureBody,
  viewFeature,
} from './feature.schema.ts';

const expand = ['meters'];
const text = z.string().max(255);
const featureSearch = searchBody(
  {
    feature_ids: idListInput().nullish(),
    meter_ids: idListInput().nullish(),
    lookup_key: text.nullish(),
    lookup_keys: idListInput().nullish(),
    name_contains: text.nullish(),
  },
  expand,
);
const featureListQuery = listQuery(
  {
    feature_ids: idListQuery().optional(),
    meter_ids: idListQuery().optional(),
    lookup_key: text.optional(),
    lookup_keys: idListQuery().optional(),
    name_contains: text.optional(),
  },
  expand,
);
const features = listOf(feature, 'ListFeaturesResponse');
type FeatureSearch = z.output<typeof featureSearch> | z.output<typeof featureListQuery>;

/** Features. spec: catalogue-and-metering §5.1 */
export async function featureRoutes(app: Api): Promise<void> {
  const tags = ['Features'];
  registerFeatureReads(app);

  app.post('/features', {
    schema: {
      operationId: 'createFeature',
      tags,
      summary: 'Create a feature, with its meter if it is metered',
      body: createFeatureBody,
      response: { 201: feature, ...errorResponses },
    },
    config: { permission: 'feature:write' },
    handler: async (request) => {
      const { body, transaction } = request;
      const made = await transaction(async (tx) => viewMetered(tx, await createFeature(tx, newFeature(body))));
      if (body.meter) await beginMeterBuilds(request, app.dependencies.database);
      return made;
    },
  });

  app.put('/features/:id', {
    schema: {
      operationId: 'updateFeature',
      tags,
      summary: 'Update a feature',
      params: idParams,
      body: updateFeatureBody,
      response: { 200: feature, ...errorResponses },
    },
    config: { permission: 'feature:write' },
    handler: async (request) => {
      const { params, body, transaction } = request;
      const changed = await transaction(async (tx) =>
        viewMetered(tx, await updateFeature(tx, params.id, featureChange(body))),
      );
      if (body.filters) await beginMeterBuilds(request, app.dependencies.database);
      return changed;
    },
  });

  app.delete('/features/:id', {
    schema: {
      operationId: 'deleteFeature',
      tags,
      summary: 'Archive a feature with its meter',
      params: idParams,
      body: optionalBody,
      response: { 200: z.object({ message: z.string() }), ...errorResponses },
    },
    config: { permission: 'feature:write' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        await archiveFeature(tx, params.id);
        return { message: `feature ${params.id} is archived` };
      }),
  });

  app.post('/features/:id/clone', {
    schema: {
      operationId: 'cloneFeature',
      tags,
      summary: 'Copy a feature with its meter',
      params: idParams,
      body: cloneFeatureBody,
      response: { 201: feature, ...errorResponses },
    },
    config: { permission: 'feature:write' },
    handler: async (request) => {
      const { params, body, transaction } = request;
      const made = await transaction(async (tx) =>
        viewMetered(tx, await cloneFeature(tx, params.id, featureCopy(body))),
      );
      if (made.meter_id) await beginMeterBuilds(request, app.dependencies.database);
      return made;
    },
  });
}

function registerFeatureReads(app: Api): void {
  const tags = ['Features'];

  app.get('/features', {
    schema: {
      operationId: 'listFeatures',
      tags,
      summary: 'List features',
      querystring: featureListQuery,
      response: { 200: features, ...errorResponses },
    },
    config: { permission: 'feature:read', publishable: true },
    handler: async ({ query, transaction }) => transaction((tx) => featurePage(tx, query)),
  });

  app.post('/features/search', {
    schema: {
      operationId: 'queryFeature',
      tags,
      summary: 'Search features',
      body: featureSearch,
      response: { 200: features, ...errorResponses },
    },
    config: { permission: 'feature:read', publishable: true },
    handler: async ({ body, transaction }) => transaction((tx) => featurePage(tx, body)),
  });

  app.get('/features/:id', {
    schema: {
      operationId: 'getFeature',
      tags,
      summary: 'Get a feature',
      params: idParams,
      response: { 200: feature, ...errorResponses },
    },
    config: { permission: 'feature:read', publishable: true },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewMetered(tx, await findFeature(tx, params.id))),
  });
}

/** The view of a feature with its meter and group; the meter, if this call made or changed it, counts from now on. */
async function viewMetered(tx: Transaction, found: FeatureWithMeter) {
  if (found.meter && found.meterChanged) await beginMetering(tx, found.meter);
  const groups = await groupsById(tx, [found.feature.groupId]);
  return viewFeature(found.feature, found.meter, groups.get(found.feature.groupId ?? '') ?? null);
}

async function featurePage(tx: Transaction, search: FeatureSearch) {
  const page = await listFeatures(tx, toListQuery(search), {
    featureIds: search?.feature_ids,
    meterIds: search?.meter_ids,
    lookupKey: search?.lookup_key,
    lookupKeys: search?.lookup_keys,
    nameContains: search?.name_contains,
  });
  const expanded = search?.expand?.includes('meters');
  const meters = await metersById(tx, expanded ? page.rows.map((row) => row.meterId ?? null) : []);
  return viewList(page, (row) => viewFeature(row, meters.get(row.meterId ?? '') ?? null), 'next');
}
