import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../billing/refusal.ts';
import { writeAudit } from '../audit.ts';
import { decimalText, instantText } from '../columns.ts';
import { Entitlement } from '../entities/entitlement.ts';
import { Feature } from '../entities/feature.ts';
import { Meter } from '../entities/meter.ts';
import { Plan } from '../entities/plan.ts';
import { writeEvents } from '../outbox.ts';
import { badField, inElement, missing, newRecord, refuseArchived, refuseInvalid, touch } from '../record.ts';
import type { Scope } from '../scope.ts';
import type { Sql, Transaction } from '../transaction.ts';
import { flushUnique } from '../unique.ts';
import { publishedAddon } from './addon.ts';
import { checkEntitlement, checkGrantedValue, type NewEntitlement } from './entitlement-rules.ts';

/**
 * Grants a feature to a plan or an add-on. Throws `validation_error`, `not_found` for an unknown owner or feature, `invalid_operation` for
 * an archived one, `already_exists` for a second grant of the feature, `not_implemented` for subscriptions.
 *
 * spec: catalogue-and-metering §8.2, §13 rows 42–44
 */
export async function createEntitlement(tx: Transaction, input: NewEntitlement, path = ''): Promise<Entitlement> {
  checkEntitlement(input, path);
  if (input.entityType === 'SUBSCRIPTION') {
    throw refuse(
      'not_implemented',
      `${path}entity_type SUBSCRIPTION is not available; grant the feature to a PLAN or an ADDON`,
    );
  }
  if (input.entityType === 'ADDON') await publishedAddon(tx, input.entityId!, `${path}entity_id`);
  else await publishedPlan(tx, input.entityId!, path);
  const feature = await publishedFeature(tx, input, path);
  const metered = feature.type === 'metered';
  const limit = input.usageLimit ?? null;
  const entitlement = await insertEntitlement(tx, {
    entityType: input.entityType!,
    entityId: input.entityId!,
    featureId: feature.id,
    featureType: feature.type,
    isEnabled: feature.type === 'boolean' ? (input.isEnabled ?? false) : true,
    isSoftLimit: metered ? (input.isSoftLimit ?? false) : false,
    staticValue: feature.type === 'static' ? (input.staticValue ?? null) : null,
    configValue: input.configValue ?? null,
    usageLimit: metered && limit !== null ? String(limit) : null,
    usageResetPeriod: metered ? (input.usageResetPeriod ?? null) : null,
    aggregationMode: 'additive',
    parentEntitlementId: null,
    displayOrder: null,
    startDate: input.startDate ?? null,
    endDate: input.endDate ?? null,
  });
  return entitlement;
}

/** Creates entitlements, all or none; a refusal names the item, and an unknown id is 400. spec: catalogue-and-metering §8.1 */
export async function createEntitlements(tx: Transaction, inputs: readonly NewEntitlement[]): Promise<Entitlement[]> {
  const entitlements: Entitlement[] = [];
  for (const [index, input] of inputs.entries()) {
    const create = () => createEntitlement(tx, input, `items[${index}].`);
    entitlements.push(await inElement(`items[${index}]`, create, 'validation_error'));
  }
  return entitlements;
}

/** An entitlement of this environment, archived or not; throws `not_found`. */
export async function findEntitlement(tx: Transaction, id: string): Promise<Entitlement> {
  const entitlement = await tx.em.findOne(Entitlement, { id, environmentId: tx.scope.environmentId });
  if (!entitlement) throw missing('entitlement', id);
  return entitlement;
}

/** The published entitlements of plans, oldest first, by plan id. */
export async function publishedEntitlements(
  tx: Transaction,
  planIds: readonly string[],
): Promise<Map<string, Entitlement[]>> {
  if (planIds.length === 0) return new Map();
  const owned = {
    environmentId: tx.scope.environmentId,
    status: 'published',
    entityType: 'PLAN',
    entityId: { $in: [...planIds] },
  };
  const entitlements = await tx.em.find(Entitlement, owned, { orderBy: { createdAt: 'asc', id: 'asc' } });
  return Map.groupBy(entitlements, (entitlement) => entitlement.entityId);
}

/** What may change; an absent member stays. `usageLimit` null or 0 becomes unlimited. spec: catalogue-and-metering §8.2 */
export interface EntitlementChange {
  isEnabled?: boolean | undefined;
  isSoftLimit?: boolean | undefined;
  usageLimit?: number | null | undefined;
  usageResetPeriod?: string | null | undefined;
  staticValue?: string | null | undefined;
  configValue?: Record<string, unknown> | null | undefined;
  aggregationMode?: string | undefined;
}

