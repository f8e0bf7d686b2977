import type { FastifyRequest } from 'fastify';
import { realNow } from '../db/clock.ts';
import { issueDocumentToken } from './document-token.ts';

/** Where `/v1` answers signed addresses; outside the reference, since only their whole text means something. */
export const documentPath = '/documents/invoice.pdf';

/**
 * An address of an invoice's PDF that anybody who has it may open for half an hour: of this API, under the name it was asked by.
 * Throws `not_implemented` where nothing can be signed. spec: §1.11, platform §1.9
 */
export async function documentAddress(request: FastifyRequest, invoiceId: string): Promise<string> {
  const { tenantId, environmentId } = request.scope;
  const { config } = request.server.dependencies;
  const token = await issueDocumentToken(config, { invoiceId, tenantId, environmentId }, realNow());
  return `${request.protocol}://${request.host}/v1${documentPath}?token=${token}`;
}
