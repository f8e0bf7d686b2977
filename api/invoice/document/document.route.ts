import { z } from 'zod';
import { realNow } from '../../../db/clock.ts';
import { inTransaction, type Transaction } from '../../../db/transaction.ts';
import { renderExplanationPage } from '../../../integrations/explanation-page/render.ts';
import { lateUsageReader } from '../../../metering/late-usage.ts';
import { readInvoiceEvidence } from '../../../services/invoice/document/invoice-explain.ts';
import { readInvoicePage, readPrintedInvoice } from '../../../services/invoice/document/invoice-page.ts';
import type { Api } from '../../api.ts';
import { documentPaths } from './document-address.ts';
import { documentFileName } from './document-file.ts';
import { type DocumentKind, readDocumentToken } from './document-token.ts';
import { explanationPage } from './explanation-page.ts';
import { printedInvoice } from './paper-page.ts';

const maxTokenLength = 2_048;
const querystring = z.object({ token: z.string().max(maxTokenLength).default('') });
const hidden = { schema: { hide: true, querystring } } as const;

/** Documents behind signed addresses: the token is all that is needed, and all that is looked at. spec: platform §23 Files */
export async function documentRoutes(app: Api): Promise<void> {
  /** What `read` finds of the invoice that the token opens, in whose name it was signed. */
  const opened = async <Found>(
    request: { id: string; query: { token: string } },
    kind: DocumentKind,
    read: (tx: Transaction, invoiceId: string) => Promise<Found>,
  ): Promise<Found> => {
    const { config, database } = app.dependencies;
    const { invoiceId, ...owner } = await readDocumentToken(config, request.query.token, kind, realNow());
    const scope = { ...owner, actor: 'document', requestId: request.id };
    return inTransaction(database, scope, (tx) => read(tx, invoiceId));
  };
  const attachment = (
    { invoiceNumber, id }: { invoiceNumber?: string | null | undefined; id: string },
    extension: string,
  ) => `attachment; filename="${documentFileName(invoiceNumber ?? id)}.${extension}"`;

  app.get(documentPaths.pdf, {
    ...hidden,
    handler: async (request, reply) => {
      const source = await opened(request, 'pdf', readPrintedInvoice);
      const file = await app.documents.pdf(printedInvoice(source));
      reply.header('cache-control', 'private, no-store');
      reply.header('content-disposition', attachment(source.invoice.row, 'pdf'));
      return reply.type('application/pdf').send(file as never);
    },
  });

  app.get(documentPaths.explanation, {
    ...hidden,
    handler: async (request, reply) => {
      const readLate = lateUsageReader(app.dependencies.metering);
      const { evidence, source } = await opened(request, 'explanation', async (tx, id) => ({
        evidence: await readInvoiceEvidence(tx, id, readLate),
        source: await readInvoicePage(tx, id),
      }));
      const page = renderExplanationPage(explanationPage(evidence, source));
      reply.header('cache-control', 'private, no-store');
      reply.header('content-security-policy', page.contentSecurityPolicy);
      reply.header('content-disposition', attachment(source.invoice.row, 'html'));
      return reply.type('text/html; charset=utf-8').send(page.html as never);
    },
  });
}
