import { z } from 'zod';
import type { SigningSecret } from '../../services/event/webhook/endpoint-secret.ts';
import { timestampOutput } from '../scalars.schema.ts';

/** Signing secret that a receiver brings. spec: platform §17.5 Signature */
export const ownSecret = z.string().refine(isSecret, 'must be whsec_ and the base64 of 24 to 64 bytes');

export const rotateSecretBody = z
  .object({ secret: ownSecret.nullish(), expire_old_now: z.boolean().nullish() })
  .nullish()
  .meta({ examples: [{ expire_old_now: false }] });

const signingSecret = z.object({ secret: z.string(), expires_at: timestampOutput().nullable() });
export const endpointSecrets = z
  .object({ secret: z.string(), secrets: z.array(signingSecret) })
  .meta({ id: 'WebhookEndpointSecret' });

/** Secrets that sign, the present one first. */
export function viewSecrets(secrets: readonly SigningSecret[]): z.output<typeof endpointSecrets> {
  return {
    secret: secrets[0]?.secret ?? '',
    secrets: secrets.map(({ secret, expiresAt }) => ({ secret, expires_at: expiresAt })),
  };
}

function isSecret(text: string): boolean {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1] ?? '';
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === encoded;
}
