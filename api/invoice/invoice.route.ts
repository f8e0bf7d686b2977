import type { Payment } from '../../db/entities/payment/payment.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { usagePartReader } from '../../metering/usage-part-reader.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import { previewInvoice } from '../../services/across/invoice-preview.ts';
import { refuseUneditable } from '../../services/invoice/edit/invoice-edit.ts';
import { updateInvoice } from '../../services/invoice/edit/invoice-update.ts';
import { listInvoices } from '../../services/invoice/read/invoice-list.ts';
import { findInvoice, invoiceOwner, latestPayment } from '../../services/invoice/read/invoice-read.ts';
import { customerInvoiceSummary } from '../../services/invoice/read/invoice-summary.ts';
import { invoiceUsageShares, type UsageSplit } from '../../services/invoice/read/invoice-usage-share.ts';
import { attemptPayment, editInvoice, finalizeInvoice, voidInvoice } from '../../workflows/invoice/invoice.messages.ts';
import type { Api } from '../api.ts';
import { sendCommand } from '../command.ts';
import { decimalFormat } from '../decimal-format.ts';
import { errorResponses } from '../errors.ts';
import { tellRunning, updateObject } from '../lifecycle.ts';
import { toListQuery } from '../list.ts';
import { sendRefundsOf } from '../payment/refund-workflow.ts';
import { idParams, optionalBody } from '../scalars.schema.ts';
import { invoice, invoiceList, invoiceMessage } from './invoice.schema.ts';
import { invoicePreview, previewInvoiceBody, previewRequestOf, viewInvoicePreview } from './invoice-preview.schema.ts';
import {
  invoiceChangeOf,
  invoiceFiltersOf,
  invoiceListQuery,
  invoicePartsOf,
  invoicePartsOfOne,
  invoiceQuery,
  invoiceSearchBody,
  updateInvoiceBody,
  usageSplitsOf,
  voidInvoiceBody,
} from './invoice-query.schema.ts';
import { invoiceSummary, viewInvoiceSummary } from './invoice-summary.schema.ts';
import { viewById, viewPage, viewWhole } from './invoice-view.ts';

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
      return request.transaction(async (tx) =>
        viewInvoiceSummary(id, await customerInvoiceSummary(tx, id), await decimalFormat(tx)),
      );
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
      const splits = usageSplitsOf(request.query);
      const readParts = usagePartReader(app.dependencies.metering);
      return request.transaction(async (tx) => {
        const content = await findInvoice(tx, request.params.id, parts);
        const sharesBy = (split: UsageSplit | null) => split && invoiceUsageShares(tx, content, split, readParts);
        const usage = { bySource: await sharesBy(splits.bySource), byGroup: await sharesBy(splits.byGroup) };
        return viewWhole(tx, content, parts, usage);
      });
    },
  });

  // The interface has it under a second path, with the same question and the same answer.
  for (const { path, operationId } of [
    { path: '/invoices/preview', operationId: 'getInvoicePreview' },
    { path: '/invoices/internal/preview', operationId: 'getInternalPreviewInvoice' },
  ]) {
    app.post(path, {
      schema: {
        operationId,
        tags,
        summary: 'Preview the next invoice of a subscription; nothing is stored',
        body: previewInvoiceBody,
        response: { 200: invoicePreview, ...errorResponses },
      },
      config: { permission: 'invoice:read', idempotency: 'none' },
      handler: async (request) => {
        const readUsage = usageReader(app.dependencies.metering);
        const preview = previewRequestOf(request.body);
        const repeated = request.body.preview_digest ?? null;
        return inSqlTransaction(app.dependencies.database, request.scope, async (tx) =>
          viewInvoicePreview(await previewInvoice(tx, preview, readUsage, repeated), await decimalFormat(tx)),
        );
      },
    });
  }
}

function commandRoutes(app: Api): void {
  app.put('/invoices/:id', {
    schema: {
      operationId: 'updateInvoice',
      tags,
      summary: 'Change metadata, document address or due date of an invoice, or take its coupons anew',
      params: idParams,
      body: updateInvoiceBody,
      response: { 200: invoice, ...errorResponses },
    },
    config: { permission: 'invoice:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      const { owner, reschedules } = await request.transaction(async (tx) => {
        if (request.body.apply_discount) await refuseUneditable(tx, tx.scope, id);
        const change = await updateInvoice(tx, id, invoiceChangeOf(request.body));
        return { ...change, owner: await invoiceOwner(tx, id) };
      });
      if (reschedules) await tellRunning(request, { kind: 'invoice', id });
      if (!request.body.apply_discount) return request.transaction((tx) => viewById(tx, id));
      const command = { id: request.newId('inv_cmd'), content: { edit: null, previewDigest: null } };
      await sendCommand(request, { kind: 'invoice', ...owner }, editInvoice, command);
      return request.transaction(async (tx) => {
        const { row } = await findInvoice(tx, id, { lines: false, customer: false });
        return viewById(tx, row.recalculatedInvoiceId ?? id);
      });
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
      const command = { id: request.newId('inv_cmd'), content: { metadata: request.body?.metadata ?? null } };
      await sendCommand(request, { kind: 'invoice', ...owner }, voidInvoice, command);
      await sendRefundsOf(request, owner);
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

/** What came of an attempt, for the person who asked for it. */
function attemptMessage(before: Payment | null, after: Payment | null): string {
  if (after?.paymentStatus === 'PROCESSING') return `payment ${after.id} waits for its gateway`;
  if (after === null || after.id === before?.id)
    return 'nothing was charged: nothing is due, or no payment method is saved';
  if (after.paymentStatus === 'SUCCEEDED') return `payment ${after.id} succeeded`;
  return `payment ${after.id} failed: ${after.errorMessage ?? after.paymentStatus}`;
}
