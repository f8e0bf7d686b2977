import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../../billing/refusal.ts';
import { Entitlement } from '../../../db/entities/catalogue/entitlement.ts';
import { Feature } from '../../../db/entities/catalogue/feature.ts';
import { Meter } from '../../../db/entities/catalogue/meter.ts';
import { badField, inElement, missing, newRecord, refuseArchived, together, touch } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { flushUnique } from '../../../db/unique.ts';
import { checkGrant, firstGrantField, grantFrom, mergedGrant, type SentGrant } from './entitlement-grant-rules.ts';
import { grantColumns, grantOf } from './entitlement-grant-terms.ts';
import { membersOf, overrideValues } from './entitlement-override.ts';
import { overriddenParent, publishedFeature, publishedOwner } from './entitlement-owner.ts';
import { reportEntitlement } from './entitlement-report.ts';
import { checkEntitlement, checkGrantedValue, type NewEntitlement } from './entitlement-rules.ts';

/**
 * Grants a feature to a plan, an add-on or a subscription; one of a subscription may override one of its plan. Throws
 * `validation_error`, `not_found` for an unknown owner or feature, `invalid_operation` for an archived one, `already_exists` for
 * a second grant of the feature. spec: catalogue-and-metering §8.2, §13 rows 42–44
 */
export async function createEntitlement(tx: Transaction, input: NewEntitlement, path = ''): Promise<Entitlement> {
  return insertEntitlement(tx, await columnsOf(tx, input, path));
}

/**
 * Creates entitlements, all or none; one refusal names every element that cannot be created, and an unknown id is 400;
 * an element that is malformed is given as its refusal.
 * spec: catalogue-and-metering §8.1, §13 rows 43, 44
 */
export async function createEntitlements(
  tx: Transaction,
  elements: readonly (NewEntitlement | Error)[],
): Promise<Entitlement[]> {
  const inputs = elements.flatMap((element) => (element instanceof Error ? [] : [element]));
  const slots = await takenSlots(tx, inputs);
  const columns: EntitlementColumns[] = [];
  const refusals: unknown[] = [];
  for (const [index, input] of elements.entries()) {
    const decide = async () => {
      if (input instanceof Error) throw input;
      const decided = await columnsOf(tx, input, `items[${index}].`, columns);
      if (decided.aggregationMode === 'parallel') return decided;
      if (slots.has(slotOf(decided))) throw alreadyGranted(decided);
      slots.add(slotOf(decided));
      return decided;
    };
    await inElement(`items[${index}]`, decide, 'validation_error').then(
      (decided) => columns.push(decided),
      (refusal) => refusals.push(refusal),
    );
  }
  if (refusals.length > 0) throw together(refusals);
  const entitlements: Entitlement[] = [];
  for (const decided of columns) entitlements.push(await insertEntitlement(tx, decided));
  return entitlements;
}

async function columnsOf(
  tx: Transaction,
  input: NewEntitlement,
  path: string,
  beside: readonly EntitlementColumns[] = [],
): Promise<EntitlementColumns> {
  checkEntitlement(input, path);
  const grant = grantFrom(input.grant, path);
  const subscription = await publishedOwner(tx, input, path);
  const { feature, meter } = await publishedFeature(tx, input, path);
  const owned = {
    entityType: input.entityType!,
    entityId: input.entityId!,
    featureId: feature.id,
    featureType: feature.type,
    aggregationMode: input.aggregationMode ?? 'additive',
    displayOrder: null,
    startDate: input.startDate ?? null,
    endDate: input.endDate ?? null,
    ...grantColumns(grant),
  };
  if (subscription && input.parentEntitlementId) {
    const parent = await overriddenParent(tx, input, subscription, path);
    const { isSoftLimit, usageResetPeriod = null } = parent;
    return {
      ...owned,
      isSoftLimit,
      usageResetPeriod,
      parentEntitlementId: parent.id,
      ...overrideValues(parent, input, path),
    };
  }
  const others = beside.map((columns) => ({ ...columns, grant: grantOf(columns) }));
  await checkGrant(tx, { ...owned, grant }, meter, path, others);
  return { ...owned, ...grantedValues(feature.type, input), parentEntitlementId: null, overriddenMembers: null };
}

function grantedValues(featureType: string, input: NewEntitlement) {
  const metered = featureType === 'metered';
  const limit = input.usageLimit ?? null;
  return {
    isEnabled: featureType === 'boolean' ? (input.isEnabled ?? false) : true,
    isSoftLimit: metered ? (input.isSoftLimit ?? false) : false,
    staticValue: featureType === 'static' ? (input.staticValue ?? null) : null,
    configValue: input.configValue ?? null,
    usageLimit: metered && limit !== null ? String(limit) : null,
    usageResetPeriod: metered ? (input.usageResetPeriod ?? null) : null,
  };
}

type Slot = Pick<EntitlementColumns, 'entityType' | 'entityId' | 'featureId'>;

function slotOf({ entityType, entityId, featureId }: Slot): string {
  return `${entityType} ${entityId} ${featureId}`;
}

/** The (entity, feature) pairs of the inputs that hold a published entitlement. */
async function takenSlots(tx: Transaction, inputs: readonly NewEntitlement[]): Promise<Set<string>> {
  const held = await tx.em.find(Entitlement, {
    environmentId: tx.scope.environmentId,
    status: 'published',
    aggregationMode: { $ne: 'parallel' },
    entityId: { $in: inputs.flatMap((input) => input.entityId ?? []) },
    featureId: { $in: inputs.map((input) => input.featureId) },
  });
  return new Set(held.map(slotOf));
}

