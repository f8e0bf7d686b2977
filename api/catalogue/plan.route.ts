import { z } from 'zod';
import type { Plan } from '../../db/entities/catalogue/plan.ts';
import type { Transaction } from '../../db/transaction.ts';
import { listEntitlements, listPlans } from '../../services/catalogue/catalogue-lists.ts';
import { archivePlan, clonePlan, createPlan, findPlan } from '../../services/catalogue/plan/plan.ts';
import {
  entitlementsWithParts,
  type PlanParts,
  planContents,
  wholePlan,
} from '../../services/catalogue/plan/plan-content.ts';
import { updateWholePlan } from '../../services/catalogue/plan/plan-update.ts';
import type { Api } from '../api.ts';
import { decimalFormat } from '../decimal-format.ts';
import { errorResponses } from '../errors.ts';
import { listOf, listQuery, searchBody, toListQuery, viewList } from '../list.ts';
import { idListInput, idListQuery, idParams, optionalBody } from '../scalars.schema.ts';
import { entitlements } from './entitlement.route.ts';
import { viewEntitlement } from './entitlement.schema.ts';
import {
  clonePlanBody,
  createPlanBody,
  newPlan,
  plan,
  planCopy,
  planWithNumbers,
  updatePlanBody,
  viewPlan,
  viewPlanWithNumbers,
} from './plan.schema.ts';
import { planRecord, viewPlanRecord } from './plan-record.schema.ts';
import { planUpdate } from './plan-update.schema.ts';

/** The published client reads the owner's members out of this list as if it were the plan itself; so they stand beside it. */
const planEntitlements = entitlements.extend(planRecord.shape).meta({ id: 'PlanEntitlements' });

const expand = [
  'prices',
  'meters',
  'entitlements',
  'credit_grant',
  'priceunit',
  'prices.meters',
  'prices.priceunit',
  'entitlements.features',
];
const text = z.string().max(255);
const planSearch = searchBody({ plan_ids: idListInput().nullish(), lookup_key: text.nullish() }, expand);
const planListQuery = listQuery({ plan_ids: idListQuery().optional(), lookup_key: text.optional() }, expand);
type PlanSearch = z.output<typeof planSearch> | z.output<typeof planListQuery>;
const plans = listOf(plan, 'ListPlansResponse');

/** Plans. spec: catalogue-and-metering §3 */
export async function planRoutes(app: Api): Promise<void> {
  registerPlanReads(app);
  registerPlanParts(app);
  const tags = ['Plans'];

  app.post('/plans', {
    schema: {
      operationId: 'createPlan',
      tags,
      summary: 'Create a plan',
      body: createPlanBody,
      response: { 201: plan, ...errorResponses },
    },
    config: { permission: 'plan:write' },
    handler: async ({ body, transaction }) =>
      transaction(async (tx) => viewPlan(await whole(tx, await createPlan(tx, newPlan(body))))),
  });

  app.put('/plans/:id', {
    schema: {
      operationId: 'updatePlan',
      tags,
      summary: 'Update a plan, its prices and its entitlements',
      params: idParams,
      body: updatePlanBody,
      response: { 200: planWithNumbers, ...errorResponses },
    },
    config: { permission: 'plan:write' },
    handler: async ({ params, body, transaction }) =>
      transaction(async (tx) => {
        const updated = await whole(tx, await updateWholePlan(tx, params.id, planUpdate(body)));
        return viewPlanWithNumbers(updated, await decimalFormat(tx));
      }),
  });

  app.delete('/plans/:id', {
    schema: {
      operationId: 'deletePlan',
      tags,
      summary: 'Archive a plan',
      params: idParams,
      body: optionalBody,
      response: { 200: z.object({ message: z.string() }), ...errorResponses },
    },
    config: { permission: 'plan:write' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => {
        await archivePlan(tx, params.id);
        return { message: `plan ${params.id} is archived` };
      }),
  });

  app.post('/plans/:id/clone', {
    schema: {
      operationId: 'clonePlan',
      tags,
      summary: 'Copy a plan with its prices and entitlements',
      params: idParams,
      body: clonePlanBody,
      response: { 201: plan, ...errorResponses },
    },
    config: { permission: 'plan:write' },
    handler: async ({ params, body, transaction }) =>
      transaction(async (tx) => viewPlan(await whole(tx, await clonePlan(tx, params.id, planCopy(body))))),
  });
}

