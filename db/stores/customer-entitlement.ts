import { later } from '../../billing/calendar.ts';
import { type AggregatedEntitlement, aggregateEntitlement, partsInForce } from '../../billing/entitlement.ts';
import { customerNow } from '../clock.ts';
import type { Feature } from '../entities/feature.ts';
import type { Meter } from '../entities/meter.ts';
import { Subscription } from '../entities/subscription.ts';
import { anyOf } from '../list.ts';
import { missing } from '../record.ts';
import type { Transaction } from '../transaction.ts';
import { entitlementParts, type StoredPart } from './entitlement-part.ts';
import { featuresById } from './feature.ts';
import { metersById } from './meter.ts';

/** A feature with everything that is granted of it. spec: catalogue-and-metering §8.3 */
export interface AggregatedFeature {
  feature: Feature;
  meter: Meter | null;
  entitlement: AggregatedEntitlement;
  sources: StoredPart[];
}

/** Absent, empty and null narrow nothing; ids and keys that exist nowhere match nothing. */
export interface FeatureFilters {
  featureIds?: readonly string[] | undefined;
  featureLookupKeys?: readonly string[] | undefined;
}

const grantingStatuses = ['active', 'trialing'];

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
  tx: Transaction,
  subscriptions: readonly Subscription[],
  filters: FeatureFilters,
  at: string,
): Promise<AggregatedFeature[]> {
  const ids = subscriptions.map((subscription) => subscription.id);
  const parts = await entitlementParts(tx, tx.scope.environmentId, ids);
  const byFeature = Map.groupBy(parts, (part) => part.featureId);
  const features = await featuresById(tx, [...byFeature.keys()]);
  const wanted = [...features.values()].filter((feature) => isWanted(feature, filters)).sort(byTypeAndName);
  const meters = await metersById(
    tx,
    wanted.map((feature) => feature.meterId ?? null),
  );
  return wanted.flatMap((feature) => {
    const sources = partsInForce(byFeature.get(feature.id) ?? [], at);
    if (sources.length === 0) return [];
    const entitlement = aggregateEntitlement(feature.type, sources);
    return [{ feature, meter: meters.get(feature.meterId ?? '') ?? null, entitlement, sources }];
  });
}

/** What a customer has through its subscriptions at its present. spec: catalogue-and-metering §8.1 */
export async function customerEntitlements(
  tx: Transaction,
  customerId: string,
  filters: FeatureFilters & { subscriptionIds?: readonly string[] | undefined },
): Promise<{ subscriptions: Subscription[]; features: AggregatedFeature[] }> {
  const at = await customerNow(tx, customerId);
  const subscriptions = await grantingSubscriptions(tx, customerId, at, filters.subscriptionIds);
  return { subscriptions, features: await aggregatedFeatures(tx, subscriptions, filters, at) };
}

/**
 * What one subscription grants, whatever its status; one that has not begun is shown as of its start. Throws `not_found`.
 * spec: catalogue-and-metering §8.1
 */
export async function subscriptionEntitlements(
  tx: Transaction,
  id: string,
  filters: FeatureFilters,
): Promise<{ subscription: Subscription; features: AggregatedFeature[] }> {
  const where = { id, environmentId: tx.scope.environmentId, status: 'published' };
  const subscription = await tx.em.findOne(Subscription, where);
  if (!subscription) throw missing('subscription', id);
  const at = later(await customerNow(tx, subscription.customerId), subscription.startDate);
  return { subscription, features: await aggregatedFeatures(tx, [subscription], filters, at) };
}

/** The subscription, if it can be given credits. Throws `not_found` for any but an active or trialing one. spec: wallets §1.2 */
export async function requireGrantingSubscription(tx: Transaction, id: string): Promise<void> {
  const granting = { $in: grantingStatuses };
  const where = { id, environmentId: tx.scope.environmentId, status: 'published', subscriptionStatus: granting };
  if (!(await tx.em.findOne(Subscription, where))) throw missing('active or trialing subscription', id);
}

function isWanted(feature: Feature, { featureIds = [], featureLookupKeys = [] }: FeatureFilters): boolean {
  if (featureIds.length > 0 && !featureIds.includes(feature.id)) return false;
  return featureLookupKeys.length === 0 || featureLookupKeys.includes(feature.lookupKey);
}

const typeOrder = ['metered', 'static', 'boolean', 'config'];

function byTypeAndName(a: Feature, b: Feature): number {
  const byType = typeOrder.indexOf(a.type) - typeOrder.indexOf(b.type);
  if (byType !== 0) return byType;
  return a.name < b.name || (a.name === b.name && a.id < b.id) ? -1 : 1;
}
