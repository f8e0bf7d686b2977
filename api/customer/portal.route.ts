import { usageReader } from '../../metering/usage-reader.ts';
import {
  portalInvoice,
  portalInvoices,
  portalSubscription,
  portalSubscriptions,
} from '../../services/across/portal.ts';
import { findCustomer, updateCustomer } from '../../services/customer/customer.ts';
import { storedSetting } from '../../services/platform/setting.ts';
import { customerUsageSummary } from '../../services/subscription/entitlement/customer-usage.ts';
import type { Api } from '../api.ts';
import { errorResponses, notBuiltResponse } from '../errors.ts';
import { documentAddress } from '../invoice/document/document-address.ts';
import { presignedUrl } from '../invoice/document/invoice-pdf.schema.ts';
import { invoice, invoiceList, viewInvoice } from '../invoice/invoice.schema.ts';
import { toListQuery, viewList } from '../list.ts';
import { portalPaymentRoutes } from '../payment/portal-payment.route.ts';
import { setting, settingKey, viewSetting } from '../platform/setting.schema.ts';
import { refuseUnknownMembers } from '../plugins/known-members.ts';
import { registerPortalAuthentication } from '../plugins/portal-authentication.ts';
import { registerTransactions } from '../plugins/transaction.ts';
import { idParams } from '../scalars.schema.ts';
import { subscription, subscriptionList, viewSubscription } from '../subscription/subscription-view.schema.ts';
import { portalAnalyticsRoutes } from '../usage/portal-analytics.route.ts';
import { portalWalletRoutes } from '../wallet/portal-wallet.route.ts';
import { customer, customerFieldsOf, viewCustomer } from './customer.schema.ts';
import { usageSummary, usageSummaryQuery, viewUsageSummary } from './customer-usage.schema.ts';
import { portalInfoBody, portalPage, portalPageBody } from './portal.schema.ts';

const common = { tags: ['Customer portal'], security: [{ PortalSession: [] }] };
/** An answer kept for an Idempotency-Key would be found by every customer of the environment. */
const reading = { permission: 'customer:read', idempotency: 'none' } as const;

/** What a customer sees and changes of itself with a portal session. spec: platform §11 */
export async function portalRoutes(app: Api): Promise<void> {
  refuseUnknownMembers(app);
  registerPortalAuthentication(app);
  registerTransactions(app);
  accountRoutes(app);
  subscriptionRoutes(app);
  invoiceRoutes(app);
  portalAnalyticsRoutes(app);
  portalWalletRoutes(app);
  portalPaymentRoutes(app);
}

function accountRoutes(app: Api): void {
  app.get('/customer/portal/info', {
    schema: {
      ...common,
      operationId: 'portalGetCustomer',
      summary: 'The customer of the session',
      response: { 200: customer, ...errorResponses },
    },
    config: reading,
    handler: async ({ portalCustomerId, transaction }) =>
      transaction(async (tx) => viewCustomer(await findCustomer(tx, portalCustomerId))),
  });

  app.put('/customer/portal/info', {
    schema: {
      ...common,
      operationId: 'portalUpdateCustomer',
      summary: 'Change name, mail, contact, address or time zone of the customer of the session',
      body: portalInfoBody,
      response: { 200: customer, ...errorResponses },
    },
    config: { permission: 'customer:write', idempotency: 'none' },
    handler: async ({ portalCustomerId, body, transaction }) =>
      transaction(async (tx) => viewCustomer(await updateCustomer(tx, portalCustomerId, customerFieldsOf(body)))),
  });

  app.get('/customer/portal/usage', {
    schema: {
      ...common,
      operationId: 'portalGetUsageSummary',
      summary: 'What the customer of the session may use and has used',
      querystring: usageSummaryQuery,
      response: { 200: usageSummary, ...errorResponses },
    },
    config: reading,
    handler: async ({ portalCustomerId, query, transaction }) => {
      const filters = {
        featureIds: query.feature_ids,
        featureLookupKeys: query.feature_lookup_keys,
        subscriptionIds: query.subscription_ids,
      };
      const readUsage = usageReader(app.dependencies.metering);
      return transaction(async (tx) =>
        viewUsageSummary(await customerUsageSummary(tx, portalCustomerId, filters, readUsage)),
      );
    },
  });

  app.get('/customer/portal/config', {
    schema: {
      ...common,
      operationId: 'portalGetPortalConfig',
      summary: 'The setting customer_portal_config',
      response: { 200: setting, ...errorResponses },
    },
    config: reading,
    handler: async ({ transaction }) => {
      const key = settingKey('customer_portal_config');
      return transaction(async (tx) => viewSetting(tx.scope, key, await storedSetting(tx, key)));
    },
  });
}

