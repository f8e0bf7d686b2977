import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { NewInvoice } from '../../billing/invoice/invoice-request.ts';
import { newUlid } from '../../db/id.ts';
import { badField } from '../../db/rows/record.ts';
import { usageReader } from '../../metering/usage-reader.ts';
import { draftUnderKey } from '../../services/invoice/draft/invoice-create-key.ts';
import { editInvoiceAsPreviewed } from '../../services/invoice/edit/invoice-edit-bound.ts';
import { triggerNotice } from '../../services/invoice/read/invoice-notice.ts';
import { findInvoice, invoiceCustomer, invoiceOwner } from '../../services/invoice/read/invoice-read.ts';
import { draftInvoiceCheckout } from '../../services/payment/checkout/checkout-draft.ts';
import {
  computeInvoice,
  createInvoice,
  editInvoice,
  type InvoiceChanged,
  invoiceWorkflowId,
  notePayment,
  recalculateDraft,
  recalculateInvoice,
} from '../../workflows/invoice/invoice.messages.ts';
import type { CommandDefinition } from '../../workflows/lifecycle.messages.ts';
import type { Api } from '../api.ts';
import { sendCommand } from '../command.ts';
import { errorResponses, notBuiltResponse } from '../errors.ts';
import { checkoutRequestOf, openAtProvider, viewOpened } from '../payment/checkout-workflow.ts';
import { closeEndedLinks } from '../payment/payment-link.ts';
import { idParams, optionalBody } from '../scalars.schema.ts';
import { invoice, invoiceMessage } from './invoice.schema.ts';
import {
  computedInvoice,
  invoiceEventName,
  lineEditOf,
  modifiedInvoice,
  modifyInvoiceBody,
  notePaymentBody,
  recalculatedInvoice,
  recalculateQuery,
  triggerEventBody,
  triggerEventQuery,
  triggeredEvent,
} from './invoice-command.schema.ts';
import { computeInvoiceBody, givenToCompute } from './invoice-compute.schema.ts';
import { createInvoiceBody, newInvoiceOf } from './invoice-create.schema.ts';
import { viewById } from './invoice-view.ts';

const tags = ['Invoices'];
const asked = { permission: 'invoice:write', idempotency: 'lifecycle' } as const;

/** What people make of invoices and do to them. spec: subscriptions-and-invoicing §1.11, §2.15 */
export async function invoiceCommandRoutes(app: Api): Promise<void> {
  creationRoute(app);
  computationRoutes(app);
  editRoutes(app);
  settlementRoutes(app);
}

/** Sends a command to the workflow of an invoice and answers what it said. */
async function ask<Content extends object>(
  request: FastifyRequest,
  id: string,
  update: CommandDefinition<InvoiceChanged, Content>,
  content: NoInfer<Content>,
): Promise<InvoiceChanged> {
  const owner = await request.transaction((tx) => invoiceOwner(tx, id));
  const command = { id: request.newId('inv_cmd'), content };
  const answer = await sendCommand(request, { kind: 'invoice', ...owner }, update, command);
  await closeEndedLinks(request, id, owner);
  return answer;
}

/** The invoice that holds what a command made: the draft it was replaced by, else itself. */
function viewResult(request: FastifyRequest, id: string) {
  return request.transaction(async (tx) => {
    const { row } = await findInvoice(tx, id, { lines: false, customer: false });
    return viewById(tx, row.recalculatedInvoiceId ?? id);
  });
}

function creationRoute(app: Api): void {
  app.post('/invoices', {
    schema: {
      operationId: 'createInvoice',
      tags,
      summary: 'Create an invoice; a one-off one is final at once',
      body: createInvoiceBody,
      response: { 201: invoice, ...errorResponses, ...notBuiltResponse },
    },
    config: asked,
    handler: async (request) => {
      const id = request.newId('inv');
      const input = newInvoiceOf(request.body, request.idempotencyKey);
      if (request.body.checkout) return createGated(request, id, input, request.body);
      const { owner, draftId } = await request.transaction(async (tx) => {
        const owner = await invoiceCustomer(tx, input.customerId);
        return { owner, draftId: await draftUnderKey(tx, tx.scope, input, owner.at) };
      });
      const object = { kind: 'invoice', id, ...owner, creating: true } as const;
      const command = { id: request.newId('inv_cmd'), content: input };
      if (draftId === null) await sendCommand(request, object, createInvoice, command);
      return request.transaction((tx) => viewById(tx, draftId ?? id));
    },
  });
}

type CreateBody = z.output<typeof createInvoiceBody>;

/** An invoice that its checkout session pays. spec: wallets-and-payments §2.18 */
async function createGated(request: FastifyRequest, invoiceId: string, invoice: NewInvoice, body: CreateBody) {
  const { checkout, ...configuration } = body;
  const session = await checkoutRequestOf(request, checkout!);
  const readUsage = usageReader(request.server.dependencies.metering);
  const owner = await request.transaction(async (tx) => {
    const owner = { ...(await invoiceCustomer(tx, invoice.customerId)), customerId: invoice.customerId };
    await draftInvoiceCheckout(tx, session, { invoiceId, invoice, configuration, owner }, readUsage);
    return owner;
  });
  await openAtProvider(request, session.sessionId, owner);
  return request.transaction(async (tx) => {
    const checkout_session = await viewOpened(request, tx, session.sessionId);
    return { ...(await viewById(tx, invoiceId)), checkout_session };
  });
}

