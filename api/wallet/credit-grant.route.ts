import { z } from 'zod';
import { customerNow } from '../../db/clock.ts';
import { missing } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { findAddon } from '../../services/catalogue/addon.ts';
import { findPlan } from '../../services/catalogue/plan/plan.ts';
import { findCustomer } from '../../services/customer/customer.ts';
import { findGrant } from '../../services/ledger/grant-record.ts';
import { subscriptionOwner } from '../../services/subscription/read/subscription-read.ts';
import {
  createGrant,
  deleteGrant,
  listGrants,
  upcomingGrants,
  updateGrant,
} from '../../services/wallet/credit-grant.ts';
import type { Api } from '../api.ts';
import { decimalFormat } from '../decimal-format.ts';
import { errorResponses } from '../errors.ts';
import { type LifecycleObject, tellOrStart } from '../lifecycle.ts';
import { listQuery, toListQuery, viewList } from '../list.ts';
import { idParams } from '../scalars.schema.ts';
import {
  createGrantBody,
  creditGrant,
  creditGrantList,
  deleteGrantBody,
  grantApplicationList,
  grantListQuery,
  grantOwner,
  newGrant,
  updateGrantBody,
  viewApplication,
  viewGrant,
} from './credit-grant.schema.ts';

const tags = ['Credit grants'];

/** Credit grants and what is to come of them. spec: wallets-and-payments §1.2, §2.15 */
export async function creditGrantRoutes(app: Api): Promise<void> {
  changingRoutes(app);
  readingRoutes(app);
  upcomingRoutes(app);
}

function changingRoutes(app: Api): void {
  app.post('/creditgrants', {
    schema: {
      operationId: 'createCreditGrant',
      tags,
      summary: 'Grant credits by a plan, an add-on or to one subscription',
      body: createGrantBody,
      response: { 201: creditGrant, ...errorResponses },
    },
    config: { permission: 'creditgrant:write' },
    handler: async (request) => {
      const owner = grantOwner(request.body);
      return changed(request, async (tx) => {
        const grant = await createGrant(tx, owner, newGrant(request.body));
        return { subscriptionId: grant.subscriptionId, answer: viewGrant(grant) };
      });
    },
  });

  app.put('/creditgrants/:id', {
    schema: {
      operationId: 'updateCreditGrant',
      tags,
      summary: 'Change name, metadata or end of a credit grant',
      params: idParams,
      body: updateGrantBody,
      response: { 200: creditGrant, ...errorResponses },
    },
    config: { permission: 'creditgrant:write' },
    handler: async (request) => {
      const { name, metadata, end_date } = request.body;
      const change = { name: name ?? undefined, metadata: metadata ?? undefined, endDate: end_date ?? undefined };
      return changed(request, async (tx) => {
        const grant = await updateGrant(tx, request.params.id, change);
        return { subscriptionId: grant.subscriptionId, answer: viewGrant(grant) };
      });
    },
  });

  app.delete('/creditgrants/:id', {
    schema: {
      operationId: 'deleteCreditGrant',
      tags,
      summary: 'End a credit grant; granted credits stay',
      params: idParams,
      body: deleteGrantBody,
      response: { 200: z.object({ message: z.string() }), ...errorResponses },
    },
    config: { permission: 'creditgrant:write' },
    handler: async (request) => {
      const { id } = request.params;
      const at = request.body?.effective_date ?? null;
      return changed(request, async (tx) => {
        const { subscriptionId } = await deleteGrant(tx, id, at);
        return { subscriptionId, answer: { message: `credit grant ${id} is ended` } };
      });
    },
  });
}

interface GrantChange<Answer> {
  subscriptionId: string | null | undefined;
  answer: Answer;
}

/** Makes the change in one transaction, and tells the subscription's workflow, which waits for what its grants bring. */
async function changed<Answer>(
  request: Parameters<typeof tellOrStart>[0] & { transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> },
  change: (tx: Transaction) => Promise<GrantChange<Answer>>,
): Promise<Answer> {
  let waiting: LifecycleObject | null = null;
  const answer = await request.transaction(async (tx) => {
    const { subscriptionId: id, answer } = await change(tx);
    if (id) {
      const { customerId, testClockId } = await subscriptionOwner(tx, id);
      waiting = { kind: 'subscription', id, customerId, testClockId, at: await customerNow(tx, customerId) };
    }
    return answer;
  });
  if (waiting) await tellOrStart(request, waiting);
  return answer;
}

