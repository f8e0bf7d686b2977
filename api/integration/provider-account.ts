import type { FastifyRequest } from 'fastify';
import { refuse } from '../../billing/refusal.ts';
import { badField } from '../../db/rows/record.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { providerNamed } from '../../integrations/providers.ts';
import { refuseOtherMode, type ToldMode } from '../../services/integration/connection-mode.ts';
import type { ConnectionSecrets } from '../../services/integration/connection-secret.ts';

/**
 * The account at a provider that secrets belong to, asked for outside any transaction before they are kept; null where the provider does
 * not say, as for restricted keys, or is not spoken to. Throws `validation_error` for a key that the provider refuses, or says to be of the
 * other mode than this environment's, and `service_unavailable` when it does not answer; nothing is written then.
 * design: money-in-checkout §A1, §A12
 */
export async function providerAccountOf(
  request: FastifyRequest,
  provider: string,
  secrets: ConnectionSecrets | null,
  field = 'encrypted_secret_data',
): Promise<string | null> {
  const { database, providers } = request.server.dependencies;
  const adapter = providers?.get(provider);
  if (!adapter || secrets === null) return null;
  const account = await adapter.account(secrets);
  if (account.status === 'refused') throw badField(`${field}.${account.member}`, `is refused by ${provider}`);
  if (account.status === 'unknown') {
    throw refuse(
      'service_unavailable',
      `${provider} could not be asked whose key this is; nothing was kept, send it again`,
    );
  }
  if (account.mode) {
    const { member, told } = account.mode;
    const modes = [{ member: `${field}.${member}`, told }];
    await inSqlTransaction(database, request.scope, (tx) => refuseOtherMode(tx, request.scope, provider, modes));
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

/** Modes that the secrets tell by their own text; one that tells none is left out. design: money-in-checkout §A12 */
export function toldModes(provider: string, secrets: ConnectionSecrets | null): ToldMode[] {
  return (providerNamed(provider).tellsMode ?? []).flatMap(({ member, test, live, kind }): ToldMode[] => {
    const text = secrets?.[member] ?? '';
    if (live.test(text)) return [{ member, told: 'live', kind }];
    return test.test(text) ? [{ member, told: 'test', kind }] : [];
  });
}