/**
 * Changes an entitlement in place. Throws `not_found`, `validation_error`, and `invalid_operation` on an archived one.
 * `planId` is given by a plan update, whose elements must belong to the plan. spec: catalogue-and-metering §8.2
 */
export async function updateEntitlement(
  tx: Transaction,
  id: string,
  change: EntitlementChange,
  path = '',
  planId?: string,
): Promise<Entitlement> {
  const entitlement = await lockEntitlement(tx, id);
  if (planId !== undefined && (entitlement.entityType !== 'PLAN' || entitlement.entityId !== planId)) {
    throw refuse('not_found', `${path}id names entitlement ${id}, which is not an entitlement of plan ${planId}`);
  }
  refuseArchived('entitlement', entitlement);
  const { featureType } = entitlement;
  const staticValue = (change.staticValue === undefined ? entitlement.staticValue : change.staticValue) ?? null;
  const configValue = (change.configValue === undefined ? entitlement.configValue : change.configValue) ?? null;
  checkGrantedValue({ featureType, staticValue, configValue }, path);
  if (change.aggregationMode === 'parallel') {
    throw badField(`${path}aggregation_mode`, 'parallel needs a grant configuration; send additive or leave it out');
  }
  entitlement.configValue = configValue;
  if (featureType === 'static') entitlement.staticValue = staticValue;
  if (change.isEnabled !== undefined) entitlement.isEnabled = change.isEnabled;
  if (featureType === 'metered') {
    // A plan that is sent back as it was read must not turn "nothing included" into "unlimited".
    const isRepeated = planId !== undefined && String(change.usageLimit) === entitlement.usageLimit;
    changeAllowance(entitlement, isRepeated ? { ...change, usageLimit: undefined } : change);
  }
  touch(tx, entitlement);
  await tx.em.flush();
  await report(tx, entitlement, 'updated');
  return entitlement;
}

/** Archives an entitlement; repeating it changes nothing. Throws `not_found`. spec: catalogue-and-metering §11 */
export async function archiveEntitlement(tx: Transaction, id: string): Promise<void> {
  const entitlement = await lockEntitlement(tx, id);
  if (entitlement.status !== 'published') return;
  entitlement.status = 'archived';
  touch(tx, entitlement);
  await tx.em.flush();
  await report(tx, entitlement, 'deleted');
}

type EntitlementColumns = Omit<
  Entitlement,
  'id' | 'tenantId' | 'environmentId' | 'status' | 'createdAt' | 'createdBy' | 'updatedAt' | 'updatedBy'
>;

/** Stores an entitlement; a second published one for the same owner and feature is `already_exists`. */
export async function insertEntitlement(tx: Transaction, columns: EntitlementColumns): Promise<Entitlement> {
  const entitlement = tx.em.create(Entitlement, { ...newRecord(tx, 'ent'), ...columns });
  await flushUnique(tx, {
    entitlement_feature_unique: () =>
      refuse(
        'already_exists',
        `feature_id ${columns.featureId} is already granted to this ${columns.entityType.toLowerCase()}; change that entitlement or delete it first`,
        { fields: { feature_id: 'already granted' } },
      ),
  });
  await report(tx, entitlement, 'created');
  return entitlement;
}

/** An entitlement of a plan as billing reads it, with the meter of its feature. */
export interface PlanEntitlement {
  id: string;
  planId: string;
  featureId: string;
  featureType: string;
  meterId: string | null;
  isEnabled: boolean;
  isSoftLimit: boolean;
  usageLimit: string | null;
  usageResetPeriod: string | null;
  startDate: string | null;
  endDate: string | null;
  createdAt: string;
}

/** The published entitlements of plans, oldest first, each with its feature's meter. spec: catalogue-and-metering §8.3, §8.4 */
export async function entitlementsForPlans(
  sql: Sql & { readonly scope: Scope },
  planIds: readonly string[],
): Promise<PlanEntitlement[]> {
  const rows = await sql.rows<PlanEntitlement>(planEntitlementsText, [sql.scope.environmentId, planIds]);
  return rows.map((row) => ({
    ...row,
    usageLimit: row.usageLimit === null ? null : decimalText(row.usageLimit),
    startDate: row.startDate && instantText(row.startDate),
    endDate: row.endDate && instantText(row.endDate),
    createdAt: instantText(row.createdAt),
  }));
}

