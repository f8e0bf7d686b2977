import { refuse } from '../../billing/refusal.ts';
import { realNow } from '../../db/clock.ts';
import { Environment } from '../../db/entities/platform/environment.ts';
import { newId } from '../../db/id.ts';
import { type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { badField, missing, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { writeAudit } from './audit.ts';
import { readSetting } from './setting.ts';

export type EnvironmentType = 'development' | 'production';

const environments: ListDefinition<Environment> = {
  entity: Environment,
  columns: { name: 'string', type: 'string' },
  level: 'tenant',
};

/** A page of the tenant's environments. spec: platform §9 */
export async function listEnvironments(tx: Transaction, query: ListQuery): Promise<ListPage<Environment>> {
  return listPage(tx, environments, query);
}

/** One environment of the tenant. Throws `not_found`. spec: platform §9 */
export async function findEnvironment(tx: Transaction, id: string): Promise<Environment> {
  const environment = await tx.em.findOne(Environment, { id, tenantId: tx.scope.tenantId });
  if (!environment) throw missing('environment', id);
  return environment;
}

export interface NewEnvironment {
  name: string;
  type: EnvironmentType;
  /** Made before, so that a retry finds what its first try made. */
  id?: string;
}

/**
 * Creates an environment of the caller's tenant; the same id again is the same environment. Throws `validation_error` when
 * `tenant_config` allows no more of the type. spec: platform §9
 */
export async function createEnvironment(tx: Transaction, input: NewEnvironment): Promise<Environment> {
  const { tenantId, actor } = tx.scope;
  const known = input.id ? await tx.em.findOne(Environment, { id: input.id, tenantId }) : null;
  if (known) return known;
  const limit = (await readSetting(tx, 'tenant_config'))[input.type];
  // The tenant's row is locked, so that two creations do not both take the last place.
  await tx.rows('select id from tenant where id = $1 for update', [tenantId]);
  const present = await tx.em.count(Environment, { tenantId, type: input.type, status: 'published' });
  if (present >= limit) {
    throw badField('type', `${input.type} is full: this account may have ${limit} such environments`);
  }
  const now = realNow();
  const environment = tx.em.create(Environment, {
    id: input.id ?? newId('env'),
    tenantId,
    name: input.name,
    type: input.type,
    createdAt: now,
    createdBy: actor,
    updatedAt: now,
    updatedBy: actor,
  });
  await tx.em.flush();
  await audit(tx, environment.id, 'created');
  return environment;
}

/** Renames an environment. Throws `not_found`, and `validation_error` when another type is asked for. spec: platform §9 */
export async function updateEnvironment(
  tx: Transaction,
  id: string,
  input: { name?: string | null | undefined; type?: string | null | undefined },
): Promise<Environment> {
  const environment = await findEnvironment(tx, id);
  if (input.type && input.type !== environment.type) throw badField('type', 'cannot be changed');
  if (environment.status !== 'published') {
    throw refuse('invalid_operation', `environment ${id} is ${environment.status} and cannot be changed`);
  }
  if (!input.name || input.name === environment.name) return environment;
  environment.name = input.name;
  touch(tx, environment);
  await tx.em.flush();
  await audit(tx, id, 'updated');
  return environment;
}

async function audit(tx: Transaction, id: string, action: string): Promise<void> {
  await writeAudit(tx, tx.scope, [{ objectType: 'environment', objectId: id, action, occurredAt: realNow() }]);
}
