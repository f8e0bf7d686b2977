import { z } from 'zod';
import type { AggregatedFeature } from '../../services/subscription/entitlement/customer-entitlement.ts';
import type { FeatureUsage, UsageSummary } from '../../services/subscription/entitlement/customer-usage.ts';
import type { SubscriptionContent } from '../../services/subscription/read/subscription-read.ts';
import { feature, viewFeature } from '../catalogue/feature.schema.ts';
import { pagination } from '../list.ts';
import { decimalOutput, idListQuery, timestampOutput } from '../scalars.schema.ts';
import { subscription, viewSubscription } from '../subscription/subscription-view.schema.ts';
import {
  aggregatedFeature,
  entitlementSource,
  limitOutput,
  viewAggregatedFeature,
  viewLimit,
  viewSource,
} from '../usage/aggregated-feature.schema.ts';

const featureIds = { feature_ids: idListQuery().optional() };
const subscriptionIds = { subscription_ids: idListQuery().optional() };

export const subscriptionEntitlementsQuery = z.object(featureIds);
export const customerEntitlementsQuery = z.object({ ...featureIds, ...subscriptionIds });
export const usageSummaryQuery = z.object({
  ...featureIds,
  ...subscriptionIds,
  feature_lookup_keys: idListQuery().optional(),
});
export const namedUsageSummaryQuery = usageSummaryQuery.extend({
  customer_id: z.string().max(255).optional(),
  customer_lookup_key: z.string().max(255).optional(),
});

export const subscriptionEntitlements = z
  .object({ subscription_id: z.string(), plan_id: z.string(), features: z.array(aggregatedFeature) })
  .meta({ id: 'SubscriptionEntitlementsResponse' });

export const customerEntitlements = z
  .object({
    customer_id: z.string(),
    features: z.array(aggregatedFeature),
    subscriptions: z.array(subscription),
  })
  .meta({ id: 'CustomerEntitlementsResponse' });

const featureUsage = z
  .object({
    feature,
    total_limit: limitOutput(),
    is_unlimited: z.boolean(),
    current_usage: decimalOutput(),
    usage_percent: decimalOutput(),
    is_enabled: z.boolean(),
    is_soft_limit: z.boolean(),
    next_usage_reset_at: timestampOutput().nullable(),
    sources: z.array(entitlementSource),
  })
  .meta({ id: 'FeatureUsageSummary' });

export const usageSummary = z
  .object({
    customer_id: z.string(),
    features: z.array(featureUsage),
    period: z.object({ start_time: timestampOutput(), end_time: timestampOutput(), period: z.string() }).nullable(),
    pagination,
  })
  .meta({ id: 'CustomerUsageSummaryResponse' });

export function viewCustomerEntitlements(
  customerId: string,
  features: readonly AggregatedFeature[],
  subscriptions: readonly SubscriptionContent[],
): z.output<typeof customerEntitlements> {
  return {
    customer_id: customerId,
    features: features.map(viewAggregatedFeature),
    subscriptions: subscriptions.map((content) => viewSubscription(content)),
  };
}

/** The summary is not paged: one page holds every feature. */
export function viewUsageSummary(summary: UsageSummary): z.output<typeof usageSummary> {
  const { customerId, features, period } = summary;
  return {
    customer_id: customerId,
    features: features.map(viewFeatureUsage),
    period: period && { start_time: period.start, end_time: period.end, period: period.billingPeriod },
    pagination: { limit: features.length, offset: 0, total: features.length },
  };
}

function viewFeatureUsage(row: FeatureUsage): z.output<typeof featureUsage> {
  return {
    feature: viewFeature(row.feature, row.meter),
    total_limit: viewLimit(row.totalLimit),
    is_unlimited: row.isUnlimited,
    current_usage: row.currentUsage,
    usage_percent: row.usagePercent,
    is_enabled: row.entitlement.isEnabled,
    is_soft_limit: row.entitlement.isSoftLimit,
    next_usage_reset_at: row.nextResetAt,
    sources: row.sources.map(viewSource),
  };
}
