import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../billing/refusal.ts';
import { realNow } from '../../db/clock.ts';
import { ApiKey } from '../../db/entities/platform/api-key.ts';
import { UserAccount } from '../../db/entities/platform/user-account.ts';
import { type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { badField, missing, newRecord, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { writeAudit } from './audit.ts';
import { publishableRole } from './roles.ts';
import { displayIdOf, type KeyType, keyHash, newKeyText } from './tenant.ts';

/** The rights of whoever makes or removes a key. */
export interface KeyOwner {
  userId: string;
  userType: string;
  roles: readonly string[];
  isSuperAdmin: boolean;
}

export interface NewApiKey {
  name: string;
  type: KeyType;
  expiresAt?: string | null | undefined;
  serviceAccountId?: string | null | undefined;
}

const apiKeys: ListDefinition<ApiKey> = {
  entity: ApiKey,
  columns: { name: 'string', user_id: 'string', user_type: 'string', expires_at: 'date', last_used_at: 'date' },
};

/**
 * Creates a key bound to the environment of the request: a private one with the roles of its owner, which is the caller or the
 * service account that is named, a publishable one with the role `publishable` alone. Returns the record and the plaintext, which is kept nowhere. Throws `validation_error` for a past expiry
 * or an account that is not a published service account, `permission_denied` when the caller is no super admin user.
 * spec: platform §7
 */
export async function createApiKey(
  tx: Transaction,
  caller: KeyOwner,
  input: NewApiKey,
): Promise<{ key: ApiKey; plaintext: string }> {
  if (input.expiresAt && input.expiresAt <= realNow()) throw badField('expires_at', 'must be in the future');
  const owner = input.serviceAccountId ? await serviceAccount(tx, caller, input.serviceAccountId) : caller;
  const plaintext = newKeyText(input.type);
  const key = tx.em.create(ApiKey, {
    ...newRecord(tx, 'secret'),
    userId: owner.userId,
    userType: owner.userType,
    roles: input.type === 'publishable_key' ? [publishableRole] : [...owner.roles],
    name: input.name,
    type: input.type,
    keyHash: keyHash(plaintext),
    displayId: displayIdOf(plaintext),
    expiresAt: input.expiresAt ?? null,
  });
  await tx.em.flush();
  await audit(tx, key, 'created');
  return { key, plaintext };
}

async function serviceAccount(
  tx: Transaction,
  caller: KeyOwner,
  id: string,
): Promise<Pick<KeyOwner, 'userId' | 'userType' | 'roles'>> {
  if (!caller.isSuperAdmin || caller.userType !== 'user') {
    throw refuse('permission_denied', 'Only a user with the role super_admin may create a key for a service account.');
  }
  // Held, so that the account is not archived while it gets its key.
  const held = { lockMode: LockMode.PESSIMISTIC_READ };
  const account = await tx.em.findOne(UserAccount, { id, tenantId: tx.scope.tenantId }, held);
  if (!account) throw missing('service account', id, 'service_account_id');
  if (account.type !== 'service_account' || account.status !== 'published') {
    throw badField('service_account_id', 'must name a published service account');
  }
  return { userId: account.id, userType: account.type, roles: account.roles };
}

/**
 * A page of keys of both kinds: all for a super admin, else the caller's own. `notExpiredAt` keeps those that still work at that
 * instant. spec: platform §7
 */
export async function listApiKeys(
  tx: Transaction,
  caller: KeyOwner,
  query: ListQuery,
  filters: { userId?: string | undefined; notExpiredAt?: string | undefined },
): Promise<ListPage<ApiKey>> {
  const conditions: object[] = [];
  if (!caller.isSuperAdmin) conditions.push({ userId: caller.userId });
  if (filters.userId) conditions.push({ userId: filters.userId });
  if (filters.notExpiredAt)
    conditions.push({ $or: [{ expiresAt: null }, { expiresAt: { $gt: filters.notExpiredAt } }] });
  return listPage(tx, apiKeys, query, conditions.length > 0 ? { $and: conditions } : {});
}

/** Archives a key at once. Throws `not_found`, and `permission_denied` for a key of another user. spec: platform §7 */
export async function deleteApiKey(tx: Transaction, caller: KeyOwner, id: string): Promise<void> {
  const key = await tx.em.findOne(ApiKey, { id, environmentId: tx.scope.environmentId, status: 'published' });
  if (!key) throw missing('API key', id);
  if (!caller.isSuperAdmin && key.userId !== caller.userId) {
    throw refuse('permission_denied', 'Only its owner and a super admin may remove an API key.');
  }
  key.status = 'archived';
  touch(tx, key);
  await tx.em.flush();
  await audit(tx, key, 'deleted');
}

/** The names of the service accounts among the owners of some keys, by user id. */
export async function serviceAccountNames(tx: Transaction, keys: readonly ApiKey[]): Promise<Map<string, string>> {
  const ids = keys.filter((key) => key.userType === 'service_account').map((key) => key.userId);
  if (ids.length === 0) return new Map();
  const accounts = await tx.em.find(UserAccount, { id: { $in: ids }, tenantId: tx.scope.tenantId });
  return new Map(accounts.map((account) => [account.id, account.name]));
}

async function audit(tx: Transaction, key: ApiKey, action: string): Promise<void> {
  const detail = { display_id: key.displayId, user_id: key.userId };
  await writeAudit(tx, tx.scope, [{ objectType: 'api_key', objectId: key.id, action, occurredAt: realNow(), detail }]);
}
