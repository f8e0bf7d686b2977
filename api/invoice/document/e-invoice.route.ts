import { readECreditNote, readEInvoice } from '../../../services/invoice/document/e-invoice.ts';
import type { Api } from '../../api.ts';
import { errorResponses } from '../../errors.ts';
import { idParams } from '../../scalars.schema.ts';
import { documentFileName } from './document-file.ts';
import { eCreditNoteQuery, eInvoiceFile, eInvoiceProfile, eInvoiceQuery } from './e-invoice.schema.ts';
import { eCreditNoteOf, eInvoiceOf } from './e-invoice-document.ts';
import { creditNotePage, issuedPage } from './e-invoice-page.ts';

const xmlType = 'application/xml; charset=utf-8';

/** Issued documents as EN 16931 wants them. */
export async function eInvoiceRoutes(app: Api): Promise<void> {
  app.get('/invoices/:id/e-invoice', {
    schema: {
      operationId: 'getElectronicInvoice',
      tags: ['Invoices'],
      summary: 'Get an issued invoice as an e-invoice (EN 16931, XRechnung)',
      description:
        'The invoice as it was issued. The seller is the tenant with its billing details and the setting e_invoice_config; what the standard demands and nobody has said is refused by name.',
      params: idParams,
      querystring: eInvoiceQuery,
      response: { 200: eInvoiceFile, ...errorResponses },
    },
    config: { permission: 'invoice:read' },
    handler: async ({ params, query, transaction }, reply) => {
      const profile = eInvoiceProfile(query);
      const source = await transaction((tx) => readEInvoice(tx, params.id));
      const document = eInvoiceOf(source, profile);
      const name = documentFileName(document.number);
      if (query.format === 'facturx') {
        const file = await app.documents.facturx(issuedPage(source, document), document);
        reply.header('content-disposition', `attachment; filename="${name}.pdf"`);
        return reply.type('application/pdf').send(file as never);
      }
      reply.header('content-disposition', `attachment; filename="${name}.xml"`);
      return reply.type(xmlType).send((await app.documents.eInvoice(document, query.format)) as never);
    },
  });

  app.get('/creditnotes/:id/e-invoice', {
    schema: {
      operationId: 'getElectronicCreditNote',
      tags: ['Credit Notes'],
      summary: 'Get an issued credit note as an e-invoice (EN 16931, XRechnung)',
      description: 'Its amount is gross; the tax in it is at the rates its invoice was charged with.',
      params: idParams,
      querystring: eCreditNoteQuery,
      response: { 200: eInvoiceFile, ...errorResponses },
    },
    config: { permission: 'creditnote:read' },
    handler: async ({ params, query, transaction }, reply) => {
      const profile = eInvoiceProfile(query);
      const source = await transaction((tx) => readECreditNote(tx, params.id));
      const document = eCreditNoteOf(source, profile);
      const name = documentFileName(document.number);
      if (query.format === 'facturx') {
        const file = await app.documents.facturx(creditNotePage(source, document), document);
        reply.header('content-disposition', `attachment; filename="${name}.pdf"`);
        return reply.type('application/pdf').send(file as never);
      }
      reply.header('content-disposition', `attachment; filename="${name}.xml"`);
      return reply.type(xmlType).send((await app.documents.eInvoice(document, query.format)) as never);
    },
  });
}
