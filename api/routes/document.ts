import { z } from 'zod';
import { realNow } from '../../db/clock.ts';
import { readInvoicePage } from '../../db/stores/invoice-page.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Api } from '../app.ts';
import { documentPath } from '../document-address.ts';
import { documentFileName } from '../document-file.ts';
import { readDocumentToken } from '../document-token.ts';
import { invoicePage } from '../invoice-page.ts';

const maxTokenLength = 2_048;

/** Documents behind signed addresses: the token is all that is needed, and all that is looked at. spec: platform §23 Files */
export async function documentRoutes(app: Api): Promise<void> {
  app.get(documentPath, {
    schema: { hide: true, querystring: z.object({ token: z.string().max(maxTokenLength).default('') }) },
    handler: async (request, reply) => {
      const { config, database } = app.dependencies;
      const { invoiceId, ...owner } = await readDocumentToken(config, request.query.token, realNow());
      const scope = { ...owner, actor: 'document', requestId: request.id };
      const source = await inTransaction(database, scope, (tx) => readInvoicePage(tx, invoiceId));
      const { row } = source.invoice;
      const file = await app.documents.pdf(invoicePage(source));
      reply.header('cache-control', 'private, no-store');
      reply.header(
        'content-disposition',
        `attachment; filename="${documentFileName(row.invoiceNumber ?? row.id)}.pdf"`,
      );
      return reply.type('application/pdf').send(file as never);
    },
  });
}
