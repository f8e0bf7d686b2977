import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../../billing/refusal.ts';
import { addressGroup } from '../address-group.ts';
import { type Allowance, type SharedLimit, sharedLimit } from '../shared-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The address this request is counted for until its credential is proven. */
    chargedAddress: string;
  }
  interface FastifyInstance {
    callerLimits: CallerLimits;
  }
}

/** Caller whose credential was looked up. */
export interface CallerLimits {
  /**
   * The credential is good: the request no longer counts for its address, but for the caller and its tenant. Throws
   * `too_many_requests` with Retry-After when one of them has had its share.
   */
  prove(request: FastifyRequest, reply: FastifyReply, caller: { subject: string; tenantId: string }): Promise<void>;
  /** The request showed who sent it by other means than a credential, and counts for nobody. */
  spare(request: FastifyRequest): Promise<void>;
  /** The credential is not, or no longer, good: its next request counts for its address. */
  disprove(request: FastifyRequest): void;
  /** Brings what was counted to the other processes now. */
  report(): Promise<void>;
}

/** Two seconds allow the rate on average and twice the rate as a burst. spec: platform §1.9 */
const callerWindowSeconds = 2;
/** A page and its parts, or a handful of mistakes, come at once; guessing goes on and on. */
const addressWindowSeconds = 10;
/** A credential that was good this long ago is not held up by what others at its address do. */
const provenMs = 600_000;
const provenCredentials = 10_000;

/**
 * Limits requests by address until a credential is proven, then by credential and by tenant, over all processes of the API.
 * Only `x-api-key`, a session token or `Authorization` that was proven before spares an address; a text nobody knows does not.
 * The address is that of the socket unless TRUST_PROXY says otherwise. spec: platform §1.9
 */
export function registerRateLimit(app: FastifyInstance, isExempt: (request: FastifyRequest) => boolean): void {
  const limits = limitsOf(app);
  const proven = new Map<string, number>();
  app.decorateRequest('chargedAddress', '');

  const isProven = (request: FastifyRequest): boolean => {
    const name = credentialName(request);
    const at = name === null ? undefined : proven.get(name);
    return at !== undefined && Date.now() - at < provenMs;
  };
  const { address: addressLimit } = limits;
  if (addressLimit) {
    app.addHook('onRequest', async (request, reply) => {
      if (isExempt(request) || (!request.is404 && isProven(request))) return;
      const address = addressGroup(request.ip);
      refuseWhenUsedUp(reply, await addressLimit.take(address), 'from this address without a valid credential');
      request.chargedAddress = address;
    });
  }
  const spare = async (request: FastifyRequest): Promise<void> => {
    if (request.chargedAddress !== '') await limits.address?.giveBack(request.chargedAddress);
    request.chargedAddress = '';
  };
  app.decorate('callerLimits', {
    spare,
    async prove(request, reply, { subject, tenantId }) {
      if (limits.address) {
        const name = credentialName(request);
        if (proven.size >= provenCredentials) proven.clear();
        if (name !== null) proven.set(name, Date.now());
      }
      await spare(request);
      if (limits.caller) {
        const allowance = await limits.caller.take(subject);
        tellAllowance(reply, allowance);
        refuseWhenUsedUp(reply, allowance, 'with this credential');
      }
      if (limits.tenant) refuseWhenUsedUp(reply, await limits.tenant.take(tenantId), 'with the keys of this account');
    },
    disprove(request) {
      const name = credentialName(request);
      if (name !== null) proven.delete(name);
    },
    async report() {
      await Promise.all([limits.address?.report(), limits.caller?.report(), limits.tenant?.report()]);
    },
  });
  app.addHook('onClose', async () => {
    for (const limit of Object.values(limits)) limit?.close();
  });
}

function limitsOf({ dependencies: { config, database } }: FastifyInstance): {
  address: SharedLimit | null;
  caller: SharedLimit | null;
  tenant: SharedLimit | null;
} {
  const limit = (name: string, perSecond: number | undefined, windowSeconds: number) =>
    perSecond ? sharedLimit({ pool: database.pool, name, perSecond, windowSeconds }) : null;
  return {
    address: limit('address', config.rateLimitPerAddressPerSecond, addressWindowSeconds),
    caller: limit('caller', config.rateLimitPerSecond, callerWindowSeconds),
    tenant: limit('tenant', config.rateLimitPerTenantPerSecond, callerWindowSeconds),
  };
}

/** The digest of what the caller shows; the text itself is not kept. */
function credentialName({ headers }: FastifyRequest): string | null {
  const text = headers['x-api-key'] ?? headers['x-session-token'] ?? headers.authorization;
  return typeof text === 'string' && text !== '' ? hash('sha256', text, 'base64') : null;
}

function tellAllowance(reply: FastifyReply, { limit, remaining }: Allowance): void {
  void reply.header('x-ratelimit-limit', limit).header('x-ratelimit-remaining', remaining);
}

function refuseWhenUsedUp(reply: FastifyReply, { waitMs }: Allowance, whose: string): void {
  if (waitMs === 0) return;
  const seconds = Math.ceil(waitMs / 1_000);
  void reply.header('retry-after', String(seconds));
  throw refuse('too_many_requests', `There were too many requests ${whose}: try again in ${seconds} s.`);
}
