import { z } from 'zod';
import { badField } from '../../db/rows/record.ts';
import { providerNamed } from '../../integrations/providers.ts';
import type { ConnectionSecrets } from '../../services/integration/connection-secret.ts';
import { firstIssue } from '../validation.ts';

/** What verifies webhooks and may be exchanged without the rest. spec: platform §13 PUT */
const webhookMembers = new Set(['webhook_secret', 'webhook_username', 'webhook_password', 'webhook_verifier_token']);

/** Secrets as they were sent: flat, or under the name of the provider. */
export const secretsInput = () => z.record(z.string(), z.unknown());

interface SentSecrets {
  provider: string;
  /** The wire path of the members, for messages. */
  path: string;
  sent: Record<string, unknown>;
}

/**
 * The secrets of a provider, checked whole. `field` is where they were sent. Throws `validation_error` that names the member and
 * never shows a value. spec: platform §13
 */
export function readSecrets(
  provider: string,
  data: Record<string, unknown> | null | undefined,
  field = 'encrypted_secret_data',
): ConnectionSecrets {
  if (!data) throw badField(field, `is required; ${provider} takes ${membersOf(provider)}`);
  return complete(membersSent(provider, data, field));
}

/**
 * The secrets after a change: where only what verifies webhooks was sent, the rest stays (null takes an optional one away); else
 * what was sent is all there is. spec: platform §13 PUT
 */
export function changedSecrets(
  provider: string,
  data: Record<string, unknown>,
  current: () => ConnectionSecrets,
  field = 'encrypted_secret_data',
): ConnectionSecrets {
  const sent = membersSent(provider, data, field);
  const names = Object.keys(sent.sent);
  const isAboutWebhooks = names.length > 0 && names.every((name) => webhookMembers.has(name));
  return complete(isAboutWebhooks ? { ...sent, sent: { ...current(), ...sent.sent } } : sent);
}

function membersSent(provider: string, data: Record<string, unknown>, field: string): SentSecrets {
  const { [provider]: nested, ...flat } = data;
  if (nested === undefined || nested === null) return { provider, path: field, sent: flat };
  const path = `${field}.${provider}`;
  if (typeof nested !== 'object' || Array.isArray(nested)) throw badField(path, 'must be an object of secrets');
  const [beside] = Object.keys(flat).filter((name) => flat[name] !== null);
  if (beside !== undefined) {
    throw badField(`${field}.${beside}`, `must not stand beside ${path}; send the secrets flat or nested, not both`);
  }
  return { provider, path, sent: nested as Record<string, unknown> };
}

function complete({ provider, path, sent }: SentSecrets): ConnectionSecrets {
  const schema = providerNamed(provider).secrets;
  const given = Object.entries(sent).filter(([, value]) => value !== null);
  for (const [name] of given) {
    if (!Object.hasOwn(schema.shape, name)) {
      throw badField(`${path}.${name}`, `is no secret of ${provider}; it takes ${membersOf(provider)}`);
    }
  }
  const result = schema.safeParse(Object.fromEntries(given));
  if (!result.success) {
    const { field, reason } = firstIssue(result.error.issues);
    throw badField(`${path}.${field}`, reason);
  }
  const kept = Object.entries(result.data).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as ConnectionSecrets;
}

function membersOf(provider: string): string {
  return Object.keys(providerNamed(provider).secrets.shape).join(', ');
}
