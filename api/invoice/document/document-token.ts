import { createHash } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { refuse } from '../../../billing/refusal.ts';
import type { PortalConfig } from '../../customer/portal-token.ts';

/** Keeps addresses of documents apart from portal sessions, which the same keys sign. spec: platform §23 Files */
const audience = 'perennial:document';
const algorithm = 'HS256';
const lifetimeSeconds = 1_800;

/** What of an invoice an address opens. */
export type DocumentKind = 'pdf' | 'explanation';

/** The document an address opens, and whose it is. */
export interface DocumentClaims {
  kind: DocumentKind;
  invoiceId: string;
  tenantId: string;
  environmentId: string;
}

/**
 * A token that opens one document for half an hour and nothing else. Throws `not_implemented` where the installation has no
 * signing key. spec: platform §1.9
 */
export async function issueDocumentToken(config: PortalConfig, claims: DocumentClaims, now: string): Promise<string> {
  const [key] = config.portalSigningKeys ?? [];
  if (key === undefined) {
    const problem = 'addresses of documents are not configured; set PORTAL_SIGNING_KEYS for the API, or leave url out';
    throw refuse('not_implemented', problem, { fields: { url: 'needs PORTAL_SIGNING_KEYS' } });
  }
  const issuedAt = Math.floor(Date.parse(now) / 1000);
  return new SignJWT({
    document: claims.kind,
    invoice_id: claims.invoiceId,
    tenant_id: claims.tenantId,
    environment_id: claims.environmentId,
  })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: keyId(key) })
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifetimeSeconds)
    .sign(secretOf(key));
}

/**
 * What a token opens. The algorithm is ours to say, not the token's; every configured key is accepted, so that keys can be
 * exchanged. Throws `permission_denied` for one that ended, was not made here or opens another kind of document.
 */
export async function readDocumentToken(
  config: PortalConfig,
  token: string,
  kind: DocumentKind,
  now: string,
): Promise<Omit<DocumentClaims, 'kind'>> {
  const keys = new Map((config.portalSigningKeys ?? []).map((key) => [keyId(key), secretOf(key)]));
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => {
        const key = keys.get(kid ?? '');
        if (!key) throw new errors.JWSInvalid('the token names an unknown key');
        return key;
      },
      { algorithms: [algorithm], audience, currentDate: new Date(now), requiredClaims: ['exp', 'iat'] },
    );
    if (payload.document !== kind) throw new errors.JWTInvalid('the token is of another document');
    return {
      invoiceId: String(payload.invoice_id),
      tenantId: String(payload.tenant_id),
      environmentId: String(payload.environment_id),
    };
  } catch (error) {
    if (error instanceof errors.JWTExpired) {
      throw refuse('permission_denied', 'This address has expired; ask for a new one.', { expired: true });
    }
    if (error instanceof errors.JOSEError) throw refuse('permission_denied', 'This address opens nothing.');
    throw error;
  }
}

function secretOf(key: string): Uint8Array {
  return new TextEncoder().encode(key);
}

/** Names a key without giving anything of it away. */
function keyId(key: string): string {
  return createHash('sha256').update(`perennial document key ${key}`).digest('hex').slice(0, 16);
}
