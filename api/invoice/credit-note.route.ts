import type { FastifyRequest } from 'fastify';
import type { Transaction } from '../../db/transaction.ts';
import { refundableGateways } from '../../integrations/provider-adapter.ts';
import {
  createCreditNote,
  finalizeCreditNote,
  voidCreditNote,
} from '../../services/invoice/credit-note/credit-note.ts';
import type { InvoiceFollowUp } from '../../services/invoice/credit-note/credit-note-effect.ts';
import {
  type CreditNoteContent,
  findCreditNote,
  listCreditNotes,
} from '../../services/invoice/credit-note/credit-note-list.ts';
import { readECreditNote } from '../../services/invoice/document/e-invoice.ts';
import { listSubscriptions } from '../../services/subscription/read/subscription-read.ts';
import type { Api } from '../api.ts';
import { errorResponses } from '../errors.ts';
import { tellOrStart, tellRunning } from '../lifecycle.ts';
import { toListQuery, viewList } from '../list.ts';
import { closeEndedLinks } from '../payment/payment-link.ts';
import { idParams, optionalBody } from '../scalars.schema.ts';
import { viewSubscription } from '../subscription/subscription-view.schema.ts';
import {
  createCreditNoteBody,
  creditNote,
  creditNoteFiltersOf,
  creditNoteList,
  creditNoteListQuery,
  finalizeCreditNoteBody,
  newCreditNote,
  processingOf,
  viewCreditNote,
} from './credit-note.schema.ts';
import { documentFileName } from './document/document-file.ts';
import { pdfFile } from './document/invoice-pdf.schema.ts';
import { printedCreditNote } from './document/paper-page.ts';

const tags = ['Credit Notes'];
const whole = { customer: true, invoice: true };

/** Credit notes. spec: subscriptions-and-invoicing §1.12, §2.19 */
export async function creditNoteRoutes(app: Api): Promise<void> {
  readingRoutes(app);
  const gateways = () => refundableGateways(app.dependencies.gateways, app.dependencies.providers);

  app.post('/creditnotes', {
    schema: {
      operationId: 'createCreditNote',
      tags,
      summary: 'Credit an issued invoice',
      description: 'Lowers what is due of an unpaid invoice, or gives back money of a paid one.',
      body: createCreditNoteBody,
      response: { 201: creditNote, ...errorResponses },
    },
    config: { permission: 'creditnote:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { body } = request;
      const input = newCreditNote(body, { id: request.newId('cn'), idempotencyKey: request.idempotencyKey });
      const processing = body.process_credit_note === false ? null : processingOf(body, gateways());
      const follow = await request.transaction((tx) => createCreditNote(tx, input, processing));
      await tellThose(request, follow);
      return request.transaction((tx) => viewWhole(tx, input.id));
    },
  });

  app.post('/creditnotes/:id/finalize', {
    schema: {
      operationId: 'processCreditNote',
      tags,
      summary: 'Carry out a draft credit note',
      params: idParams,
      body: finalizeCreditNoteBody,
      response: { 200: creditNote, ...errorResponses },
    },
    config: { permission: 'creditnote:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      const processing = processingOf(request.body, gateways());
      await tellThose(request, await request.transaction((tx) => finalizeCreditNote(tx, id, processing)));
      return request.transaction((tx) => viewWhole(tx, id));
    },
  });

  app.post('/creditnotes/:id/void', {
    schema: {
      operationId: 'voidCreditNote',
      tags,
      summary: 'Void a draft or an adjustment',
      params: idParams,
      body: optionalBody,
      response: { 200: creditNote, ...errorResponses },
    },
    config: { permission: 'creditnote:write', idempotency: 'lifecycle' },
    handler: async (request) => {
      const { id } = request.params;
      await tellThose(request, await request.transaction((tx) => voidCreditNote(tx, id)));
      return request.transaction((tx) => viewWhole(tx, id));
    },
  });
}

