import { timingSafeEqual } from 'node:crypto';
import { realNow } from '../../db/clock.ts';
import type { Database } from '../../db/orm.ts';
import { instantText } from '../../db/rows/columns.ts';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { publishableRole } from './roles.ts';

/** Owner of a credential. `expiresAt` is checked at every use, because a credential may be remembered for a moment. */
export interface Credential {
  keyId: string;
  tenantId: string;
  environmentId: string;
  userId: string;
  userType: string;
  roles: string[];
  tenantState: string;
  expiresAt: string | null;
}

interface CredentialRow {
  id: string;
  key_hash: string;
  tenant_id: string;
  environment_id: string;
  user_id: string;
  user_type: string;
  type: string;
  roles: string[];
  state: string;
  expires_at: string | null;
  last_used_at: string | null;
}

const lastUsedIntervalMs = 60_000;

/**
 * The credential of an API key, found by the SHA-256 of its text and compared in constant time; null when the key is
 * unknown, archived or expired, or when its owner, environment or tenant is archived. Notes its use at most once a minute.
 * spec: platform §3.1, §7
 */
export async function findCredential(database: Database, digest: Buffer): Promise<Credential | null> {
  const [credential = null] = await findCredentials(database, [digest]);
  return credential;
}

/** The credentials of several API keys at once, each as `findCredential` has it, in the order of `digests`. spec: platform §3.1, §7 */
export async function findCredentials(database: Database, digests: readonly Buffer[]): Promise<(Credential | null)[]> {
  return inSqlTransaction(database, systemScope, async (tx) => {
    const hashes = digests.map((digest) => digest.toString('hex'));
    const rows = await tx.rows<CredentialRow>(credentialText, [hashes], 'credential');
    const byHash = new Map(rows.map((row) => [row.key_hash, row]));
    const now = realNow();
    const valid = digests.map((digest) => {
      const row = byHash.get(digest.toString('hex'));
      if (!row || !timingSafeEqual(Buffer.from(row.key_hash, 'hex'), digest)) return null;
      const expiresAt = expiryOf(row);
      return expiresAt !== null && expiresAt <= now ? null : row;
    });
    const used = valid.filter((row) => row !== null);
    const unnoted = used.filter((row) => Date.parse(now) - lastUseOf(row) >= lastUsedIntervalMs).map(({ id }) => id);
    if (unnoted.length > 0) {
      await tx.rows('update api_key set last_used_at = $2 where id = any($1)', [unnoted, now]);
    }
    return valid.map((row) => row && credentialOf(row));
  });
}

const expiryOf = ({ expires_at }: CredentialRow) => (expires_at === null ? null : instantText(expires_at));
const lastUseOf = ({ last_used_at }: CredentialRow) =>
  last_used_at === null ? 0 : Date.parse(instantText(last_used_at));

function credentialOf(row: CredentialRow): Credential {
  return {
    keyId: row.id,
    tenantId: row.tenant_id,
    environmentId: row.environment_id,
    userId: row.user_id,
    userType: row.user_type,
    // Whatever an earlier release wrote into its row.
    roles: row.type === 'publishable_key' ? [publishableRole] : row.roles,
    tenantState: row.state,
    expiresAt: expiryOf(row),
  };
}

const credentialText = `
select k.id, k.key_hash, k.tenant_id, k.environment_id, k.user_id, k.user_type, k.type, k.roles, t.state, k.expires_at, k.last_used_at
from api_key k
join user_account u on u.id = k.user_id and u.tenant_id = k.tenant_id and u.status = 'published'
join environment e on e.id = k.environment_id and e.tenant_id = k.tenant_id and e.status = 'published'
join tenant t on t.id = k.tenant_id and t.status = 'published'
where k.key_hash = any($1::text[]) and k.status = 'published'`;
