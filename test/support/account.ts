import { newId } from '../../db/id.ts';
import type { Database } from '../../db/orm.ts';
import { type Scope, systemScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { displayIdOf, keyHash, newKeyText } from '../../services/platform/tenant.ts';

/** Another account of the tenant with the given roles, and a key of it. Returns the key's text and the account's id. */
export async function accountWithRoles(
  database: Database,
  scope: Scope,
  roles: string[],
  type: 'user' | 'service_account' = 'user',
): Promise<{ apiKey: string; keyId: string; userId: string }> {
  const [userId, keyId, apiKey, now] = [
    newId('user'),
    newId('secret'),
    newKeyText('private_key'),
    new Date().toISOString(),
  ];
  await inSqlTransaction(database, systemScope, async (tx) => {
    await tx.rows(
      `insert into user_account (id, tenant_id, type, roles, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)`,
      [userId, scope.tenantId, type, roles, now],
    );
    await tx.rows(
      `insert into api_key (id, tenant_id, environment_id, user_id, name, type, key_hash, display_id, roles, user_type, created_at, updated_at)
       values ($1, $2, $3, $4, 'Test', 'private_key', $5, $6, $7, $8, $9, $9)`,
      [keyId, scope.tenantId, scope.environmentId, userId, keyHash(apiKey), displayIdOf(apiKey), roles, type, now],
    );
  });
  return { apiKey, keyId, userId };
}
