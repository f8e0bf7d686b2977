import type { Payment } from '../../db/entities/payment.ts';
import { readInvoiceEvidence } from '../../db/stores/invoice-explain.ts';
import { listInvoices } from '../../db/stores/invoice-list.ts';
import { previewInvoice } from '../../db/stores/invoice-preview.ts';
import {
  findInvoice,
  type InvoiceContent,
  type InvoiceParts,
  invoiceOwner,
  latestPayment,
} from '../../db/stores/invoice-read.ts';
import { customerInvoiceSummary } from '../../db/stores/invoice-summary.ts';
import { updateInvoice } from '../../db/stores/invoice-update.ts';
import { listSubscriptions } from '../../db/stores/subscription-read.ts';
import type { Transaction } from '../../db/transaction.ts';
import { lateUsageReader } from '../../metering/late-usage.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import { attemptPayment, finalizeInvoice, voidInvoice } from '../../workflows/invoice.messages.ts';
import type { Api } from '../app.ts';
import { errorResponses } from '../errors.ts';
import { tellRunning, updateObject } from '../lifecycle.ts';
import { toListQuery, viewList } from '../list.ts';
import { invoice, invoiceList, invoiceMessage, viewInvoice } from '../schemas/invoice.ts';
import { invoiceExplanation, viewInvoiceExplanation } from '../schemas/invoice-explanation.ts';
import {
  invoicePreview,
  previewInvoiceBody,
  previewRequestOf,
  viewInvoicePreview,
} from '../schemas/invoice-preview.ts';
import {
  invoiceChangeOf,
  invoiceFiltersOf,
  invoiceListQuery,
  invoicePartsOf,
  invoicePartsOfOne,
  invoiceQuery,
  invoiceSearchBody,
  updateInvoiceBody,
  voidInvoiceBody,
} from '../schemas/invoice-query.ts';
import { invoiceSummary, viewInvoiceSummary } from '../schemas/invoice-summary.ts';
import { idParams, optionalBody } from '../schemas/scalars.ts';
import { viewSubscription } from '../schemas/subscription-view.ts';

const tags = ['Invoices'];

/** Invoices. spec: subscriptions-and-invoicing §1.11, §2.15 */
export async function invoiceRoutes(app: Api): Promise<void> {
  listingRoutes(app);
  readingRoutes(app);
  commandRoutes(app);
}

function listingRoutes(app: Api): void {
  app.get('/invoices', {
    schema: {
      operationId: 'listInvoices',
      tags,
      summary: 'List invoices',
      querystring: invoiceListQuery,
      response: { 200: invoiceList, ...errorResponses },
    },
    config: { permission: 'invoice:read' },
    handler: async (request) => {
      const filters = invoiceFiltersOf(request.query);
      const parts = invoicePartsOf(request.query);
      return request.transaction(async (tx) =>
        viewPage(tx, await listInvoices(tx, toListQuery(request.query), filters, parts), parts),
      );
    },
  });

  app.post('/invoices/search', {
    schema: {
      operationId: 'queryInvoice',
      tags,
      summary: 'Search invoices',
      body: invoiceSearchBody,
      response: { 200: invoiceList, ...errorResponses },
    },
    config: { permission: 'invoice:read' },
    handler: async (request) => {
      const filters = invoiceFiltersOf(request.body);
      const parts = invoicePartsOf(request.body);
      return request.transaction(async (tx) =>
        viewPage(tx, await listInvoices(tx, toListQuery(request.body), filters, parts), parts),
      );
    },
  });

  app.get('/customers/:id/invoices/summary', {
    schema: {
      operationId: 'getCustomerInvoiceSummary',
      tags,
      summary: "Get a customer's invoices in totals per currency",
      params: idParams,
      response: { 200: invoiceSummary, ...errorResponses },
    },
    config: { permission: 'invoice:read' },
    handler: async (request) => {
      const { id } = request.params;
      return request.transaction(async (tx) => viewInvoiceSummary(id, await customerInvoiceSummary(tx, id)));
    },
  });
}

function readingRoutes(app: Api): void {
  app.get('/invoices/:id', {
    schema: {
      operationId: 'getInvoice',
      tags,
      summary: 'Get an invoice with its lines',
      params: idParams,
      querystring: invoiceQuery,
      response: { 200: invoice, ...errorResponses },
    },
    config: { permission: 'invoice:read' },
    handler: async (request) => {
      const parts = invoicePartsOfOne(request.query);
      return request.transaction(async (tx) => viewWhole(tx, await findInvoice(tx, request.params.id, parts), parts));
    },
  });

  app.get('/invoices/:id/explain', {
    schema: {
      operationId: 'explainInvoice',
      tags,
      summary: 'Explain every amount, date and payment of an invoice',
      description:
        'Reads the derivation that was stored when each line was computed; nothing is computed again. `late_usage` counts what arrived after the invoice was final, as of now.',
      params: idParams,
      response: { 200: invoiceExplanation, ...errorResponses },
    },
    config: { permission: 'invoice:read' },
    handler: async (request) => {
      const readLate = lateUsageReader(app.dependencies.metering);
      return request.transaction(async (tx) =>
        viewInvoiceExplanation(await readInvoiceEvidence(tx, request.params.id, readLate)),
      );
    },
  });

  app.post('/invoices/preview', {
    schema: {
      operationId: 'getInvoicePreview',
      tags,
      summary: 'Preview the next invoice of a subscription; nothing is stored',
      body: previewInvoiceBody,
      response: { 200: invoicePreview, ...errorResponses },
    },
    config: { permission: 'invoice:read', idempotency: 'none' },
    handler: async (request) => {
      const readUsage = usageReader(app.dependencies.metering);
      const preview = previewRequestOf(request.body);
      return request.transaction(async (tx) => viewInvoicePreview(await previewInvoice(tx, preview, readUsage)));
    },
  });
}

