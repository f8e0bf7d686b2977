import { z } from 'zod';
import type { Entitlement } from '../../db/entities/catalogue/entitlement.ts';
import type { Transaction } from '../../db/transaction.ts';
import { listEntitlements } from '../../services/catalogue/catalogue-lists.ts';
import {
  archiveEntitlement,
  createEntitlement,
  createEntitlements,
  findEntitlement,
  updateEntitlement,
} from '../../services/catalogue/entitlement/entitlement.ts';
import { entitlementsWithParts } from '../../services/catalogue/plan/plan-content.ts';
import type { Api } from '../api.ts';
import { bulkElements } from '../bulk-elements.ts';
import { errorResponses } from '../errors.ts';
import { listOf, listQuery, searchBody, toListQuery, viewList } from '../list.ts';
import { booleanQuery, idListInput, idListQuery, idParams, optionalBody } from '../scalars.schema.ts';
import {
  createEntitlementBody,
  createEntitlementsBody,
  entitlement,
  entitlementChange,
  entitlementEntityTypes,
  newEntitlement,
  updateEntitlementBody,
  viewEntitlement,
} from './entitlement.schema.ts';
import { featureTypes } from './feature.schema.ts';

const expand = ['features', 'plans', 'addons'];
const entitlementSearch = searchBody(
  {
    entity_type: z.enum(entitlementEntityTypes).nullish(),
    entity_ids: idListInput().nullish(),
    plan_ids: idListInput().nullish(),
    addon_ids: idListInput().nullish(),
    feature_ids: idListInput().nullish(),
    feature_type: z.enum(featureTypes).nullish(),
    is_enabled: z.boolean().nullish(),
    has_grant_config: z.boolean().nullish(),
  },
  expand,
);
const entitlementListQuery = listQuery(
  {
    entity_type: z.enum(entitlementEntityTypes).optional(),
    entity_ids: idListQuery().optional(),
    plan_ids: idListQuery().optional(),
    addon_ids: idListQuery().optional(),
    feature_ids: idListQuery().optional(),
    feature_type: z.enum(featureTypes).optional(),
    is_enabled: booleanQuery().optional(),
    has_grant_config: booleanQuery().optional(),
  },
  expand,
);
type EntitlementSearch = z.output<typeof entitlementSearch> | z.output<typeof entitlementListQuery>;

/** The list answer; plans answer the same. */
export const entitlements = listOf(entitlement, 'ListEntitlementsResponse');

/** Entitlements. spec: catalogue-and-metering §8 */
export async function entitlementRoutes(app: Api): Promise<void> {
  const tags = ['Entitlements'];
  registerEntitlementReads(app);

  app.post('/entitlements', {
    schema: {
      operationId: 'createEntitlement',
      tags,
      summary: 'Grant a feature',
      body: createEntitlementBody,
      response: { 201: entitlement, ...errorResponses },
    },
    config: { permission: 'entitlement:write' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => viewWhole(tx, await createEntitlement(tx, newEntitlement(body)))),
  });

  app.post('/entitlements/bulk', {
    schema: {
      operationId: 'createEntitlementsBulk',
      tags,
      summary: 'Grant up to 100 features, all or none',
      body: createEntitlementsBody,
      response: {
        201: z.object({ items: z.array(entitlement) }).meta({ id: 'CreateBulkEntitlementResponse' }),
        ...errorResponses,
      },
    },
    config: { permission: 'entitlement:write' },
    attachValidation: true,
    handler: async (request) => {
      const elements = bulkElements(request, { schema: createEntitlementBody, most: 100 }, (item) =>
        newEntitlement(item),
      );
      return request.transaction(async (tx) => {
        const created = await createEntitlements(tx, elements);
        const rows = await entitlementsWithParts(tx, created, { features: true, plans: false, addons: false });
        return { items: rows.map(viewEntitlement) };
      });
    },
  });

  app.put('/entitlements/:id', {
    schema: {
      operationId: 'updateEntitlement',
      tags,
      summary: 'Update an entitlement',
      params: idParams,
      body: updateEntitlementBody,
      response: { 200: entitlement, ...errorResponses },
    },
    config: { permission: 'entitlement:write' },
    handler: async ({ params, body, transaction }) =>
      transaction(async (tx) => viewWhole(tx, await updateEntitlement(tx, params.id, entitlementChange(body)))),
  });

  app.delete('/entitlements/:id', {
    schema: {
      operationId: 'deleteEntitlement',
      tags,
      summary: 'Archive an entitlement',
      params: idParams,
      body: optionalBody,
      response: { 200: z.object({ message: z.string() }), ...errorResponses },
    },
    config: { permission: 'entitlement:write' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        await archiveEntitlement(tx, params.id);
        return { message: `entitlement ${params.id} is archived` };
      }),
  });
}

function registerEntitlementReads(app: Api): void {
  const tags = ['Entitlements'];

  app.get('/entitlements', {
    schema: {
      operationId: 'listEntitlements',
      tags,
      summary: 'List entitlements',
      querystring: entitlementListQuery,
      response: { 200: entitlements, ...errorResponses },
    },
    config: { permission: 'entitlement:read' },
    handler: async ({ query, transaction }) => transaction((tx) => entitlementPage(tx, query)),
  });

  app.post('/entitlements/search', {
    schema: {
      operationId: 'queryEntitlement',
      tags,
      summary: 'Search entitlements',
      body: entitlementSearch,
      response: { 200: entitlements, ...errorResponses },
    },
    config: { permission: 'entitlement:read' },
    handler: async ({ body, transaction }) => transaction((tx) => entitlementPage(tx, body)),
  });

  app.get('/entitlements/:id', {
    schema: {
      operationId: 'getEntitlement',
      tags,
      summary: 'Get an entitlement',
      params: idParams,
      response: { 200: entitlement, ...errorResponses },
    },
    config: { permission: 'entitlement:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewWhole(tx, await findEntitlement(tx, params.id))),
  });
}

async function viewWhole(tx: Transaction, row: Entitlement) {
  const [whole] = await entitlementsWithParts(tx, [row], { features: true, plans: true, addons: true });
  return viewEntitlement(whole!);
}

async function entitlementPage(tx: Transaction, search: EntitlementSearch) {
  // An entitlement has no metadata to filter by.
  const page = await listEntitlements(tx, toListQuery({ ...search, metadata: null }), {
    entityType: search?.entity_type,
    entityIds: search?.entity_ids,
    planIds: search?.plan_ids,
    addonIds: search?.addon_ids,
    featureIds: search?.feature_ids,
    featureType: search?.feature_type,
    isEnabled: search?.is_enabled,
    hasGrantConfig: search?.has_grant_config,
  });
  const asked = search?.expand ?? [];
  const parts = {
    features: asked.includes('features'),
    plans: asked.includes('plans'),
    addons: asked.includes('addons'),
  };
  const rows = await entitlementsWithParts(tx, page.rows, parts);
  return viewList({ ...page, rows }, viewEntitlement, 'next');
}
