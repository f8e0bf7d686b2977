import { z } from 'zod';
import { badField } from '../../db/rows/record.ts';
import type { Scope } from '../../db/scope.ts';
import { inReadTransaction, type Transaction } from '../../db/transaction.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import { findCustomer, findCustomerByExternalId } from '../../services/customer/customer.ts';
import { customerUsageSummary } from '../../services/subscription/entitlement/customer-usage.ts';
import {
  customerEntitlements as readCustomerEntitlements,
  subscriptionEntitlements as readSubscriptionEntitlements,
} from '../../services/subscription/entitlement/entitlement-read.ts';
import { listSubscriptions } from '../../services/subscription/read/subscription-read.ts';
import { subscriptionUsage as readSubscriptionUsage } from '../../services/subscription/read/subscription-usage.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { toListQuery, viewList } from '../list.ts';
import { idParams } from '../scalars.schema.ts';
import { subscriptionListQuery } from '../subscription/subscription-list.schema.ts';
import {
  subscriptionUsage,
  subscriptionUsageBody,
  usageRequestOf,
  viewSubscriptionUsage,
} from '../subscription/subscription-usage.schema.ts';
import { subscriptionList, viewSubscription } from '../subscription/subscription-view.schema.ts';
import { viewAggregatedFeature } from '../usage/aggregated-feature.schema.ts';
import {
  customerEntitlements,
  customerEntitlementsQuery,
  namedUsageSummaryQuery,
  subscriptionEntitlements,
  subscriptionEntitlementsQuery,
  usageSummary,
  usageSummaryQuery,
  viewCustomerEntitlements,
  viewUsageSummary,
} from './customer-usage.schema.ts';

const customers = ['Customers'];
const subscriptions = ['Subscriptions'];
const externalIdParams = z.object({ external_id: z.string().min(1).max(255) });
const customerSubscriptionsQuery = subscriptionListQuery.omit({ customer_id: true, external_customer_id: true });

/** What customers have and use. spec: platform §10.2, §10.3; catalogue-and-metering §7.7, §8.1 */
export async function customerUsageRoutes(app: Api): Promise<void> {
  summaryRoutes(app);
  entitlementRoutes(app);

  app.get('/customers/external/:external_id/subscriptions', {
    schema: {
      operationId: 'getSubscriptionsForCustomer',
      tags: customers,
      summary: 'List the subscriptions of the customer with an external id',
      params: externalIdParams,
      querystring: customerSubscriptionsQuery,
      response: { 200: subscriptionList, ...errorResponses },
    },
    config: { permission: 'subscription:read' },
    handler: async ({ params, query, transaction }) =>
      transaction(async (tx) => {
        const { id } = await findCustomerByExternalId(tx, params.external_id);
        const filters = {
          customerIds: [id],
          subscriptionIds: query.subscription_ids,
          planId: query.plan_id,
          statuses: query.subscription_status,
          activeAt: query.active_at,
        };
        const page = await listSubscriptions(tx, toListQuery(query), filters);
        return viewList(page, (content) => viewSubscription(content), 'next');
      }),
  });
}

