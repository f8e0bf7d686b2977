import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { refuse } from '../../billing/refusal.ts';
import { realNow } from '../../db/clock.ts';
import type { Scope } from '../../db/scope.ts';
import { type Credential, findCredential, findCredentials } from '../../services/platform/credential.ts';
import { type Permission, permissionsOf, publishableRole } from '../../services/platform/roles.ts';
import { NotAuthenticated } from '../errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the caller needs: an entity and an action, or only a valid credential. Every route under /v1 declares one. */
    permission?: Permission | 'authenticated';
    /** Open to publishable keys too, which everybody can read in a page's source. No other route is. docs: api.md */
    publishable?: boolean;
  }
  interface FastifyRequest {
    /** Whose data this request may touch. */
    scope: Scope;
    /** Who is asking, and with which rights. */
    caller: Caller;
  }
  interface FastifyInstance {
    /** Forgets remembered credentials of this process, so that a removed key is refused at once. */
    forgetCredentials(): void;
    /**
     * Of callers who were admitted before, those who would be admitted to that operation now: their key, account, environment and
     * tenant are there, and their roles have the permission. Nothing that is remembered counts. One query. spec: platform §23 Sessions
     */
    stillAdmitted(callers: ReadonlySet<Caller>, permission: Permission): Promise<ReadonlySet<Caller>>;
  }
}

export interface Caller {
  /** Id of the key. */
  credentialId: string;
  /** SHA-256 of the key, by which it is found again. */
  credentialDigest: Buffer;
  userId: string;
  userType: string;
  roles: readonly string[];
  permissions: ReadonlySet<string>;
  isSuperAdmin: boolean;
}

const noKey = 'An API key is required: send it in the x-api-key header.';

/** Below the second within which a revoked key must be refused on every node. spec: platform §7 */
const rememberedMs = 500;
const rememberedKeys = 10_000;

/**
 * Credential, its share of requests, tenant state and permission of every route below, in this order and before the body is read.
 * spec: platform §2.3, §3, §4
 */
export function registerAuthentication(app: FastifyInstance): void {
  const remembered = new Map<string, { at: number; credential: Promise<Credential | null> }>();

  const credentialOf = (digest: Buffer): Promise<Credential | null> => {
    const name = digest.toString('base64');
    const known = remembered.get(name);
    if (known && Date.now() - known.at < rememberedMs) return known.credential;
    if (remembered.size >= rememberedKeys) remembered.clear();
    const credential = findCredential(app.dependencies.database, digest);
    remembered.set(name, { at: Date.now(), credential });
    // What failed or found nothing is asked again at the next request.
    credential.then((found) => found ?? remembered.delete(name)).catch(() => remembered.delete(name));
    return credential;
  };

  app.decorate('forgetCredentials', () => remembered.clear());
  app.decorate('stillAdmitted', async (callers, permission) => {
    const list = [...callers];
    const credentials = await findCredentials(
      app.dependencies.database,
      list.map(({ credentialDigest }) => credentialDigest),
    );
    return new Set(
      list.filter((_, index) => {
        const credential = credentials[index];
        return credential && !isPublishable(credential) && permissionsOf(credential.roles).has(permission);
      }),
    );
  });
  app.decorateRequest('scope');
  app.decorateRequest('caller');
  app.addHook('onRoute', requirePermission);
  app.addHook('onRequest', async (request, reply) => {
    // A key is final: a bearer token beside it is not looked at. Session tokens are not accepted yet.
    const apiKey = request.headers['x-api-key'];
    if (typeof apiKey !== 'string' || apiKey === '') throw new NotAuthenticated(noKey);
    if (apiKey.length > 512) throw new NotAuthenticated();
    const digest = hash('sha256', apiKey, 'buffer');
    const credential = await credentialOf(digest);
    if (!credential || (credential.expiresAt !== null && credential.expiresAt <= realNow())) {
      app.callerLimits.disprove(request);
      throw new NotAuthenticated();
    }
    await app.callerLimits.prove(request, reply, { subject: credential.keyId, tenantId: credential.tenantId });
    admit(request, credential, digest);
  });
}

const isPublishable = ({ roles }: Credential) => roles.includes(publishableRole);

function admit(request: FastifyRequest, credential: Credential, credentialDigest: Buffer): void {
  const permission = request.routeOptions.config.permission;
  const permissions = permissionsOf(credential.roles);
  request.scope = {
    tenantId: credential.tenantId,
    environmentId: credential.environmentId,
    actor: credential.userId,
    requestId: request.id,
  };
  request.caller = {
    credentialId: credential.keyId,
    credentialDigest,
    userId: credential.userId,
    userType: credential.userType,
    roles: credential.roles,
    permissions,
    isSuperAdmin: credential.roles.includes('super_admin'),
  };
  if (credential.tenantState === 'suspended' && isMutating(request)) {
    throw refuse('permission_denied', 'This account is suspended: it may read, but not change anything.');
  }
  if (isPublishable(credential) && !request.routeOptions.config.publishable) {
    throw refuse('permission_denied', 'A publishable key may not do this: use a private key, on a server of yours.');
  }
  if (permission !== 'authenticated' && !permissions.has(permission ?? '')) {
    throw refuse('permission_denied', `This operation needs the permission ${permission}.`);
  }
}

/** Whether a request changes something: not a GET, and not one of the POST operations that only read. spec: platform §3.2 */
export function isMutating(request: FastifyRequest): boolean {
  if (request.method === 'GET' || request.method === 'HEAD') return false;
  return !request.routeOptions.config.permission?.endsWith(':read');
}

/** Deny by default: a route that declares no permission stops the start. spec: platform §23 Authorisation */
function requirePermission(route: RouteOptions): void {
  if (route.config?.permission === undefined) {
    throw new Error(`The route ${String(route.method)} ${route.url} declares no permission.`);
  }
}
