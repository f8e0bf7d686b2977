import { timingSafeEqual } from 'node:crypto';
import { realNow } from '../../db/clock.ts';
import type { Database } from '../../db/orm.ts';
import { instantText } from '../../db/rows/columns.ts';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { publishableRole } from './roles.ts';

/** Who a credential speaks for. `expiresAt` is checked at every use, because a credential may be remembered for a moment. */
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
  return inSqlTransaction(database, systemScope, async (tx) => {
    const [row] = await tx.rows<CredentialRow>(credentialText, [digest.toString('hex')], 'credential');
    if (!row || !timingSafeEqual(Buffer.from(row.key_hash, 'hex'), digest)) return null;
    const now = realNow();
    const expiresAt = row.expires_at === null ? null : instantText(row.expires_at);
    if (expiresAt !== null && expiresAt <= now) return null;
    const lastUsed = row.last_used_at === null ? 0 : Date.parse(instantText(row.last_used_at));
    if (Date.parse(now) - lastUsed >= lastUsedIntervalMs) {
      await tx.rows('update api_key set last_used_at = $2 where id = $1', [row.id, now]);
    }
    return {
      keyId: row.id,
      tenantId: row.tenant_id,
      environmentId: row.environment_id,
      userId: row.user_id,
      userType: row.user_type,
      // Whatever an earlier release wrote into its row.
      roles: row.type === 'publishable_key' ? [publishableRole] : row.roles,
      tenantState: row.state,
      expiresAt,
    };
  });
}

const credentialText = `
select k.id, k.key_hash, k.tenant_id, k.environment_id, k.user_id, k.user_type, k.type, k.roles, t.state, k.expires_at, k.last_used_at
from api_key k
join user_account u on u.id = k.user_id and u.tenant_id = k.tenant_id and u.status = 'published'
join environment e on e.id = k.environment_id and e.tenant_id = k.tenant_id and e.status = 'published'
join tenant t on t.id = k.tenant_id and t.status = 'published'
where k.key_hash = $1 and k.status = 'published'`;
