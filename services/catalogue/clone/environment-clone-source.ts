import type { Entitlement } from '../../../db/entities/catalogue/entitlement.ts';
import { Feature } from '../../../db/entities/catalogue/feature.ts';
import type { Group } from '../../../db/entities/catalogue/group.ts';
import type { Meter } from '../../../db/entities/catalogue/meter.ts';
import { Plan } from '../../../db/entities/catalogue/plan.ts';
import type { Price } from '../../../db/entities/catalogue/price.ts';
import type { PriceUnit } from '../../../db/entities/catalogue/price-unit.ts';
import type { Transaction } from '../../../db/transaction.ts';
import type { GrantRow } from '../../ledger/credit-grant-row.ts';
import { publishedEntitlements } from '../entitlement/entitlement.ts';
import { featuresById } from '../feature.ts';
import { groupsById } from '../group.ts';
import { metersById, wantedFilters } from '../meter.ts';
import { grantsOfPlan } from '../plan/plan-copy.ts';
import { pricesOfPlans } from '../price/price.ts';
import { priceUnitsById } from '../price/price-unit.ts';

/** A feature with what is copied with it. */
export interface SourceFeature {
  kind: 'feature';
  id: string;
  feature: Feature;
  meter: SourceMeter | null;
  group: Group | null;
}

/** A plan with everything that is copied with it, and what that refers to, by id. */
export interface SourcePlan {
  kind: 'plan';
  id: string;
  plan: Plan;
  prices: Price[];
  entitlements: Entitlement[];
  grants: GrantRow[];
  features: ReadonlyMap<string, Feature>;
  meters: ReadonlyMap<string, SourceMeter>;
  groups: ReadonlyMap<string, Group>;
  priceUnits: ReadonlyMap<string, PriceUnit>;
}

export type SourceItem = SourceFeature | SourcePlan;

/** A meter by its filters as they were last asked for, and the published features of it, the oldest first. */
export interface SourceMeter {
  meter: Meter;
  filters: Meter['filters'];
  features: Feature[];
}

/** The next published feature of the scope's environment behind `afterId`, in the order of ids; null behind the last. spec: platform §9 */
export async function nextSourceFeature(tx: Transaction, afterId: string): Promise<SourceFeature | null> {
  const { environmentId } = tx.scope;
  const behind = { environmentId, status: 'published', id: { $gt: afterId } };
  const feature = await tx.em.findOne(Feature, behind, { orderBy: { id: 'asc' } });
  if (!feature) return null;
  const meters = await sourceMeters(tx, [feature.meterId ?? null]);
  const groups = await groupsById(tx, [feature.groupId]);
  return {
    kind: 'feature',
    id: feature.id,
    feature,
    meter: meters.get(feature.meterId ?? '') ?? null,
    group: groups.get(feature.groupId ?? '') ?? null,
  };
}

/**
 * The next published plan of the scope's environment behind `afterId` with its prices that have not ended, its published
 * entitlements and credit grants; null behind the last. The plan is held meanwhile, so that no price is superseded between two of
 * these reads. spec: platform §9
 */
export async function nextSourcePlan(tx: Transaction, afterId: string): Promise<SourcePlan | null> {
  const id = await holdNextPlan(tx, afterId);
  if (id === null) return null;
  const plan = await tx.em.findOneOrFail(Plan, { id, environmentId: tx.scope.environmentId });
  const prices = (await pricesOfPlans(tx, [id], true)).get(id) ?? [];
  const entitlements = (await publishedEntitlements(tx, [id])).get(id) ?? [];
  const named = (pick: (price: Price) => string | null | undefined) => prices.map((price) => pick(price) ?? null);
  return {
    kind: 'plan',
    id,
    plan,
    prices,
    entitlements,
    grants: await grantsOfPlan(tx, id),
    features: await featuresById(
      tx,
      entitlements.map(({ featureId }) => featureId),
    ),
    meters: await sourceMeters(
      tx,
      named(({ meterId }) => meterId),
    ),
    groups: await groupsById(
      tx,
      named(({ groupId }) => groupId),
    ),
    priceUnits: await priceUnitsById(
      tx,
      named(({ priceUnitId }) => priceUnitId),
    ),
  };
}

/** Holds the next plan; one that is archived while it is waited for is passed over. */
async function holdNextPlan(tx: Transaction, afterId: string): Promise<string | null> {
  const { environmentId } = tx.scope;
  const live = `from plan where environment_id = $1 and status = 'published'`;
  for (let after = afterId; ; ) {
    const [next] = await tx.rows<{ id: string }>(`select id ${live} and id > $2 order by id limit 1`, [
      environmentId,
      after,
    ]);
    if (!next) return null;
    const [held] = await tx.rows(`select id ${live} and id = $2 for share`, [environmentId, next.id]);
    if (held) return next.id;
    after = next.id;
  }
}

async function sourceMeters(tx: Transaction, ids: readonly (string | null)[]): Promise<Map<string, SourceMeter>> {
  const meters = [...(await metersById(tx, ids)).values()];
  const published = { environmentId: tx.scope.environmentId, status: 'published' };
  const where = { ...published, meterId: { $in: meters.map(({ id }) => id) } };
  const features = meters.length === 0 ? [] : await tx.em.find(Feature, where, { orderBy: { id: 'asc' } });
  const sources = new Map<string, SourceMeter>();
  for (const meter of meters) {
    const filters = await wantedFilters(tx, meter);
    sources.set(meter.id, { meter, filters, features: features.filter(({ meterId }) => meterId === meter.id) });
  }
  return sources;
}
