import { randomBytes } from 'node:crypto';
import { refuse } from '../../../billing/refusal.ts';
import type { WebhookEndpoint } from '../../../db/entities/event/webhook-endpoint.ts';
import { badField } from '../../../db/rows/record.ts';
import { type EnvelopeKey, openSecret, sealSecret, UnknownEnvelopeKey } from '../../platform/sealed-secret.ts';

/** Secrets of an endpoint, for its receiver alone: those its events are signed with, and the values of its headers. */
export interface EndpointSecrets {
  /** `whsec_` and the base64 of 24 to 64 bytes. */
  secret: string;
  /** Secrets that were replaced and sign for a while yet, the latest first; absent before the first was. */
  former?: readonly FormerSecret[];
  /** Values by name, in lower case. */
  headers: Readonly<Record<string, string>>;
}

/** Signing secret that was replaced. */
export interface FormerSecret {
  secret: string;
  /** Real instant from which it signs no more. */
  expiresAt: string;
}

/** Signing secret as people see it: null for the present one, which does not expire. */
export type SigningSecret = Pick<FormerSecret, 'secret'> & { expiresAt: string | null };

/** An endpoint as far as its secrets are opened. */
export type SealedEndpoint = Pick<
  WebhookEndpoint,
  'id' | 'tenantId' | 'environmentId' | 'secretKeyId' | 'secretNonce' | 'secretCiphertext'
>;

const secretBytes = 32;

/** A new signing secret. spec: platform §17.5 Signature */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`;
}

/** Most secrets that sign at one time. design: people-and-events §B 21 */
const mostSecrets = 3;
const formerMs = 24 * 3_600_000;

/** Secrets that sign at an instant, in milliseconds of real time: the present one first, then those it replaced. spec: platform §17.4 */
export function signingSecrets({ secret, former = [] }: EndpointSecrets, nowMs: number): SigningSecret[] {
  return [{ secret, expiresAt: null }, ...former.filter(({ expiresAt }) => Date.parse(expiresAt) > nowMs)];
}

/**
 * Secrets of an endpoint with another one in the place of the present one, which signs for 24 hours yet beside it, or not at all with
 * `expireOldNow`, by which all former ones expire too. Throws `invalid_operation` where three sign already, and `validation_error` for a
 * secret that signs already. spec: platform §17.4; design: people-and-events §B 21
 */
export function rotatedSecrets(
  current: EndpointSecrets,
  { secret, expireOldNow }: { secret: string; expireOldNow: boolean },
  nowMs: number,
): EndpointSecrets {
  const signing = signingSecrets(current, nowMs);
  if (signing.some((each) => each.secret === secret))
    throw badField('secret', 'must not be one of the secrets that sign already');
  if (expireOldNow) return { ...current, secret, former: [] };
  if (signing.length >= mostSecrets) {
    throw refuse(
      'invalid_operation',
      `${mostSecrets} secrets sign at present, and no more may; the oldest expires at ${signing.at(-1)?.expiresAt}: wait until then, or send expire_old_now with true`,
    );
  }
  const expiresAt = new Date(nowMs + formerMs).toISOString();
  const former = signing.map((each) => ({ secret: each.secret, expiresAt: each.expiresAt ?? expiresAt }));
  return { ...current, secret, former };
}

/**
 * Puts secrets into the row of an endpoint, sealed with the first key for this endpoint of this environment alone. Throws
 * `not_implemented` where the installation has no key. design: people-and-events §B 25
 */
export function sealEndpoint(keys: readonly EnvelopeKey[], row: WebhookEndpoint, secrets: EndpointSecrets): void {
  const [key] = keys;
  if (!key) {
    const problem = 'secrets of webhook endpoints cannot be kept here; set SECRET_ENCRYPTION_KEYS for API and workers';
    throw refuse('not_implemented', problem, { fields: { secret: 'needs SECRET_ENCRYPTION_KEYS' } });
  }
  const sealed = sealSecret(key, placeOf(row), JSON.stringify(secrets));
  row.secretKeyId = sealed.keyId;
  row.secretNonce = sealed.nonce;
  row.secretCiphertext = sealed.ciphertext;
}

/** The secrets of an endpoint. Throws `not_implemented` when the key they are sealed with is not configured any more. */
export function openEndpoint(keys: readonly EnvelopeKey[], row: SealedEndpoint): EndpointSecrets {
  if (!row.secretKeyId || !row.secretNonce || !row.secretCiphertext) {
    throw new Error(`webhook endpoint ${row.id} has no secrets`);
  }
  const sealed = { keyId: row.secretKeyId, nonce: row.secretNonce, ciphertext: row.secretCiphertext };
  try {
    return JSON.parse(openSecret(keys, placeOf(row), sealed)) as EndpointSecrets;
  } catch (error) {
    if (!(error instanceof UnknownEnvelopeKey)) throw error;
    throw refuse(
      'not_implemented',
      `the secrets of webhook endpoint ${row.id} are sealed with the key ${error.keyId}, which is not configured; give it back to SECRET_ENCRYPTION_KEYS, or delete the endpoint and make another`,
      { fields: { secret: `sealed with the unknown key ${error.keyId}` } },
    );
  }
}

function placeOf({ tenantId, environmentId, id }: SealedEndpoint): readonly string[] {
  return [tenantId, environmentId, id];
}
