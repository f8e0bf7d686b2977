import type { FastifyRequest } from 'fastify';
import { realNow } from '../../../db/clock.ts';
import { type DocumentKind, issueDocumentToken } from './document-token.ts';

/** Where `/v1` answers signed addresses; outside the reference, since only their whole text means something. */
export const documentPaths: Record<DocumentKind, string> = {
  pdf: '/documents/invoice.pdf',
  explanation: '/documents/invoice.html',
};

/**
 * An address of an invoice's PDF, or of the page that explains it, that anybody who has it may open for half an hour: of this API, under the name it was asked by.
 * Throws `not_implemented` where nothing can be signed. spec: §1.11, platform §1.9
 */
export async function documentAddress(
  request: FastifyRequest,
  invoiceId: string,
  kind: DocumentKind = 'pdf',
): Promise<string> {
  const { tenantId, environmentId } = request.scope;
  const { config } = request.server.dependencies;
  const token = await issueDocumentToken(config, { kind, invoiceId, tenantId, environmentId }, realNow());
  return `${request.protocol}://${request.host}/v1${documentPaths[kind]}?token=${token}`;
}