function commandRoutes(app: Api): void {
  app.put('/invoices/:id', {
    schema: {
      operationId: 'updateInvoice',
      tags,
      summary: 'Change metadata, document address or due date of an invoice',
      params: idParams,
      body: updateInvoiceBody,
      response: { 200: invoice, ...errorResponses },
    },
    config: { permission: 'invoice:write' },
    handler: async (request) => {
      const { id } = request.params;
      const change = invoiceChangeOf(request.body);
      let reschedules = false;
      const view = await request.transaction(async (tx) => {
        ({ reschedules } = await updateInvoice(tx, id, change));
        return viewWhole(tx, await findInvoice(tx, id, wholeInvoice), wholeInvoice);
      });
      if (reschedules) await tellRunning(request, { kind: 'invoice', id });
      return view;
    },
  });

  app.post('/invoices/:id/finalize', {
    schema: {
      operationId: 'finalizeInvoice',
      tags,
      summary: 'Finalize a draft now: final amounts, number, collection',
      params: idParams,
      body: optionalBody,
      response: { 200: invoiceMessage, ...errorResponses },
    },
    config: { permission: 'invoice:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const owner = await request.transaction((tx) => invoiceOwner(tx, request.params.id));
      const changed = await updateObject(request, { kind: 'invoice', ...owner }, finalizeInvoice, {});
      const skipped = changed.invoiceStatus === 'SKIPPED';
      return { message: skipped ? 'the invoice bills nothing and stays skipped' : 'invoice finalized successfully' };
    },
  });

  app.post('/invoices/:id/void', {
    schema: {
      operationId: 'voidInvoice',
      tags,
      summary: 'Void an invoice: it keeps its number and is never collected',
      params: idParams,
      body: voidInvoiceBody,
      response: { 200: invoiceMessage, ...errorResponses },
    },
    config: { permission: 'invoice:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const owner = await request.transaction((tx) => invoiceOwner(tx, request.params.id));
      const metadata = request.body?.metadata ?? null;
      await updateObject(request, { kind: 'invoice', ...owner }, voidInvoice, { metadata });
      return { message: 'invoice voided successfully' };
    },
  });

  app.post('/invoices/:id/payment/attempt', {
    schema: {
      operationId: 'attemptInvoicePayment',
      tags,
      summary: 'Try to collect an invoice now',
      params: idParams,
      body: optionalBody,
      response: { 200: invoiceMessage, ...errorResponses },
    },
    config: { permission: 'invoice:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      const { owner, before } = await request.transaction(async (tx) => ({
        owner: await invoiceOwner(tx, id),
        before: await latestPayment(tx, id),
      }));
      await updateObject(request, { kind: 'invoice', ...owner }, attemptPayment, {});
      const after = await request.transaction((tx) => latestPayment(tx, id));
      return { message: attemptMessage(before, after) };
    },
  });
}

const wholeInvoice = { lines: true, customer: false, subscription: false };

type Wanted = InvoiceParts & { subscription: boolean };

async function viewWhole(tx: Transaction, content: InvoiceContent, parts: Wanted) {
  const subscriptions = await subscriptionsOf(tx, [content], parts);
  return viewInvoice(content, subscriptions.get(content.row.subscriptionId ?? ''));
}

async function viewPage(tx: Transaction, page: Awaited<ReturnType<typeof listInvoices>>, parts: Wanted) {
  const subscriptions = await subscriptionsOf(tx, page.rows, parts);
  return viewList(page, (content) => viewInvoice(content, subscriptions.get(content.row.subscriptionId ?? '')), 'echo');
}

/** The subscriptions of invoices as they are shown, read once for all of them. */
async function subscriptionsOf(
  tx: Transaction,
  invoices: readonly InvoiceContent[],
  parts: Wanted,
): Promise<Map<string, unknown>> {
  const ids = [...new Set(invoices.flatMap(({ row }) => (parts.subscription ? (row.subscriptionId ?? []) : [])))];
  if (ids.length === 0) return new Map();
  const { rows } = await listSubscriptions(tx, toListQuery({ limit: ids.length }), { subscriptionIds: ids });
  return new Map(rows.map((content) => [content.row.id, viewSubscription(content)]));
}

/** What came of an attempt, for the person who asked for it. */
function attemptMessage(before: Payment | null, after: Payment | null): string {
  if (after?.paymentStatus === 'PROCESSING') return `payment ${after.id} waits for its gateway`;
  if (after === null || after.id === before?.id)
    return 'nothing was charged: nothing is due, or no payment method is saved';
  if (after.paymentStatus === 'SUCCEEDED') return `payment ${after.id} succeeded`;
  return `payment ${after.id} failed: ${after.errorMessage ?? after.paymentStatus}`;
}