function alreadyGranted({ entityType, featureId }: Slot) {
  return refuse(
    'already_exists',
    `feature_id ${featureId} is already granted to this ${entityType.toLowerCase()}; change that entitlement or delete it first`,
    { fields: { feature_id: 'already granted' } },
  );
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
  /** Sent members replace the stored ones. */
  grant?: SentGrant | undefined;
  clearsGrant?: boolean | undefined;
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
  if (entitlement.parentEntitlementId) noteOverride(entitlement, change, path);
  else await changeGrant(tx, entitlement, change, path);
  entitlement.configValue = configValue;
  if (featureType === 'static') entitlement.staticValue = staticValue;
  if (change.isEnabled !== undefined) entitlement.isEnabled = change.isEnabled;
  if (featureType === 'metered') {
    // A plan that is sent back as it was read must not turn "nothing included" into "unlimited".
    const isRepeated = planId !== undefined && String(change.usageLimit) === entitlement.usageLimit;
    changeAllowance(entitlement, isRepeated ? { ...change, usageLimit: undefined } : change);
  }
  touch(tx, entitlement);
  await flushUnique(tx, { entitlement_feature_unique: () => alreadyGranted(entitlement) });
  await reportEntitlement(tx, entitlement, 'updated');
  return entitlement;
}

/** Archives an entitlement; repeating it changes nothing. Throws `not_found`. spec: catalogue-and-metering §11 */
export async function archiveEntitlement(tx: Transaction, id: string): Promise<void> {
  const entitlement = await lockEntitlement(tx, id);
  if (entitlement.status !== 'published') return;
  entitlement.status = 'archived';
  touch(tx, entitlement);
  await tx.em.flush();
  await reportEntitlement(tx, entitlement, 'deleted');
}

export type EntitlementColumns = Omit<
  Entitlement,
  'id' | 'tenantId' | 'environmentId' | 'status' | 'createdAt' | 'createdBy' | 'updatedAt' | 'updatedBy'
>;

/** Stores an entitlement; a second published one for the same owner and feature is `already_exists`. */
export async function insertEntitlement(tx: Transaction, columns: EntitlementColumns): Promise<Entitlement> {
  const entitlement = tx.em.create(Entitlement, { ...newRecord(tx, 'ent'), ...columns });
  await flushUnique(tx, { entitlement_feature_unique: () => alreadyGranted(columns) });
  await reportEntitlement(tx, entitlement, 'created');
  return entitlement;
}

/** A member that is changed on an override is its own from then on; what belongs to the parent cannot be. spec: §8.2 */
function noteOverride(entitlement: Entitlement, change: EntitlementChange, path: string): void {
  const grantField = firstGrantField(change.grant);
  const ofParent = {
    is_soft_limit: change.isSoftLimit,
    usage_reset_period: change.usageResetPeriod,
    ...(grantField ? { [grantField]: true } : {}),
    aggregation_mode: change.aggregationMode === 'parallel' ? change.aggregationMode : undefined,
  };
  for (const [field, value] of Object.entries(ofParent)) {
    if (value !== undefined) throw badField(`${path}${field}`, 'is the plan’s and cannot be overridden; leave it out');
  }
  const members = [...(entitlement.overriddenMembers ?? []), ...membersOf(entitlement.featureType, change)];
  entitlement.overriddenMembers = [...new Set(members)];
}

/** The stored configuration with what was sent, or none. spec: catalogue-and-metering §9.1 */
async function changeGrant(
  tx: Transaction,
  entitlement: Entitlement,
  { grant: sent = {}, clearsGrant, aggregationMode }: EntitlementChange,
  path: string,
): Promise<void> {
  const field = firstGrantField(sent);
  if (clearsGrant && field) throw badField(`${path}${field}`, 'must be left out with clear_grant_config: true');
  if (!clearsGrant && !field && aggregationMode === undefined) return;
  const stored = grantOf(entitlement);
  const grant = clearsGrant ? null : grantFrom(mergedGrant(stored, sent), path);
  const mode = aggregationMode ?? (clearsGrant ? 'additive' : entitlement.aggregationMode);
  const { environmentId } = tx.scope;
  const feature = await tx.em.findOneOrFail(Feature, { id: entitlement.featureId, environmentId });
  const meter = feature.meterId ? await tx.em.findOne(Meter, { id: feature.meterId, environmentId }) : null;
  const { id, entityType, entityId, featureId, featureType } = entitlement;
  await checkGrant(tx, { id, entityType, entityId, featureId, featureType, aggregationMode: mode, grant }, meter, path);
  Object.assign(entitlement, { aggregationMode: mode, ...grantColumns(grant) });
}

function changeAllowance(entitlement: Entitlement, change: EntitlementChange): void {
  if (change.isSoftLimit !== undefined) entitlement.isSoftLimit = change.isSoftLimit;
  if (change.usageLimit !== undefined) entitlement.usageLimit = change.usageLimit ? String(change.usageLimit) : null;
  if (change.usageResetPeriod !== undefined) entitlement.usageResetPeriod = change.usageResetPeriod;
}

async function lockEntitlement(tx: Transaction, id: string): Promise<Entitlement> {
  const where = { id, environmentId: tx.scope.environmentId };
  const entitlement = await tx.em.findOne(Entitlement, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!entitlement) throw missing('entitlement', id);
  return entitlement;
}
