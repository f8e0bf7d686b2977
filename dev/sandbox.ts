import { createHash, randomBytes } from 'node:crypto';
import { newId } from '../db/id.ts';
import { type Database, openDatabase } from '../db/orm.ts';
import { type Scope, systemScope } from '../db/scope.ts';
import { inSqlTransaction } from '../db/transaction.ts';

/** Makes a tenant with one environment, its user and an API key with every permission. */
export async function createSandbox(database: Database): Promise<{ scope: Scope; apiKey: string }> {
  const [tenantId, environmentId, userId] = [newId('tenant'), newId('env'), newId('user')];
  const apiKey = `sk_${randomBytes(32).toString('base64url')}`;
  const keyHash = createHash('sha256').update(apiKey).digest('hex');
  const displayId = `${apiKey.slice(0, 5)}***${apiKey.slice(-2)}`;
  await inSqlTransaction(database, systemScope, async (sql) => {
    const at = new Date().toISOString();
    await sql.rows('insert into tenant (id, name, created_at, updated_at) values ($1, $2, $3, $3)', [
      tenantId,
      'Sandbox',
      at,
    ]);
    await sql.rows(
      `insert into environment (id, tenant_id, name, type, created_at, updated_at) values ($1, $2, 'Sandbox', 'development', $3, $3)`,
      [environmentId, tenantId, at],
    );
    await sql.rows(
      `insert into user_account (id, tenant_id, type, roles, created_at, updated_at) values ($1, $2, 'user', '{super_admin}', $3, $3)`,
      [userId, tenantId, at],
    );
    await sql.rows(
      `insert into api_key (id, tenant_id, environment_id, user_id, name, type, key_hash, display_id, roles, user_type, created_at, updated_at)
       values ($1, $2, $3, $4, 'Sandbox', 'private_key', $5, $6, '{super_admin}', 'user', $7, $7)`,
      [newId('secret'), tenantId, environmentId, userId, keyHash, displayId, at],
    );
  });
  return { scope: { tenantId, environmentId, actor: userId, requestId: '' }, apiKey };
}

/** The sandbox's API key: the given one while the database knows it, else that of a sandbox made now. */
export async function ensureSandbox(applicationUrl: string, apiKey: string | undefined): Promise<string> {
  const database = await openDatabase({ url: applicationUrl, poolSize: 2 });
  try {
    if (apiKey !== undefined && (await knowsKey(database, apiKey))) return apiKey;
    return (await createSandbox(database)).apiKey;
  } finally {
    await database.close();
  }
}

async function knowsKey(database: Database, apiKey: string): Promise<boolean> {
  const hash = createHash('sha256').update(apiKey).digest('hex');
  const rows = await inSqlTransaction(database, systemScope, (sql) =>
    sql.rows(`select from api_key where key_hash = $1 and status = 'published'`, [hash]),
  );
  return rows.length > 0;
}
