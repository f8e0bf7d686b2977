import { z } from 'zod';
import { realNow } from '../../db/clock.ts';
import { findCustomerByExternalId } from '../../services/customer/customer.ts';
import type { Api } from '../api.ts';
import { errorResponses, notBuiltResponse } from '../errors.ts';
import { portalSession } from './portal.schema.ts';
import { issuePortalSession } from './portal-token.ts';

const externalIdParams = z.object({ external_id: z.string().min(1).max(255) });

/** Sessions of the customer portal, which an operator's own server asks for. spec: platform §11 */
export async function portalSessionRoutes(app: Api): Promise<void> {
  app.get('/customers/portal/:external_id', {
    schema: {
      operationId: 'createPortalSession',
      tags: ['Customer portal'],
      summary: 'A portal session of an hour for the customer with an external id',
      params: externalIdParams,
      response: { 200: portalSession, ...errorResponses, ...notBuiltResponse },
    },
    config: { permission: 'customer:read', carriesCredential: true },
    handler: async ({ params, transaction }) => {
      const customer = await transaction((tx) => findCustomerByExternalId(tx, params.external_id));
      const { id: customerId, externalId: externalCustomerId, tenantId, environmentId } = customer;
      const claims = { customerId, externalCustomerId, tenantId, environmentId };
      const session = await issuePortalSession(app.dependencies.config, claims, realNow());
      return { url: session.url, token: session.token, expires_at: session.expiresAt };
    },
  });
}
