import { LockMode } from '@mikro-orm/core';
import { Entitlement } from '../../../db/entities/catalogue/entitlement.ts';
import { Feature } from '../../../db/entities/catalogue/feature.ts';
import { Meter } from '../../../db/entities/catalogue/meter.ts';
import { Plan } from '../../../db/entities/catalogue/plan.ts';
import { Subscription } from '../../../db/entities/subscription/subscription.ts';
import { badField, missing, refuseInvalid } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { publishedAddon } from '../addon.ts';
import type { NewEntitlement } from './entitlement-rules.ts';

/** Held against archiving the owner or the feature meanwhile; other additions share it. */
const sharedLock = { lockMode: LockMode.PESSIMISTIC_READ, refresh: true } as const;

/**
 * Makes sure that the owner of a new entitlement exists and is published, and gives the subscription when it is one. Throws
 * `not_found`, `invalid_operation`. spec: catalogue-and-metering §8.2, §13 row 43
 */
export async function publishedOwner(
  tx: Transaction,
  input: NewEntitlement,
  path: string,
): Promise<Subscription | null> {
  const field = `${path}entity_id`;
  const where = { id: input.entityId!, environmentId: tx.scope.environmentId };
  if (input.entityType === 'ADDON') {
    await publishedAddon(tx, where.id, field);
    return null;
  }
  const isPlan = input.entityType === 'PLAN';
  const owner = isPlan
    ? await tx.em.findOne(Plan, where, sharedLock)
    : await tx.em.findOne(Subscription, where, { refresh: true });
  const noun = isPlan ? 'plan' : 'subscription';
  if (!owner) throw missing(noun, where.id, field);
  if (owner.status !== 'published') {
    throw refuseInvalid(field, `${noun} ${where.id} is ${owner.status}; entitlements need a published ${noun}`);
  }
  return owner instanceof Subscription ? owner : null;
}

/** The feature a new entitlement grants, with its meter. Throws `not_found`, `invalid_operation`, `validation_error`. spec: §8.2 */
export async function publishedFeature(
  tx: Transaction,
  input: NewEntitlement,
  path: string,
): Promise<{ feature: Feature; meter: Meter | null }> {
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
  return { feature, meter };
}

/**
 * The plan's entitlement that a subscription's overrides. Throws `not_found`, and `validation_error` for one that is not a
 * published entitlement of the subscription's plan for the same feature. spec: catalogue-and-metering §8.2
 */
export async function overriddenParent(
  tx: Transaction,
  input: NewEntitlement,
  subscription: Subscription,
  path: string,
): Promise<Entitlement> {
  const id = input.parentEntitlementId!;
  const field = `${path}parent_entitlement_id`;
  const parent = await tx.em.findOne(Entitlement, { id, environmentId: tx.scope.environmentId }, sharedLock);
  if (!parent) throw missing('entitlement', id, field);
  if (parent.entityType !== 'PLAN' || parent.entityId !== subscription.planId) {
    throw badField(field, `must name an entitlement of the subscription's plan ${subscription.planId}`);
  }
  if (parent.status !== 'published') throw badField(field, `names entitlement ${id}, which is ${parent.status}`);
  if (parent.featureId !== input.featureId) throw badField(field, `must grant feature ${input.featureId} too`);
  return parent;
}
