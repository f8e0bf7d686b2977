import type { Database } from '../../db/orm.ts';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { type EnvelopeKeys, openSecrets } from './connection-secret.ts';
import { webhookSecretsOf } from './webhook-secret.ts';

/** A connection as far as notifications of its provider are verified by it. */
export interface VerifyingConnection {
  id: string;
  /** The secrets that verify at `nowMs`, the present one first; empty where none was given. */
  webhookSecrets(nowMs: number): string[];
  /** Another secret of it; undefined where it has none of the name. */
  secret(member: string): string | undefined;
}

/** Secrets of one address are never so many: what was deleted and connected again in half a year. */
const mostConnections = 10;

/**
 * The connections that may have sent a notification to the address of an environment, the published one first, then deleted ones whose
 * secrets are kept; null where the environment is not of the tenant. An archived environment and a suspended tenant have theirs: money
 * under way is finished. Throws `not_implemented` where secrets cannot be opened. spec: platform §16; design: money-in-checkout §A13
 */
export async function connectionsNotifiedAt(
  database: Database,
  keys: EnvelopeKeys,
  { provider, tenantId, environmentId }: { provider: string; tenantId: string; environmentId: string },
): Promise<VerifyingConnection[] | null> {
  const rows = await inSqlTransaction(database, systemScope, (tx) =>
    tx.rows<ConnectionRow>(notifiedText, [tenantId, environmentId, provider, mostConnections], 'inbound-connections'),
  );
  if (rows.length === 0) return null;
  return rows.flatMap(({ id, secret_key_id, secret_nonce, secret_ciphertext }) => {
    if (id === null) return [];
    const sealed = { secretKeyId: secret_key_id, secretNonce: secret_nonce, secretCiphertext: secret_ciphertext };
    const secrets = openSecrets(keys, { id, tenantId, environmentId, ...sealed }) ?? {};
    return [
      {
        id,
        webhookSecrets: (nowMs: number) => webhookSecretsOf(secrets, nowMs),
        secret: (member: string) => secrets[member],
      },
    ];
  });
}

interface ConnectionRow {
  id: string | null;
  secret_key_id: string | null;
  secret_nonce: Buffer | null;
  secret_ciphertext: Buffer | null;
  [column: string]: unknown;
}

const notifiedText = `
select c.id, c.secret_key_id, c.secret_nonce, c.secret_ciphertext
from environment e left join connection c on c.environment_id = e.id and c.provider_type = $3 and c.secret_ciphertext is not null
where e.tenant_id = $1 and e.id = $2
order by c.status = 'published' desc, c.updated_at desc limit $4`;