const planEntitlementsText = `
select e.id, e.entity_id as "planId", e.feature_id as "featureId", e.feature_type as "featureType", f.meter_id as "meterId",
       e.is_enabled as "isEnabled", e.is_soft_limit as "isSoftLimit", e.usage_limit as "usageLimit",
       e.usage_reset_period as "usageResetPeriod", e.start_date as "startDate", e.end_date as "endDate", e.created_at as "createdAt"
from entitlement e join feature f on f.id = e.feature_id and f.environment_id = e.environment_id
where e.environment_id = $1 and e.entity_type = 'PLAN' and e.entity_id = any($2::text[]) and e.status = 'published'
order by e.created_at, e.id`;

function changeAllowance(entitlement: Entitlement, change: EntitlementChange): void {
  if (change.isSoftLimit !== undefined) entitlement.isSoftLimit = change.isSoftLimit;
  if (change.usageLimit !== undefined) entitlement.usageLimit = change.usageLimit ? String(change.usageLimit) : null;
  if (change.usageResetPeriod !== undefined) entitlement.usageResetPeriod = change.usageResetPeriod;
}

/** Held against archiving the plan or the feature meanwhile; other additions share it. */
const sharedLock = { lockMode: LockMode.PESSIMISTIC_READ, refresh: true } as const;

async function publishedPlan(tx: Transaction, id: string, path: string): Promise<void> {
  const where = { id, environmentId: tx.scope.environmentId };
  const plan = await tx.em.findOne(Plan, where, sharedLock);
  if (!plan) throw missing('plan', id, `${path}entity_id`);
  if (plan.status !== 'published') {
    throw refuseInvalid(
      `${path}entity_id`,
      `plan ${id} is ${plan.status}; entitlements can be added to published plans only`,
    );
  }
}

async function publishedFeature(tx: Transaction, input: NewEntitlement, path: string): Promise<Feature> {
  const { environmentId } = tx.scope;
  const feature = await tx.em.findOne(Feature, { id: input.featureId, environmentId }, sharedLock);
  if (!feature) throw missing('feature', input.featureId, `${path}feature_id`);
  if (feature.status !== 'published') {
    throw refuseInvalid(
      `${path}feature_id`,
      `feature ${feature.id} is ${feature.status}; only published features can be granted`,
    );
  }
  if (feature.type !== input.featureType) {
    throw badField(`${path}feature_type`, `must be ${feature.type}, the type of feature ${feature.id}`);
  }
  const meter = feature.meterId ? await tx.em.findOne(Meter, { id: feature.meterId, environmentId }) : null;
  if (meter?.aggregation.type === 'MAX' && meter.aggregation.bucket_size) {
    throw badField(
      `${path}feature_id`,
      `names a feature on a bucketed MAX meter, which has no allowance; use another meter`,
    );
  }
  return feature;
}

async function lockEntitlement(tx: Transaction, id: string): Promise<Entitlement> {
  const where = { id, environmentId: tx.scope.environmentId };
  const entitlement = await tx.em.findOne(Entitlement, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!entitlement) throw missing('entitlement', id);
  return entitlement;
}

/** Outbox and audit rows of a change. spec: platform §17.2, §17.3 */
async function report(
  tx: Transaction,
  entitlement: Entitlement,
  change: 'created' | 'updated' | 'deleted',
): Promise<void> {
  const body = {
    id: entitlement.id,
    entity_type: entitlement.entityType,
    entity_id: entitlement.entityId,
    feature_id: entitlement.featureId,
    feature_type: entitlement.featureType,
    is_enabled: entitlement.isEnabled,
    usage_limit: entitlement.usageLimit === null ? null : Number(entitlement.usageLimit),
    usage_reset_period: entitlement.usageResetPeriod,
    is_soft_limit: entitlement.isSoftLimit,
    static_value: entitlement.staticValue,
  };
  const occurredAt = entitlement.updatedAt;
  const about = { entityType: 'entitlement', entityId: entitlement.id, occurredAt };
  await writeEvents(tx, tx.scope, [{ ...about, name: `entitlement.${change}`, payload: { entitlement: body } }]);
  await writeAudit(tx, tx.scope, [
    { objectType: 'entitlement', objectId: entitlement.id, action: change, occurredAt, detail: body },
  ]);
}
