import { refuse } from '../../../billing/refusal.ts';
import { Feature } from '../../../db/entities/catalogue/feature.ts';
import { Group } from '../../../db/entities/catalogue/group.ts';
import { Meter } from '../../../db/entities/catalogue/meter.ts';
import { Plan } from '../../../db/entities/catalogue/plan.ts';
import { PriceUnit } from '../../../db/entities/catalogue/price-unit.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { createGroup, type GroupedType, groupToJoin } from '../group.ts';
import { createMeter } from '../meter.ts';
import { createPriceUnit } from '../price/price-unit.ts';
import type { SourceMeter } from './environment-clone-source.ts';

/** Where copies come from, and the meters that were made for them, which the caller has counted. */
export interface CloneOrigin {
  sourceEnvironmentId: string;
  newMeters: Meter[];
}

/** The metadata of a copy: that of its source, and which that is. spec: platform §9 */
export function copiedMetadata(
  noun: string,
  source: { id: string; metadata: Record<string, string> },
  origin: CloneOrigin,
): Record<string, string> {
  return { ...source.metadata, ...marks(noun, source.id, origin) };
}

function marks(noun: string, id: string, { sourceEnvironmentId }: CloneOrigin): Record<string, string> {
  return { [`source_environment_${noun}_id`]: id, source_environment_id: sourceEnvironmentId };
}

type Keyed = { id: string; lookupKey: string };

/**
 * What stands for a feature of the source in the environment of the scope: the published one of its lookup key, or, where it
 * has none, the published copy of it. Null when there is none. spec: platform §9
 */
export function featureLike(tx: Transaction, source: Keyed, origin: CloneOrigin): Promise<Feature | null> {
  return tx.em.findOne(Feature, sameItem(tx, 'feature', source, origin));
}

/** As `featureLike`, of a plan. */
export function planLike(tx: Transaction, source: Keyed, origin: CloneOrigin): Promise<Plan | null> {
  return tx.em.findOne(Plan, sameItem(tx, 'plan', source, origin));
}

function sameItem(tx: Transaction, noun: string, { id, lookupKey }: Keyed, origin: CloneOrigin) {
  const published = { environmentId: tx.scope.environmentId, status: 'published' };
  return lookupKey === ''
    ? { ...published, metadata: { $contains: marks(noun, id, origin) } }
    : { ...published, lookupKey };
}

/**
 * The group with the lookup key of the source's, copied when there is none, and held against archiving. Throws
 * `validation_error` when that group holds something else. spec: platform §9
 */
export async function groupLike(
  tx: Transaction,
  source: Group,
  member: GroupedType,
  origin: CloneOrigin,
): Promise<string> {
  const { name, entityType, lookupKey } = source;
  const where = { environmentId: tx.scope.environmentId, lookupKey, status: 'published' };
  const known = await tx.em.findOne(Group, where);
  if (!known) {
    const metadata = copiedMetadata('group', source, origin);
    const { group } = await createGroup(tx, { name, entityType: entityType as GroupedType, lookupKey, metadata });
    return group.id;
  }
  await groupToJoin(tx, known.id, member);
  return known.id;
}

/**
 * The meter that stands for one of the source: its copy; for prices also the meter of what stands for one of its features. Else
 * a copy is made, for a feature that is being copied or for prices that name a meter without any feature. Throws
 * `invalid_operation` when the meter is archived, or belongs to a feature that the target does not have. spec: platform §9
 */
export async function meterLike(
  tx: Transaction,
  source: SourceMeter,
  origin: CloneOrigin,
  copying: 'feature' | 'price',
): Promise<Meter> {
  const { meter, features } = source;
  const published = { environmentId: tx.scope.environmentId, status: 'published' };
  const copy = { ...published, sourceEnvironmentMeterId: meter.id };
  const known = await tx.em.findOne(Meter, copy, { orderBy: { id: 'asc' } });
  if (known) return known;
  for (const feature of copying === 'price' ? features : []) {
    const like = await featureLike(tx, feature, origin);
    const standIn = like?.meterId ? await tx.em.findOne(Meter, { ...published, id: like.meterId }) : null;
    if (standIn) return standIn;
  }
  if (meter.status !== 'published') {
    throw refuse(
      'invalid_operation',
      `meter ${meter.id} is ${meter.status} and not copied; archive the feature of it and end the prices on it`,
    );
  }
  if (copying === 'price' && features[0]) throw absent(`meter ${meter.id}`, features[0]);
  return copiedMeter(tx, source, origin);
}

async function copiedMeter(tx: Transaction, { meter, filters }: SourceMeter, origin: CloneOrigin): Promise<Meter> {
  const { name, eventName, aggregation, resetUsage } = meter;
  const copy = await createMeter(tx, { name, eventName, aggregation, filters, resetUsage }, '', meter.id);
  origin.newMeters.push(copy);
  return copy;
}

/**
 * The feature that stands for one of the source. Throws `invalid_operation` when there is none, or it is of another type.
 * spec: platform §9
 */
export async function grantedFeature(tx: Transaction, source: Feature, origin: CloneOrigin): Promise<Feature> {
  const like = await featureLike(tx, source, origin);
  if (!like) throw absent('an entitlement', source);
  if (like.type === source.type) return like;
  throw refuse(
    'invalid_operation',
    `feature ${source.id} is ${source.type}, but ${like.id} of the target with the same lookup_key ${source.lookupKey} is ${like.type}`,
  );
}

function absent(what: string, feature: Keyed): Error {
  return refuse(
    'invalid_operation',
    `${what} belongs to feature ${feature.id}, which the target does not have; see why it was not copied, and clone again`,
  );
}

/**
 * Sees to it that the custom currency of a code exists here: one that does not is copied. Throws `invalid_operation` for an
 * archived one. spec: platform §9
 */
export async function seeToPriceUnit(tx: Transaction, source: PriceUnit, origin: CloneOrigin): Promise<void> {
  const { name, code, symbol, baseCurrency, conversionRate, precision } = source;
  const where = { environmentId: tx.scope.environmentId, code, status: 'published' };
  if ((await tx.em.count(PriceUnit, where)) > 0) return;
  if (source.status !== 'published') {
    throw refuse(
      'invalid_operation',
      `price unit ${code} is archived and not copied; create one of this code in the target, or end the prices in it`,
    );
  }
  const metadata = copiedMetadata('price_unit', source, origin);
  await createPriceUnit(tx, { name, code, symbol, baseCurrency, conversionRate, precision, metadata });
}
