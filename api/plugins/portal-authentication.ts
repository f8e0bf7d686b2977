import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refuse } from '../../billing/refusal.ts';
import { realNow } from '../../db/clock.ts';
import { portalTenantState } from '../../services/across/portal.ts';
import { notInSession, readPortalToken } from '../customer/portal-token.ts';
import { isMutating } from './authentication.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The one customer a portal session shows. */
    portalCustomerId: string;
  }
}

const maxTokenLength = 4_096;

/**
 * The session of every route below: tenant, environment and customer come from the token and from nowhere else, and the
 * customer is looked up at every request, so that a deleted one is out at once. spec: platform §3.1, §11
 */
export function registerPortalAuthentication(app: FastifyInstance): void {
  app.decorateRequest('scope');
  app.decorateRequest('portalCustomerId', '');
  app.addHook('onRequest', async (request, reply) => {
    const { config, database } = app.dependencies;
    const claims = await readPortalToken(config, tokenOf(request), realNow());
    const tenantState = await portalTenantState(database, claims);
    if (tenantState === null) throw notInSession();
    const { customerId, tenantId, environmentId } = claims;
    await app.callerLimits.prove(request, reply, { subject: customerId, tenantId });
    request.scope = { tenantId, environmentId, actor: customerId, requestId: request.id };
    request.portalCustomerId = customerId;
    if (tenantState === 'suspended' && isMutating(request)) {
      throw refuse('permission_denied', 'This account is suspended: it may read, but not change anything.');
    }
  });
}

function tokenOf(request: FastifyRequest): string {
  const bearer = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const token = request.headers['x-session-token'] ?? bearer;
  if (typeof token !== 'string' || token === '' || token.length > maxTokenLength) throw notInSession();
  return token;
}
