import { createHash } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { refuse } from '../../billing/refusal.ts';
import type { Config } from '../../config.ts';
import { NotAuthenticated } from '../errors.ts';

/** Keeps portal tokens out of everything else and everything else out of the portal. spec: platform §3.1 */
const audience = 'perennial:customer-portal';
const algorithm = 'HS256';
const leewaySeconds = 30;
const lifetimeSeconds = 3_600;

/** Whom a portal session shows: all there is to know comes from the token. */
export interface PortalClaims {
  customerId: string;
  externalCustomerId: string;
  tenantId: string;
  environmentId: string;
}

export interface PortalSession {
  url: string;
  token: string;
  expiresAt: string;
}

export type PortalConfig = Partial<Pick<Config, 'portalUrl' | 'portalSigningKeys'>>;

/**
 * A session of an hour for one customer: the address of the portal with the token in its fragment, which browsers send to no
 * server. Throws `not_implemented` where the installation has no signing key. spec: platform §11
 */
export async function issuePortalSession(
  config: PortalConfig,
  claims: PortalClaims,
  now: string,
): Promise<PortalSession> {
  const [key] = config.portalSigningKeys ?? [];
  if (key === undefined) {
    throw refuse('not_implemented', 'the customer portal is not configured; set PORTAL_SIGNING_KEYS for the API');
  }
  const issuedAt = Math.floor(Date.parse(now) / 1000);
  const expiresAt = issuedAt + lifetimeSeconds;
  const token = await new SignJWT({
    customer_id: claims.customerId,
    external_customer_id: claims.externalCustomerId,
    tenant_id: claims.tenantId,
    environment_id: claims.environmentId,
  })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: keyId(key) })
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(secretOf(key));
  return {
    url: `${config.portalUrl ?? ''}#token=${token}`,
    token,
    expiresAt: new Date(expiresAt * 1000).toISOString(),
  };
}

/**
 * Whom a token shows. The algorithm is ours to say, not the token's; every configured key is accepted, so that keys can be
 * exchanged. Throws NotAuthenticated for anything malformed, expired, foreign or without an id. spec: platform §3.1
 */
export async function readPortalToken(config: PortalConfig, token: string, now: string): Promise<PortalClaims> {
  const keys = new Map((config.portalSigningKeys ?? []).map((key) => [keyId(key), secretOf(key)]));
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => {
        const key = keys.get(kid ?? '');
        if (!key) throw new errors.JWSInvalid('the token names an unknown key');
        return key;
      },
      {
        algorithms: [algorithm],
        audience,
        clockTolerance: leewaySeconds,
        currentDate: new Date(now),
        requiredClaims: ['exp', 'iat'],
      },
    );
    return {
      customerId: idOf(payload.customer_id),
      externalCustomerId: idOf(payload.external_customer_id),
      tenantId: idOf(payload.tenant_id),
      environmentId: idOf(payload.environment_id),
    };
  } catch (error) {
    if (error instanceof errors.JOSEError) throw notInSession();
    throw error;
  }
}

/** The one answer to whatever is no session of the portal. spec: platform §3.1 */
export function notInSession(): NotAuthenticated {
  return new NotAuthenticated('A valid portal session is required in the X-Session-Token header.');
}

function idOf(claim: unknown): string {
  if (typeof claim !== 'string' || claim === '') throw notInSession();
  return claim;
}

function secretOf(key: string): Uint8Array {
  return new TextEncoder().encode(key);
}

/** Names a key without giving anything of it away. */
function keyId(key: string): string {
  return createHash('sha256').update(`perennial portal key ${key}`).digest('hex').slice(0, 16);
}