function readingRoutes(app: Api): void {
  app.get('/creditgrants', {
    schema: {
      operationId: 'listCreditGrants',
      tags,
      summary: 'List credit grants',
      querystring: grantListQuery,
      response: { 200: creditGrantList, ...errorResponses },
    },
    config: { permission: 'creditgrant:read' },
    handler: async ({ query, transaction }) => {
      const { credit_grant_ids: grantIds, plan_ids: planIds, addon_ids: addonIds, scope } = query;
      const filters = { grantIds, planIds, subscriptionIds: query.subscription_ids, addonIds, scope };
      return transaction(async (tx) => viewList(await listGrants(tx, toListQuery(query), filters), viewGrant, 'next'));
    },
  });

  app.get('/creditgrants/:id', {
    schema: {
      operationId: 'getCreditGrant',
      tags,
      summary: 'Get a credit grant',
      params: idParams,
      response: { 200: creditGrant, ...errorResponses },
    },
    config: { permission: 'creditgrant:read' },
    handler: async ({ params, transaction }) => transaction(async (tx) => viewGrant(await findGrant(tx, params.id))),
  });

  app.get('/plans/:id/creditgrants', {
    schema: {
      operationId: 'getPlanCreditGrants',
      tags,
      summary: 'List the credit grants of a plan',
      params: idParams,
      querystring: listQuery({}),
      response: { 200: creditGrantList, ...errorResponses },
    },
    config: { permission: 'creditgrant:read' },
    handler: async ({ params, query, transaction }) =>
      transaction(async (tx) => {
        await findPlan(tx, params.id);
        return viewList(await listGrants(tx, toListQuery(query), { planIds: [params.id] }), viewGrant, 'next');
      }),
  });

  app.get('/addons/:id/creditgrants', {
    schema: {
      operationId: 'getAddonCreditGrants',
      tags,
      summary: 'List the credit grants of an add-on',
      params: idParams,
      querystring: listQuery({}),
      response: { 200: creditGrantList, ...errorResponses },
    },
    config: { permission: 'creditgrant:read' },
    handler: async ({ params, query, transaction }) =>
      transaction(async (tx) => {
        await findAddon(tx, params.id);
        return viewList(await listGrants(tx, toListQuery(query), { addonIds: [params.id] }), viewGrant, 'next');
      }),
  });
}

function upcomingRoutes(app: Api): void {
  app.get('/subscriptions/:id/grants/upcoming', {
    schema: {
      operationId: 'getSubscriptionUpcomingGrants',
      tags,
      summary: 'List what credit grants will bring to a subscription',
      params: idParams,
      response: { 200: grantApplicationList, ...errorResponses },
    },
    config: { permission: 'subscription:read' },
    handler: async ({ params: { id }, transaction }) =>
      transaction(async (tx) => {
        const { customerId } = await subscriptionOwner(tx, id);
        const live = await liveSubscriptions(tx, 'id', id);
        if (live.length === 0) throw missing('active or trialing subscription', id);
        return upcoming(tx, live, customerId);
      }),
  });

  app.get('/customers/:id/grants/upcoming', {
    schema: {
      operationId: 'getCustomerUpcomingGrants',
      tags,
      summary: 'List what credit grants will bring to a customer',
      params: idParams,
      response: { 200: grantApplicationList, ...errorResponses },
    },
    config: { permission: 'customer:read' },
    handler: async ({ params: { id }, transaction }) =>
      transaction(async (tx) => {
        await findCustomer(tx, id);
        return upcoming(tx, await liveSubscriptions(tx, 'customer_id', id), id);
      }),
  });
}

async function upcoming(tx: Transaction, subscriptionIds: readonly string[], customerId: string) {
  const rows = await upcomingGrants(tx, subscriptionIds, await customerNow(tx, customerId));
  const format = await decimalFormat(tx);
  return flatList(rows.map((row) => viewApplication(row, format)));
}

async function liveSubscriptions(tx: Transaction, column: 'id' | 'customer_id', value: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select id from subscription where environment_id = $1 and ${column} = $2 and subscription_status in ('active', 'trialing')`,
    [tx.scope.environmentId, value],
  );
  return rows.map((row) => row.id);
}

/** Everything on one page. */
function flatList<Item>(items: Item[]) {
  return { items, pagination: { limit: items.length, offset: 0, total: items.length } };
}