function readingRoutes(app: Api): void {
  app.get('/creditnotes', {
    schema: {
      operationId: 'listCreditNotes',
      tags,
      summary: 'List credit notes',
      querystring: creditNoteListQuery,
      response: { 200: creditNoteList, ...errorResponses },
    },
    config: { permission: 'creditnote:read' },
    handler: async ({ query, transaction }) => {
      const expand = query.expand ?? [];
      const parts = { customer: expand.includes('customer'), invoice: expand.includes('invoice') };
      return transaction(async (tx) => {
        const page = await listCreditNotes(tx, toListQuery(query), creditNoteFiltersOf(query), parts);
        const subscriptions = expand.includes('subscription') ? await subscriptionsOf(tx, page.rows) : new Map();
        return viewList(page, (note) => viewCreditNote(note, subscriptions.get(note.row.subscriptionId ?? '')), 'next');
      });
    },
  });

  app.get('/creditnotes/:id', {
    schema: {
      operationId: 'getCreditNote',
      tags,
      summary: 'Get a credit note with its invoice',
      params: idParams,
      response: { 200: creditNote, ...errorResponses },
    },
    config: { permission: 'creditnote:read' },
    handler: async ({ params, transaction }) => transaction((tx) => viewWhole(tx, params.id)),
  });

  app.get('/creditnotes/:id/pdf', {
    schema: {
      operationId: 'getCreditNotePdf',
      tags,
      summary: 'Get the document of an issued credit note as PDF/A',
      description:
        'In the look of its invoice and the language of the customer, as it was issued. A draft and a void one have none.',
      params: idParams,
      response: { 200: pdfFile, ...errorResponses },
    },
    config: { permission: 'creditnote:read' },
    handler: async ({ params, transaction }, reply) => {
      const source = await transaction((tx) => readECreditNote(tx, params.id, 'PDF'));
      const name = documentFileName(source.note.creditNoteNumber);
      reply.header('content-disposition', `inline; filename="${name}.pdf"`);
      return reply.type('application/pdf').send((await app.documents.pdf(printedCreditNote(source))) as never);
    },
  });
}

async function viewWhole(tx: Transaction, id: string) {
  const note = await findCreditNote(tx, id, whole);
  const subscriptions = await subscriptionsOf(tx, [note]);
  return viewCreditNote(note, subscriptions.get(note.row.subscriptionId ?? ''));
}

/** The subscriptions of credit notes as they are shown, read once for all of them. */
async function subscriptionsOf(tx: Transaction, notes: readonly CreditNoteContent[]): Promise<Map<string, unknown>> {
  const ids = [...new Set(notes.flatMap(({ row }) => row.subscriptionId ?? []))];
  if (ids.length === 0) return new Map();
  const { rows } = await listSubscriptions(tx, toListQuery({ limit: ids.length }), { subscriptionIds: ids });
  return new Map(rows.map((content) => [content.row.id, viewSubscription(content)]));
}

/** After the commit: the invoice is collected or left alone, its subscription activated, refunds sent. */
async function tellThose(request: FastifyRequest, follow: InvoiceFollowUp): Promise<void> {
  const { customerId, testClockId, at, invoiceId, subscriptionId, refundIds } = follow;
  const owner = { customerId, testClockId, at };
  const clockTime = testClockId === null ? null : at;
  const told = refundIds.map((id) => tellOrStart(request, { kind: 'refund', id, ...owner }));
  if (follow.invoiceWaits) told.push(tellOrStart(request, { kind: 'invoice', id: invoiceId, ...owner }));
  else if (follow.invoiceChanged) told.push(tellRunning(request, { kind: 'invoice', id: invoiceId, clockTime }));
  if (follow.invoiceChanged && subscriptionId)
    told.push(tellRunning(request, { kind: 'subscription', id: subscriptionId, clockTime }));
  await Promise.all(told);
  await closeEndedLinks(request, invoiceId, owner);
}