function computationRoutes(app: Api): void {
  app.post('/invoices/:id/compute', {
    schema: {
      operationId: 'computeInvoice',
      tags,
      summary: 'Compute a draft again, with what is given to it',
      params: idParams,
      body: computeInvoiceBody,
      response: { 200: computedInvoice, ...errorResponses },
    },
    config: asked,
    handler: async (request) => {
      const { id } = request.params;
      await ask(request, id, computeInvoice, { given: givenToCompute(request.body) });
      const computed = await request.transaction((tx) => viewById(tx, id));
      return { invoice: computed, skipped: computed.invoice_status === 'SKIPPED' };
    },
  });

  app.post('/invoices/:id/recalculate', {
    schema: {
      operationId: 'recalculateInvoice',
      tags,
      summary: 'Void an invoice and make a draft of what usage and prices come to now',
      params: idParams,
      body: optionalBody,
      response: { 200: recalculatedInvoice, ...errorResponses },
    },
    config: asked,
    handler: async (request) => {
      const { id } = request.params;
      const { runId } = await ask(request, id, recalculateInvoice, {});
      const made = { workflow_id: invoiceWorkflowId(id), run_id: runId, message: 'invoice recalculated successfully' };
      return { ...(await viewResult(request, id)), ...made };
    },
  });

  app.post('/invoices/:id/recalculate-v2', {
    schema: {
      operationId: 'recalculateInvoiceV2',
      tags,
      summary: 'Compute a draft of a subscription again in place',
      params: idParams,
      querystring: recalculateQuery,
      body: optionalBody,
      response: { 200: invoice, ...errorResponses },
    },
    config: asked,
    handler: async (request) => {
      const { id } = request.params;
      await ask(request, id, recalculateDraft, { finalize: request.query.finalize ?? false });
      return request.transaction((tx) => viewById(tx, id));
    },
  });
}

function editRoutes(app: Api): void {
  app.post('/invoices/:id/modify/execute', {
    schema: {
      operationId: 'executeInvoiceModification',
      tags,
      summary: 'Edit the lines of an invoice: a draft in place, a final one by a linked draft',
      params: idParams,
      body: modifyInvoiceBody,
      response: { 200: modifiedInvoice, ...errorResponses },
    },
    config: asked,
    handler: async (request) => {
      const { id } = request.params;
      const { preview_digest: previewDigest = null } = request.body;
      await ask(request, id, editInvoice, { edit: lineEditOf(request.body), previewDigest });
      return { invoice: await viewResult(request, id), preview_digest: null };
    },
  });

  app.post('/invoices/:id/modify/preview', {
    schema: {
      operationId: 'previewInvoiceModification',
      tags,
      summary: 'Show what an edit would make of an invoice; nothing is stored',
      params: idParams,
      body: modifyInvoiceBody,
      response: { 200: modifiedInvoice, ...errorResponses },
    },
    config: { permission: 'invoice:read', idempotency: 'none' },
    handler: async (request) => {
      const { id } = request.params;
      const edit = lineEditOf(request.body);
      return request.transaction(async (tx) => {
        const { at } = await invoiceOwner(tx, id);
        // The same work as the execution, of which nothing stays.
        await tx.rows('savepoint preview');
        const order = { invoiceId: id, at, edit, commandId: newUlid() };
        const { preview_digest: repeated = null } = request.body;
        const made = await editInvoiceAsPreviewed(tx, tx.scope, order, repeated);
        const edited = await viewById(tx, made.invoiceId);
        await tx.rows('rollback to savepoint preview');
        return { invoice: edited, preview_digest: made.previewDigest };
      });
    },
  });
}

function settlementRoutes(app: Api): void {
  app.put('/invoices/:id/payment', {
    schema: {
      operationId: 'updateInvoicePaymentStatus',
      tags,
      summary: 'Write down by hand how an invoice was paid',
      params: idParams,
      body: notePaymentBody,
      response: { 200: invoice, ...errorResponses },
    },
    config: asked,
    handler: async (request) => {
      const { id } = request.params;
      const { payment_status: paymentStatus, amount } = request.body;
      await ask(request, id, notePayment, { paymentStatus, amount: amount ?? null });
      return request.transaction((tx) => viewById(tx, id));
    },
  });

  app.post('/invoices/:id/comms/trigger', {
    schema: {
      operationId: 'triggerInvoiceCommsWebhook',
      tags,
      summary: 'Ask whoever writes to customers to send the invoice',
      params: idParams,
      body: optionalBody,
      response: { 200: invoiceMessage, ...errorResponses },
    },
    config: { permission: 'invoice:write' },
    handler: async (request) =>
      request.transaction(async (tx) => {
        await triggerNotice(tx, tx.scope, request.params.id, 'invoice.communication.triggered');
        return { message: 'invoice communication triggered successfully' };
      }),
  });

  app.post('/invoices/:id/webhook/trigger', {
    schema: {
      operationId: 'triggerWebhook',
      tags,
      summary: 'Send an event of an invoice again',
      params: idParams,
      querystring: triggerEventQuery,
      body: triggerEventBody,
      response: { 200: triggeredEvent, ...errorResponses },
    },
    config: { permission: 'invoice:write' },
    handler: async (request) => {
      const event_name = request.query.event_name ?? request.body?.event_name;
      if (!event_name) throw badField('event_name', `must be one of ${invoiceEventName.options.join(', ')}`);
      return request.transaction(async (tx) => {
        await triggerNotice(tx, tx.scope, request.params.id, event_name);
        return { message: 'event triggered successfully', event_name };
      });
    },
  });
}
