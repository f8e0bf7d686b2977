import type { FastifyRequest } from 'fastify';
import { refuse } from '../billing/refusal.ts';
import { badField } from '../db/record.ts';
import type { ConnectionSecrets } from '../db/stores/platform/connection-secret.ts';

/**
 * The account at a provider that secrets belong to, asked for outside any transaction before they are kept; null where the provider does
 * not say, as for restricted keys, or is not spoken to. Throws `validation_error` for a key that the provider refuses and
 * `service_unavailable` when it does not answer; nothing is written then. design: money-in-checkout §A1
 */
export async function providerAccountOf(
  request: FastifyRequest,
  provider: string,
  secrets: ConnectionSecrets | null,
  field = 'encrypted_secret_data',
): Promise<string | null> {
  const adapter = request.server.dependencies.providers?.get(provider);
  if (!adapter || secrets === null) return null;
  const account = await adapter.account(secrets);
  if (account.status === 'refused') throw badField(`${field}.${account.member}`, `is refused by ${provider}`);
  if (account.status === 'unknown') {
    throw refuse(
      'service_unavailable',
      `${provider} could not be asked whose key this is; nothing was kept, send it again`,
    );
  }
  return account.id;
}

/** True when secrets hold another key to call a provider with; a new secret that only verifies notifications is none. */
export function isOtherKey(before: ConnectionSecrets, after: ConnectionSecrets): boolean {
  const calling = (secrets: ConnectionSecrets) =>
    JSON.stringify(
      Object.entries(secrets)
        .filter(([member]) => !member.startsWith('webhook_'))
        .sort(),
    );
  return calling(before) !== calling(after);
}
