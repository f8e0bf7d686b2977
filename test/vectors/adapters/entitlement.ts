import {
  aggregateEntitlement,
  type EntitlementPart,
  overridableMembers,
  partsInForce,
} from '../../../billing/allowance/entitlement.ts';
import { usagePercent, usageWindow } from '../../../billing/allowance/usage-summary.ts';
import { knownZone } from '../../../metering/series.ts';
import { type Adapters, type Given, instant, text } from '../adapter.ts';

const anyInstant = '2026-01-01T00:00:00.000Z';

function entitlementAggregate(given: Given): unknown {
  const parts: EntitlementPart[] = given.entitlements.flatMap((part: Given) =>
    Array.from({ length: part.attached_instances ?? 1 }, () => partOf(part, given.feature_type)),
  );
  const granted = aggregateEntitlement(given.feature_type, partsInForce(parts, anyInstant));
  return {
    is_enabled: granted.isEnabled,
    usage_limit: granted.usageLimit,
    is_soft_limit: granted.isSoftLimit,
    usage_reset_period: granted.usageResetPeriod,
    static_values: granted.staticValues,
    config_values: granted.configValues,
  };
}

/** Every type but boolean is enabled when it is created. */
function partOf(part: Given, featureType: string): EntitlementPart {
  return {
    id: part.id,
    subscriptionId: 'subscription',
    entityType: part.entity_type,
    parentEntitlementId: part.parent_entitlement_id ?? null,
    overriddenMembers: overridableMembers.filter((member) => part[member] !== undefined),
    isEnabled: part.is_enabled ?? featureType !== 'boolean',
    isSoftLimit: part.is_soft_limit ?? false,
    usageLimit: text(part.usage_limit),
    usageResetPeriod: part.usage_reset_period ?? null,
    staticValue: part.static_value ?? null,
    configValue: part.config_value ?? null,
    startDate: null,
    endDate: null,
  };
}

/** The vectors' reset period is never the billing period, so any period no allowance has will do for that. */
function usageSummary(given: Given): unknown {
  const now = instant(given.now);
  const billingAnchor = instant(given.billing_anchor);
  const subscription = {
    billingPeriod: 'DAILY' as const,
    billingPeriodCount: 1000,
    billingAnchor,
    timezone: knownZone(given.timezone),
    startDate: billingAnchor,
    endDate: given.subscription_end ? instant(given.subscription_end) : null,
    currentPeriod: { start: billingAnchor, end: now },
  };
  const limit = text(given.usage_limit);
  return {
    usage_percent: usagePercent(given.current_usage, limit),
    is_unlimited: limit === null,
    next_usage_reset_at: usageWindow(subscription, given.usage_reset_period, now).nextResetAt,
  };
}

export const entitlementAdapters: Adapters = {
  entitlement_aggregate: entitlementAggregate,
  usage_summary: usageSummary,
};
