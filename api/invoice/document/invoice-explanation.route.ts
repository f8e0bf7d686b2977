import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { renderExplanationPage } from '../../../integrations/explanation-page/render.ts';
import { lateUsageReader } from '../../../metering/late-usage.ts';
import { readInvoiceEvidence } from '../../../services/invoice/document/invoice-explain.ts';
import { readInvoicePage } from '../../../services/invoice/document/invoice-page.ts';
import { findInvoice } from '../../../services/invoice/read/invoice-read.ts';
import type { Api } from '../../api.ts';
import { errorResponses, notBuiltResponse } from '../../errors.ts';
import { booleanQuery, idParams } from '../../scalars.schema.ts';
import { documentAddress } from './document-address.ts';
import { explanationPage } from './explanation-page.ts';
import { invoiceExplanation, viewInvoiceExplanation } from './invoice-explanation.schema.ts';
import { presignedUrl } from './invoice-pdf.schema.ts';

const explainQuery = z.object({
  format: z.enum(['json', 'html']).optional().describe('Instead of what the Accept header asks for.'),
  url: booleanQuery().optional().describe('true: an address of the page, which opens for 30 minutes without a key.'),
});

/** Why an invoice is what it is, for programs and for whoever pays it. design: architecture §7 */
export async function invoiceExplanationRoutes(app: Api): Promise<void> {
  app.get('/invoices/:id/explain', {
    schema: {
      operationId: 'explainInvoice',
      tags: ['Invoices'],
      summary: 'Explain every amount, date and payment of an invoice',
      description:
        'Reads the derivation that was stored when each line was computed; nothing is computed again. `late_usage` counts what arrived after the invoice was final, as of now. With `format=html`, or when `Accept` prefers `text/html`, the answer is a self-contained page to show or send to the customer.',
      params: idParams,
      querystring: explainQuery,
      response: { 200: z.union([invoiceExplanation, presignedUrl]), ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'invoice:read' },
    handler: async (request, reply) => {
      const readLate = lateUsageReader(app.dependencies.metering);
      const { id } = request.params;
      reply.header('vary', 'accept');
      if (request.query.url === true) {
        const { row } = await request.transaction((tx) => findInvoice(tx, id, { lines: false, customer: false }));
        return { presigned_url: await documentAddress(request, row.id, 'explanation') };
      }
      if (!wantsPage(request, request.query.format)) {
        return request.transaction(async (tx) => viewInvoiceExplanation(await readInvoiceEvidence(tx, id, readLate)));
      }
      const page = await request.transaction(async (tx) => {
        const evidence = await readInvoiceEvidence(tx, id, readLate);
        return explanationPage(evidence, await readInvoicePage(tx, id));
      });
      return sendPage(reply, renderExplanationPage(page)) as never;
    },
  });
}

/** What a caller without a preference gets is JSON. */
function wantsPage(request: FastifyRequest, format: 'json' | 'html' | undefined): boolean {
  if (format !== undefined) return format === 'html';
  return request.accepts().type(['application/json', 'text/html']) === 'text/html';
}

/** A page under its own policy, which no cache keeps. */
function sendPage(reply: FastifyReply, page: ReturnType<typeof renderExplanationPage>): FastifyReply {
  return reply
    .header('content-security-policy', page.contentSecurityPolicy)
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(page.html);
}
