import { readPrintedInvoice } from '../../../services/invoice/document/invoice-page.ts';
import { verifyInvoice } from '../../../services/invoice/document/invoice-verify.ts';
import type { Api } from '../../api.ts';
import { errorResponses, notBuiltResponse } from '../../errors.ts';
import { idParams } from '../../scalars.schema.ts';
import { invoiceVerification, viewInvoiceVerification } from '../invoice-verification.schema.ts';
import { documentAddress } from './document-address.ts';
import { documentFileName } from './document-file.ts';
import { invoicePdf, invoicePdfQuery } from './invoice-pdf.schema.ts';
import { printedInvoice } from './paper-page.ts';

const tags = ['Invoices'];

/** The document of a finalized invoice. design: quality.md I19 */
export async function invoiceDocumentRoutes(app: Api): Promise<void> {
  app.get('/invoices/:id/verify', {
    schema: {
      operationId: 'verifyInvoice',
      tags,
      summary: 'Verify that a finalized invoice is what it was, and that its amounts follow',
      description:
        'Computes the hash of the document again, compares it with the seal and its neighbours in the number sequence, and derives every amount anew.',
      params: idParams,
      response: { 200: invoiceVerification, ...errorResponses },
    },
    config: { permission: 'invoice:read' },
    handler: async ({ params, transaction }) =>
      transaction(async (tx) => viewInvoiceVerification(await verifyInvoice(tx, params.id))),
  });

  app.get('/invoices/:id/pdf', {
    schema: {
      operationId: 'getInvoicePdf',
      tags,
      summary: 'Get the document of an invoice as PDF/A',
      description:
        'The seller is the tenant with its billing details; logo, footer, colour and paper are the setting invoice_pdf_config.',
      params: idParams,
      querystring: invoicePdfQuery,
      response: { 200: invoicePdf, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'invoice:read' },
    handler: async (request, reply) => {
      const { url, force_generate } = request.query;
      const source = await request.transaction((tx) => readPrintedInvoice(tx, request.params.id));
      const { row } = source.invoice;
      if (url === true) {
        const given = force_generate === true ? null : row.invoicePdfUrl;
        return { presigned_url: given || (await documentAddress(request, row.id)) };
      }
      const name = documentFileName(row.invoiceNumber ?? row.id);
      reply.header('content-disposition', `inline; filename="${name}.pdf"`);
      // Bytes go out as they are; the schema tells what they are.
      return reply.type('application/pdf').send((await app.documents.pdf(printedInvoice(source))) as never);
    },
  });
}
