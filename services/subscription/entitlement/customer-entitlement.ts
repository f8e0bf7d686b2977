import {
  type AggregatedEntitlement,
  aggregateEntitlement,
  partsInForce,
} from '../../../billing/allowance/entitlement.ts';
import { shownParts } from '../../../billing/line/shown-limit.ts';
import type { Feature } from '../../../db/entities/catalogue/feature.ts';
import type { Meter } from '../../../db/entities/catalogue/meter.ts';
import { Subscription } from '../../../db/entities/subscription/subscription.ts';
import { anyOf } from '../../../db/list.ts';
import type { ScopedSql, Transaction } from '../../../db/transaction.ts';
import { entitlementParts, type ShownPart, type StoredPart } from '../../catalogue/entitlement/entitlement-part.ts';
import { subscriptionsNamed } from '../../subscription-set.ts';

/** A feature with everything that is granted of it. spec: catalogue-and-metering §8.3 */
export interface AggregatedFeature {
  feature: Feature;
  meter: Meter | null;
  entitlement: AggregatedEntitlement;
  /** A metered one's limits are those of the present: of a part of a period its share. */
  sources: StoredPart[];
  /** Everything that is granted of the feature at any time. */
  parts: StoredPart[];
}

/** Absent, empty and null narrow nothing; ids and keys that exist nowhere match nothing. */
export interface FeatureFilters {
  featureIds?: readonly string[] | undefined;
  featureLookupKeys?: readonly string[] | undefined;
}

/** Of subscriptions that give features. */
export const grantingStatuses = ['active', 'trialing'];

/** The subscriptions through which a customer has features at an instant: begun, active or trialing; oldest first. spec: platform §10.3 */
export async function grantingSubscriptions(
  tx: Transaction,
  customerId: string,
  at: string,
  subscriptionIds?: readonly string[],
): Promise<Subscription[]> {
  const where = {
    environmentId: tx.scope.environmentId,
    status: 'published',
    customerId,
    subscriptionStatus: { $in: grantingStatuses },
    startDate: { $lte: at },
    ...anyOf('id', subscriptionIds),
  };
  return tx.em.find(Subscription, where, { orderBy: { startDate: 'asc', id: 'asc' } });
}

/**
 * What subscriptions of one customer grant at its present, feature by feature, aggregated over all of them; metered features
 * first, then static, boolean and config, each by name. spec: catalogue-and-metering §7.7, §8.3
 */
export async function aggregatedFeatures(
  tx: ScopedSql,
  subscriptions: readonly Pick<Subscription, 'id'>[],
  filters: FeatureFilters,
  at: string,
): Promise<AggregatedFeature[]> {
  const ids = subscriptions.map((subscription) => subscription.id);
  const parts = await entitlementParts(tx, tx.scope.environmentId, subscriptionsNamed(ids));
  return featuresOfParts(parts, filters, at);
}

/** The same of parts that were read before. */
export function featuresOfParts(parts: readonly ShownPart[], filters: FeatureFilters, at: string): AggregatedFeature[] {
  const byFeature = Map.groupBy(parts, (part) => part.featureId);
  const granted = [...byFeature.values()].flatMap(([first]) => first ?? []);
  const wanted = granted.filter(({ feature }) => isWanted(feature, filters)).sort(byTypeAndName);
  return wanted.flatMap(({ feature, meter }) => {
    const parts = byFeature.get(feature.id) ?? [];
    const sources = feature.type === 'metered' ? shownParts(parts, at) : partsInForce(parts, at);
    if (sources.length === 0) return [];
    const entitlement = aggregateEntitlement(feature.type, sources);
    return [{ feature, meter, entitlement, sources, parts }];
  });
}

function isWanted(feature: Feature, { featureIds = [], featureLookupKeys = [] }: FeatureFilters): boolean {
  if (featureIds.length > 0 && !featureIds.includes(feature.id)) return false;
  return featureLookupKeys.length === 0 || featureLookupKeys.includes(feature.lookupKey);
}

const typeOrder = ['metered', 'static', 'boolean', 'config'];

function byTypeAndName({ feature: a }: ShownPart, { feature: b }: ShownPart): number {
  const byType = typeOrder.indexOf(a.type) - typeOrder.indexOf(b.type);
  if (byType !== 0) return byType;
  return a.name < b.name || (a.name === b.name && a.id < b.id) ? -1 : 1;
}
