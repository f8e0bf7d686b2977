import { randomBytes } from 'node:crypto';
import { refuse } from '../../../billing/refusal.ts';
import type { WebhookEndpoint } from '../../../db/entities/event/webhook-endpoint.ts';
import { type EnvelopeKey, openSecret, sealSecret, UnknownEnvelopeKey } from '../../platform/sealed-secret.ts';

/** Secrets of an endpoint, for its receiver alone: the secret its events are signed with, and the values of its headers. */
export interface EndpointSecrets {
  /** `whsec_` and the base64 of 24 to 64 bytes. */
  secret: string;
  /** Values by name, in lower case. */
  headers: Readonly<Record<string, string>>;
}

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
