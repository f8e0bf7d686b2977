import { verifyInvoice } from '../../db/stores/invoice-verify.ts';
import type { Api } from '../app.ts';
import { errorResponses } from '../errors.ts';
import { invoiceVerification, viewInvoiceVerification } from '../schemas/invoice-verification.ts';
import { idParams } from '../schemas/scalars.ts';

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
}
