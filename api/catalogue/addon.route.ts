import { z } from 'zod';
import type { Addon } from '../../db/entities/catalogue/addon.ts';
import type { Transaction } from '../../db/transaction.ts';
import {
  archiveAddon,
  createAddon,
  findAddon,
  findAddonByLookupKey,
  listAddons,
  updateAddon,
} from '../../services/catalogue/addon.ts';
import { type AddonParts, addonContents, wholeAddon } from '../../services/catalogue/addon-content.ts';
import { listEntitlements } from '../../services/catalogue/catalogue-lists.ts';
import { entitlementsWithParts } from '../../services/catalogue/plan/plan-content.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { listOf, listQuery, searchBody, toListQuery, viewList } from '../list.ts';
import { idListInput, idListQuery, idParams, optionalBody } from '../scalars.schema.ts';
import { addon, addonChange, createAddonBody, newAddon, updateAddonBody, viewAddon } from './addon.schema.ts';
import { entitlements } from './entitlement.route.ts';
import { viewEntitlement } from './entitlement.schema.ts';

const expand = ['prices', 'entitlements', 'credit_grant'];
const addonSearch = searchBody({ addon_ids: idListInput().nullish(), lookup_keys: idListInput().nullish() }, expand);
const addonListQuery = listQuery(
  { addon_ids: idListQuery().optional(), lookup_keys: idListQuery().optional() },
  expand,
);
type AddonSearch = z.output<typeof addonSearch> | z.output<typeof addonListQuery>;
const addons = listOf(addon, 'ListAddonsResponse');
const tags = ['Add-ons'];

/** Add-ons. spec: catalogue-and-metering §10.1 */
export async function addonRoutes(app: Api): Promise<void> {
  registerAddonReads(app);
  registerAddonParts(app);

  app.post('/addons', {
    schema: {
      operationId: 'createAddon',
      tags,
      summary: 'Create an add-on',
      body: createAddonBody,
      response: { 201: addon, ...errorResponses },
    },
    config: { permission: 'addon:write' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => viewWhole(tx, await createAddon(tx, newAddon(body)))),
  });

  app.put('/addons/:id', {
    schema: {
      operationId: 'updateAddon',
      tags,
      summary: 'Update an add-on',
      params: idParams,
      body: updateAddonBody,
      response: { 200: addon, ...errorResponses },
    },
    config: { permission: 'addon:write' },
    handler: async ({ params, body, transaction }) =>
      transaction(async (tx) => viewWhole(tx, await updateAddon(tx, params.id, addonChange(body)))),
  });

  app.delete('/addons/:id', {
    schema: {
      operationId: 'deleteAddon',
      tags,
      summary: 'Archive an add-on',
      params: idParams,
      body: optionalBody,
      response: { 200: z.object({ message: z.string() }), ...errorResponses },
    },
    config: { permission: 'addon:write' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        await archiveAddon(tx, params.id);
        return { message: `add-on ${params.id} is archived` };
      }),
  });
}

function registerAddonReads(app: Api): void {
  app.get('/addons', {
    schema: {
      operationId: 'listAddons',
      tags,
      summary: 'List add-ons',
      querystring: addonListQuery,
      response: { 200: addons, ...errorResponses },
    },
    config: { permission: 'addon:read', publishable: true },
    handler: async ({ query, transaction }) => transaction((tx) => addonPage(tx, query)),
  });

  app.post('/addons/search', {
    schema: {
      operationId: 'queryAddon',
      tags,
      summary: 'Search add-ons',
      body: addonSearch,
      response: { 200: addons, ...errorResponses },
    },
    config: { permission: 'addon:read', publishable: true },
    handler: async ({ body, transaction }) => transaction((tx) => addonPage(tx, body)),
  });

  app.get('/addons/lookup/:lookup_key', {
    schema: {
      operationId: 'getAddonByLookupKey',
      tags,
      summary: 'Get the add-on behind a lookup key',
      params: z.object({ lookup_key: z.string().min(1).max(255) }),
      response: { 200: addon, ...errorResponses },
    },
    config: { permission: 'addon:read', publishable: true },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewWhole(tx, await findAddonByLookupKey(tx, params.lookup_key))),
  });

  app.get('/addons/:id', {
    schema: {
      operationId: 'getAddon',
      tags,
      summary: 'Get an add-on with its prices and entitlements',
      params: idParams,
      response: { 200: addon, ...errorResponses },
    },
    config: { permission: 'addon:read', publishable: true },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewWhole(tx, await findAddon(tx, params.id))),
  });
}

function registerAddonParts(app: Api): void {
  app.get('/addons/:id/entitlements', {
    schema: {
      operationId: 'getAddonEntitlements',
      tags,
      summary: 'List the entitlements of an add-on',
      params: idParams,
      querystring: listQuery({}),
      response: { 200: entitlements, ...errorResponses },
    },
    config: { permission: 'addon:read', publishable: true },
    handler: async ({ params, query, transaction }) =>
      transaction(async (tx) => {
        const { id } = await findAddon(tx, params.id);
        const page = await listEntitlements(tx, toListQuery(query), { addonIds: [id] });
        const rows = await entitlementsWithParts(tx, page.rows, { features: true, plans: false, addons: true });
        return viewList({ ...page, rows }, viewEntitlement, 'next');
      }),
  });
}

async function viewWhole(tx: Transaction, row: Addon) {
  const [content] = await addonContents(tx, [row], wholeAddon);
  return viewAddon(content!);
}

async function addonPage(tx: Transaction, search: AddonSearch) {
  // The metadata of an add-on is any JSON: there is nothing to filter by.
  const query = toListQuery({ ...search, metadata: null });
  const page = await listAddons(tx, query, { addonIds: search?.addon_ids, lookupKeys: search?.lookup_keys });
  const rows = await addonContents(tx, page.rows, partsOf(search?.expand ?? []));
  return viewList({ ...page, rows }, viewAddon, 'next');
}

function partsOf(asked: readonly string[]): AddonParts {
  return {
    prices: asked.includes('prices'),
    entitlements: asked.includes('entitlements'),
    creditGrants: asked.includes('credit_grant'),
  };
}