function subscriptionRoutes(app: Api): void {
  app.post('/customer/portal/subscriptions', {
    schema: {
      ...common,
      operationId: 'portalGetSubscriptions',
      summary: 'The subscriptions of the customer of the session, drafts left out',
      body: portalPageBody,
      response: { 200: subscriptionList, ...errorResponses },
    },
    config: reading,
    handler: async ({ portalCustomerId, body, transaction }) =>
      transaction(async (tx) => {
        const page = await portalSubscriptions(tx, portalCustomerId, toListQuery(portalPage(body)));
        return viewList(page, (content) => ({ ...viewSubscription(content), warnings: [] }), 'next');
      }),
  });

  app.get('/customer/portal/subscriptions/:id', {
    schema: {
      ...common,
      operationId: 'portalGetSubscription',
      summary: 'A subscription of the customer of the session',
      params: idParams,
      response: { 200: subscription, ...errorResponses },
    },
    config: reading,
    handler: async ({ portalCustomerId, params, transaction }) =>
      transaction(async (tx) => ({
        ...viewSubscription(await portalSubscription(tx, portalCustomerId, params.id)),
        // They are for whoever set the subscription up.
        warnings: [],
      })),
  });
}

function invoiceRoutes(app: Api): void {
  app.post('/customer/portal/invoices', {
    schema: {
      ...common,
      operationId: 'portalGetInvoices',
      summary: 'The invoices of the customer of the session, drafts and skipped ones left out',
      body: portalPageBody,
      response: { 200: invoiceList, ...errorResponses },
    },
    config: reading,
    handler: async ({ portalCustomerId, body, transaction }) =>
      transaction(async (tx) => {
        const page = await portalInvoices(tx, portalCustomerId, toListQuery(portalPage(body)));
        return viewList(page, (content) => viewInvoice(content), 'echo');
      }),
  });

  app.get('/customer/portal/invoices/:id', {
    schema: {
      ...common,
      operationId: 'portalGetInvoice',
      summary: 'An invoice of the customer of the session',
      params: idParams,
      response: { 200: invoice, ...errorResponses },
    },
    config: reading,
    handler: async ({ portalCustomerId, params, transaction }) =>
      transaction(async (tx) => viewInvoice(await portalInvoice(tx, portalCustomerId, params.id))),
  });

  app.get('/customer/portal/invoices/:id/pdf', {
    schema: {
      ...common,
      operationId: 'portalGetInvoicePDF',
      summary: 'An address of the document of an invoice, which opens for 30 minutes',
      params: idParams,
      response: { 200: presignedUrl, ...errorResponses, ...notBuiltResponse },
    },
    config: reading,
    handler: async (request) => {
      const { row } = await request.transaction((tx) => portalInvoice(tx, request.portalCustomerId, request.params.id));
      return { presigned_url: row.invoicePdfUrl || (await documentAddress(request, row.id)) };
    },
  });

  app.get('/customer/portal/invoices/:id/explain', {
    schema: {
      ...common,
      operationId: 'portalExplainInvoice',
      summary: 'An address of the page that explains an invoice, which opens for 30 minutes',
      params: idParams,
      response: { 200: presignedUrl, ...errorResponses, ...notBuiltResponse },
    },
    config: reading,
    handler: async (request) => {
      const { row } = await request.transaction((tx) => portalInvoice(tx, request.portalCustomerId, request.params.id));
      return { presigned_url: await documentAddress(request, row.id, 'explanation') };
    },
  });
}
