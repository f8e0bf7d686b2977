import { createHash, randomBytes } from 'node:crypto';
import { realNow } from '../../db/clock.ts';
import { Tenant } from '../../db/entities/platform/tenant.ts';
import { newId } from '../../db/id.ts';
import type { Database } from '../../db/orm.ts';
import { missing } from '../../db/rows/record.ts';
import { systemScope } from '../../db/scope.ts';
import { inSqlTransaction, type Transaction } from '../../db/transaction.ts';
import { writeAudit } from './audit.ts';

export interface Sandbox {
  tenantId: string;
  environmentId: string;
  userId: string;
  /** The key's plaintext; it is nowhere else. */
  apiKey: string;
}

/**
 * A tenant that can be used at once: a super admin, the environment "Sandbox" and a private API key. With `apiKey` the key
 * has that text, and a second call finds the sandbox of the first. spec: platform §5, §7
 */
export async function createSandbox(
  database: Database,
  options: { tenantName: string; apiKey?: string },
): Promise<Sandbox> {
  const apiKey = options.apiKey ?? newKeyText('private_key');
  const sandbox: Sandbox = { tenantId: newId('tenant'), environmentId: newId('env'), userId: newId('user'), apiKey };
  return inSqlTransaction(database, systemScope, async (tx) => {
    const [known] = await tx.rows<{ tenant_id: string; environment_id: string; user_id: string }>(
      `select tenant_id, environment_id, user_id from api_key where key_hash = $1 and status = 'published'`,
      [keyHash(apiKey)],
    );
    if (known) {
      return { tenantId: known.tenant_id, environmentId: known.environment_id, userId: known.user_id, apiKey };
    }
    await tx.rows(createSandboxText, [
      sandbox.tenantId,
      options.tenantName,
      sandbox.environmentId,
      sandbox.userId,
      newId('secret'),
      keyHash(apiKey),
      displayIdOf(apiKey),
      realNow(),
    ]);
    return sandbox;
  });
}

const createSandboxText = `
with made_tenant as (
  insert into tenant (id, name, state, created_at, updated_at) values ($1, $2, 'active', $8, $8)
), made_environment as (
  insert into environment (id, tenant_id, name, type, created_at, created_by, updated_at, updated_by)
  values ($3, $1, 'Sandbox', 'development', $8, $4, $8, $4)
), made_user as (
  insert into user_account (id, tenant_id, name, type, roles, created_at, created_by, updated_at, updated_by)
  values ($4, $1, 'Administrator', 'user', '{super_admin}', $8, $4, $8, $4)
)
insert into api_key (id, tenant_id, environment_id, user_id, name, type, key_hash, display_id, roles, user_type,
                     created_at, created_by, updated_at, updated_by)
values ($5, $1, $3, $4, 'Sandbox', 'private_key', $6, $7, '{super_admin}', 'user', $8, $4, $8, $4)`;

const keyPrefix = { private_key: 'sk_', publishable_key: 'pk_' } as const;
export type KeyType = keyof typeof keyPrefix;

/** A new key of 256 random bits. spec: platform §7 */
export function newKeyText(type: KeyType): string {
  return keyPrefix[type] + randomBytes(32).toString('base64url');
}

/** What is stored of a key. */
export function keyHash(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** What a list shows of a key: its first five characters and its last two. */
export function displayIdOf(key: string): string {
  return `${key.slice(0, 5)}***${key.slice(-2)}`;
}

/** The caller's tenant. spec: platform §8 */
export async function findTenant(tx: Transaction): Promise<Tenant> {
  const { tenantId } = tx.scope;
  const tenant = await tx.em.findOne(Tenant, { id: tenantId });
  if (!tenant) throw missing('tenant', tenantId);
  return tenant;
}

export interface TenantChange {
  name?: string | null | undefined;
  billingDetails?: Record<string, unknown> | null | undefined;
  metadata?: Record<string, string> | null | undefined;
}

/** Changes the caller's tenant; what is not named is kept, metadata is replaced. spec: platform §8 */
export async function updateTenant(tx: Transaction, change: TenantChange): Promise<Tenant> {
  const tenant = await findTenant(tx);
  if (change.name) tenant.name = change.name;
  if (change.billingDetails) tenant.billingDetails = change.billingDetails;
  if (change.metadata) tenant.metadata = change.metadata;
  tenant.updatedAt = realNow();
  await tx.em.flush();
  const audit = { objectType: 'tenant', objectId: tenant.id, action: 'updated', occurredAt: tenant.updatedAt };
  await writeAudit(tx, tx.scope, [audit]);
  return tenant;
}
