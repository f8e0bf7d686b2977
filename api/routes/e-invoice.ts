import { readECreditNote, readEInvoice } from '../../db/stores/e-invoice.ts';
import { ciiFile } from '../../integrations/e-invoice/cii.ts';
import type { EInvoiceDocument } from '../../integrations/e-invoice/document.ts';
import { ublFile } from '../../integrations/e-invoice/ubl.ts';
import type { Api } from '../app.ts';
import { eCreditNoteOf, eInvoiceOf } from '../e-invoice-document.ts';
import { errorResponses } from '../errors.ts';
import { eCreditNoteQuery, eInvoiceFile, eInvoiceQuery } from '../schemas/e-invoice.ts';
import { idParams } from '../schemas/scalars.ts';

/** Issued documents as EN 16931 wants them. */
export async function eInvoiceRoutes(app: Api): Promise<void> {
  app.get('/invoices/:id/e-invoice', {
    schema: {
      operationId: 'getElectronicInvoice',
      tags: ['Invoices'],
      summary: 'Get an issued invoice as an e-invoice (EN 16931)',
      description:
        'The invoice as it was issued. The seller is the tenant with its billing details and the setting e_invoice_config; what the standard demands and nobody has said is refused by name.',
      params: idParams,
      querystring: eInvoiceQuery,
      response: { 200: eInvoiceFile, ...errorResponses },
    },
    config: { permission: 'invoice:read' },
    handler: async ({ params, query, transaction }, reply) => {
      const document = eInvoiceOf(await transaction((tx) => readEInvoice(tx, params.id)));
      reply.header('content-disposition', `attachment; filename="${fileName(document.number)}.xml"`);
      return reply.type('application/xml; charset=utf-8').send(fileOf(document, query.format));
    },
  });

  app.get('/creditnotes/:id/e-invoice', {
    schema: {
      operationId: 'getElectronicCreditNote',
      tags: ['Credit Notes'],
      summary: 'Get an issued credit note as an e-invoice (EN 16931)',
      description: 'Its amount is gross; the tax in it is at the rates its invoice was charged with.',
      params: idParams,
      querystring: eCreditNoteQuery,
      response: { 200: eInvoiceFile, ...errorResponses },
    },
    config: { permission: 'creditnote:read' },
    handler: async ({ params, query, transaction }, reply) => {
      const document = eCreditNoteOf(await transaction((tx) => readECreditNote(tx, params.id)));
      reply.header('content-disposition', `attachment; filename="${fileName(document.number)}.xml"`);
      return reply.type('application/xml; charset=utf-8').send(fileOf(document, query.format));
    },
  });
}

function fileOf(document: EInvoiceDocument, format: 'ubl' | 'cii'): string {
  return format === 'ubl' ? ublFile(document) : ciiFile(document);
}

function fileName(text: string): string {
  return text.replaceAll(/[^\w.-]/g, '_');
}