function summaryRoutes(app: Api): void {
  const summarize = async (
    tx: Transaction,
    customerId: string,
    query: z.output<typeof usageSummaryQuery>,
  ): Promise<z.output<typeof usageSummary>> => {
    const filters = {
      featureIds: query.feature_ids,
      featureLookupKeys: query.feature_lookup_keys,
      subscriptionIds: query.subscription_ids,
    };
    const readUsage = usageReader(app.dependencies.metering);
    return viewUsageSummary(await customerUsageSummary(tx, customerId, filters, readUsage));
  };

  app.get('/customers/usage', {
    schema: {
      operationId: 'getCustomerUsageSummary',
      tags: customers,
      summary: 'What the customer named by the query string may use and has used',
      querystring: namedUsageSummaryQuery,
      response: { 200: usageSummary, ...errorResponses },
    },
    config: { permission: 'customer:read' },
    handler: async ({ query, transaction }) =>
      transaction(async (tx) => summarize(tx, await namedCustomerId(tx, query), query)),
  });

  app.get('/customers/:id/usage', {
    schema: {
      operationId: 'getCustomerUsageSummaryById',
      tags: customers,
      summary: 'What a customer may use and has used',
      params: idParams,
      querystring: usageSummaryQuery,
      response: { 200: usageSummary, ...errorResponses },
    },
    config: { permission: 'customer:read' },
    handler: async ({ params, query, transaction }) =>
      transaction(async (tx) => summarize(tx, (await findCustomer(tx, params.id)).id, query)),
  });

  app.post('/subscriptions/usage', {
    schema: {
      operationId: 'getSubscriptionUsage',
      tags: subscriptions,
      summary: 'What the usage of a window costs',
      body: subscriptionUsageBody,
      response: { 200: subscriptionUsage, ...errorResponses },
    },
    config: { permission: 'subscription:read', idempotency: 'none' },
    handler: async ({ body, transaction }) => {
      const readUsage = usageReader(app.dependencies.metering);
      const asked = usageRequestOf(body);
      return transaction(async (tx) => viewSubscriptionUsage(await readSubscriptionUsage(tx, asked, readUsage)));
    },
  });
}

function entitlementRoutes(app: Api): void {
  const entitlementsOf = async (
    scope: Scope,
    customer: { id: string } | { externalId: string },
    query: z.output<typeof customerEntitlementsQuery>,
  ) => {
    const filters = { featureIds: query.feature_ids, subscriptionIds: query.subscription_ids };
    const found = await inReadTransaction(app.dependencies.database, scope, (tx) =>
      readCustomerEntitlements(tx, customer, filters),
    );
    return viewCustomerEntitlements(found.customerId, found.features, found.subscriptions);
  };

  app.get('/customers/:id/entitlements', {
    schema: {
      operationId: 'getCustomerEntitlements',
      tags: customers,
      summary: 'What a customer has through its subscriptions',
      params: idParams,
      querystring: customerEntitlementsQuery,
      response: { 200: customerEntitlements, ...errorResponses },
    },
    config: { permission: 'customer:read' },
    handler: async ({ params, query, scope }) => entitlementsOf(scope, { id: params.id }, query),
  });

  app.get('/customers/external/:external_id/entitlements', {
    schema: {
      operationId: 'getCustomerEntitlementsByExternalID',
      tags: customers,
      summary: 'What the customer with an external id has through its subscriptions',
      params: externalIdParams,
      querystring: customerEntitlementsQuery,
      response: { 200: customerEntitlements, ...errorResponses },
    },
    config: { permission: 'customer:read' },
    handler: async ({ params, query, scope }) => entitlementsOf(scope, { externalId: params.external_id }, query),
  });

  app.get('/subscriptions/:id/entitlements', {
    schema: {
      operationId: 'getSubscriptionEntitlements',
      tags: subscriptions,
      summary: 'What a subscription grants',
      params: idParams,
      querystring: subscriptionEntitlementsQuery,
      response: { 200: subscriptionEntitlements, ...errorResponses },
    },
    config: { permission: 'subscription:read' },
    handler: async ({ params, query, scope }) => {
      const filters = { featureIds: query.feature_ids };
      const { subscription, features } = await inReadTransaction(app.dependencies.database, scope, (tx) =>
        readSubscriptionEntitlements(tx, params.id, filters),
      );
      return {
        subscription_id: subscription.id,
        plan_id: subscription.planId,
        features: features.map(viewAggregatedFeature),
      };
    },
  });
}

/** The customer a query names by id, by external id, or by both when they agree. spec: platform §10.2 */
async function namedCustomerId(
  tx: Transaction,
  { customer_id, customer_lookup_key }: z.output<typeof namedUsageSummaryQuery>,
): Promise<string> {
  if (!customer_id && !customer_lookup_key) throw badField('customer_id', 'or customer_lookup_key is required');
  if (!customer_lookup_key) return (await findCustomer(tx, customer_id ?? '')).id;
  const { id } = await findCustomerByExternalId(tx, customer_lookup_key);
  if (customer_id && customer_id !== id) {
    throw badField('customer_id', 'and customer_lookup_key name different customers');
  }
  return id;
}
