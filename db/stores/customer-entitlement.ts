import { later } from '../../billing/calendar.ts';
import { type AggregatedEntitlement, aggregateEntitlement, partsInForce } from '../../billing/entitlement.ts';
import { customerNow, realNow } from '../clock.ts';
import { instantText } from '../columns.ts';
import type { Feature } from '../entities/feature.ts';
import type { Meter } from '../entities/meter.ts';
import { Subscription } from '../entities/subscription.ts';
import { anyOf } from '../list.ts';
import { missing } from '../record.ts';
import type { Transaction } from '../transaction.ts';
import { entitlementParts, type ShownPart, type StoredPart } from './entitlement-part.ts';

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
  const granted = [...byFeature.values()].flatMap(([first]) => first ?? []);
  const wanted = granted.filter(({ feature }) => isWanted(feature, filters)).sort(byTypeAndName);
  return wanted.flatMap(({ feature, meter }) => {
    const sources = partsInForce(byFeature.get(feature.id) ?? [], at);
    if (sources.length === 0) return [];
    const entitlement = aggregateEntitlement(feature.type, sources);
    return [{ feature, meter, entitlement, sources }];
  });
}

/** What a customer has through its subscriptions at its present. Throws `not_found`. spec: catalogue-and-metering §8.1 */
export async function customerEntitlements(
  tx: Transaction,
  customerId: string,
  filters: FeatureFilters & { subscriptionIds?: readonly string[] | undefined },
): Promise<{ subscriptions: Subscription[]; features: AggregatedFeature[] }> {
  const at = await presentOf(tx, customerId);
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

/** The customer's present, in the statement that finds out whether it exists. Throws `not_found`. */
async function presentOf(tx: Transaction, customerId: string): Promise<string> {
  const [row] = await tx.rows<{ frozen_time: string | null }>(
    `select clock.frozen_time from customer c left join test_clock clock on clock.id = c.test_clock_id
     where c.environment_id = $1 and c.id = $2`,
    [tx.scope.environmentId, customerId],
  );
  if (!row) throw missing('customer', customerId);
  return row.frozen_time ? instantText(row.frozen_time) : realNow();
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
