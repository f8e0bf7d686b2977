import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../billing/refusal.ts';
import { realNow } from '../../db/clock.ts';
import { UserAccount } from '../../db/entities/platform/user-account.ts';
import { newId } from '../../db/id.ts';
import { type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { badField, missing, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { writeAudit } from './audit.ts';
import { permissionsOf, roles, type UserType } from './roles.ts';

export interface NewServiceAccount {
  name: string;
  roles: readonly string[];
}

/**
 * Creates a service account. Throws `validation_error` for roles that do not exist, do not fit a service account or do not
 * go together, and `permission_denied` when they hold a permission that the caller does not. spec: platform §4.1, §6
 */
export async function createServiceAccount(
  tx: Transaction,
  callerPermissions: ReadonlySet<string>,
  input: NewServiceAccount,
): Promise<UserAccount> {
  checkRoles(input.roles, 'service_account');
  for (const permission of permissionsOf(input.roles)) {
    if (!callerPermissions.has(permission)) {
      throw refuse('permission_denied', `roles would grant ${permission}, which the caller does not hold`);
    }
  }
  const now = realNow();
  const account = tx.em.create(UserAccount, {
    id: newId('user'),
    tenantId: tx.scope.tenantId,
    name: input.name,
    email: '',
    type: 'service_account',
    roles: [...input.roles],
    metadata: {},
    status: 'published',
    createdAt: now,
    createdBy: tx.scope.actor,
    updatedAt: now,
    updatedBy: tx.scope.actor,
  });
  await tx.em.flush();
  await audit(tx, account.id, 'created');
  return account;
}

function checkRoles(ids: readonly string[], type: UserType): void {
  if (ids.length === 0) throw badField('roles', 'must name at least one role');
  ids.forEach((id, index) => {
    const role = roles.find((one) => one.id === id);
    if (!role) throw badField(`roles[${index}]`, `must be one of ${roles.map((one) => one.id).join(', ')}`);
    if (!role.userTypes.includes(type)) throw badField(`roles[${index}]`, `${id} is not for a ${type}`);
  });
  if (ids.length > 1 && ids.includes('super_admin')) throw badField('roles', 'super_admin stands alone');
}

/**
 * Changes name and metadata of a service account; metadata replaces. Throws `not_found` for an unknown account and for a
 * person, `validation_error` for an archived one. spec: platform §6 PUT /users/{id}
 */
export async function updateServiceAccount(
  tx: Transaction,
  id: string,
  change: { name?: string | null | undefined; metadata?: Record<string, string> | null | undefined },
): Promise<UserAccount> {
  const account = await lockedAccount(tx, id);
  if (account?.type !== 'service_account') throw missing('service account', id);
  if (account.status !== 'published') throw badField('id', 'names an archived account');
  if (typeof change.name === 'string') account.name = change.name;
  if (change.metadata) account.metadata = change.metadata;
  touch(tx, account);
  await tx.em.flush();
  await audit(tx, id, 'updated');
  return account;
}

/**
 * Archives a service account. Throws `not_found` for an unknown or archived one, and `validation_error` for a person and
 * while it has a key that works, in whichever environment. spec: platform §6 DELETE
 */
export async function deleteServiceAccount(tx: Transaction, id: string): Promise<void> {
  const account = await lockedAccount(tx, id);
  if (account?.status !== 'published') throw missing('service account', id);
  if (account.type !== 'service_account') throw badField('id', 'names a person; only service accounts can be removed');
  const keys = await activeKeys(tx, id);
  if (keys > 0) throw badField('id', `names an account with ${keys} active API keys; remove them first`);
  account.status = 'archived';
  touch(tx, account);
  await tx.em.flush();
  await audit(tx, id, 'deleted');
}

/** Keys belong to environments, accounts to the tenant: for this count the transaction looks into all environments. */
async function activeKeys(tx: Transaction, userId: string): Promise<number> {
  const enter = (environmentId: string) =>
    tx.rows(`select set_config('perennial.environment_id', $1, true)`, [environmentId]);
  await enter('*');
  const [row] = await tx.rows<{ n: number }>(
    `select count(*)::int as n from api_key
     where tenant_id = $1 and user_id = $2 and status = 'published'
       and (expires_at is null or expires_at > $3)`,
    [tx.scope.tenantId, userId, realNow()],
  );
  await enter(tx.scope.environmentId);
  return row?.n ?? 0;
}

const accounts: ListDefinition<UserAccount> = {
  entity: UserAccount,
  columns: { name: 'string', email: 'string', type: 'string' },
  level: 'tenant',
};

export interface AccountFilters {
  userIds?: readonly string[] | null | undefined;
  type?: string | null | undefined;
  /** Accounts with any of these roles. */
  roles?: readonly string[] | null | undefined;
}

/** A page of the tenant's people and service accounts. spec: platform §6 POST /users/search */
export async function listAccounts(
  tx: Transaction,
  query: ListQuery,
  filters: AccountFilters,
): Promise<ListPage<UserAccount>> {
  const { userIds, type, roles: anyRole } = filters;
  return listPage(tx, accounts, query, {
    ...(userIds?.length ? { id: { $in: userIds } } : {}),
    ...(type ? { type } : {}),
    ...(anyRole?.length ? { roles: { $overlap: anyRole } } : {}),
  });
}

async function lockedAccount(tx: Transaction, id: string): Promise<UserAccount | null> {
  const where = { id, tenantId: tx.scope.tenantId };
  return tx.em.findOne(UserAccount, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

async function audit(tx: Transaction, id: string, action: string): Promise<void> {
  await writeAudit(tx, tx.scope, [{ objectType: 'user', objectId: id, action, occurredAt: realNow() }]);
}