function registerPlanReads(app: Api): void {
  const tags = ['Plans'];

  app.get('/plans', {
    schema: {
      operationId: 'listPlans',
      tags,
      summary: 'List plans',
      querystring: planListQuery,
      response: { 200: plans, ...errorResponses },
    },
    config: { permission: 'plan:read', publishable: true },
    handler: async ({ query, transaction }) => transaction((tx) => planPage(tx, query)),
  });

  app.post('/plans/search', {
    schema: {
      operationId: 'queryPlan',
      tags,
      summary: 'Search plans',
      body: planSearch,
      response: { 200: plans, ...errorResponses },
    },
    config: { permission: 'plan:read', publishable: true },
    handler: async ({ body, transaction }) => transaction((tx) => planPage(tx, body)),
  });

  app.get('/plans/:id', {
    schema: {
      operationId: 'getPlan',
      tags,
      summary: 'Get a plan with its prices and entitlements',
      params: idParams,
      response: { 200: plan, ...errorResponses },
    },
    config: { permission: 'plan:read', publishable: true },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewPlan(await whole(tx, await findPlan(tx, params.id)))),
  });
}

function registerPlanParts(app: Api): void {
  const tags = ['Plans'];

  app.get('/plans/:id/entitlements', {
    schema: {
      operationId: 'getPlanEntitlements',
      tags,
      summary: 'List the entitlements of a plan',
      params: idParams,
      querystring: listQuery({}),
      response: { 200: planEntitlements, ...errorResponses },
    },
    config: { permission: 'plan:read', publishable: true },
    handler: async ({ params, query, transaction }) =>
      transaction((tx) => entitlementsOfPlan(tx, params.id, toListQuery(query), isPaged(query))),
  });
}

async function whole(tx: Transaction, row: Plan) {
  const [content] = await planContents(tx, [row], wholePlan);
  return content!;
}

async function planPage(tx: Transaction, search: PlanSearch) {
  const filters = { planIds: search?.plan_ids, lookupKey: search?.lookup_key };
  const page = await listPlans(tx, toListQuery(search), filters);
  const rows = await planContents(tx, page.rows, partsOf(search?.expand ?? []));
  return viewList({ ...page, rows }, viewPlan, 'next');
}

/** `prices.meters` asks for prices too; `meters` alone asks for them where prices are shown. */
function partsOf(asked: readonly string[]): PlanParts {
  return {
    prices: asked.some((name) => name.split('.')[0] === 'prices'),
    meters: asked.includes('meters') || asked.includes('prices.meters'),
    groups: false,
    priceUnits: asked.includes('priceunit') || asked.includes('prices.priceunit'),
    entitlements: asked.some((name) => name.split('.')[0] === 'entitlements'),
    features: asked.includes('entitlements.features'),
    creditGrants: asked.includes('credit_grant'),
  };
}

/** More entitlements than a plan has features; the bound of an answer that is not paged. */
const allRows = 10_000;

function isPaged(query: { limit?: number | undefined; offset?: number | undefined }): boolean {
  return query.limit !== undefined || query.offset !== undefined;
}

/** Without `limit` and `offset` all rows come at once and `pagination.limit` is 0. spec: catalogue-and-metering §3 */
async function entitlementsOfPlan(tx: Transaction, id: string, query: ReturnType<typeof toListQuery>, paged: boolean) {
  const owner = await findPlan(tx, id);
  const page = await listEntitlements(tx, paged ? query : { ...query, limit: allRows }, { planIds: [owner.id] });
  const rows = await entitlementsWithParts(tx, page.rows, { features: true, plans: true, addons: false });
  const list = viewList({ ...page, rows, limit: paged ? page.limit : 0 }, viewEntitlement, 'next');
  return { ...viewPlanRecord(owner), ...list };
}
