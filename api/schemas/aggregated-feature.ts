import { z } from 'zod';
import type { AggregatedFeature } from '../../db/stores/customer-entitlement.ts';
import type { StoredPart } from '../../db/stores/entitlement-part.ts';
import { jsonNumber } from '../decimal.ts';
import { feature, viewFeature } from './feature.ts';
import { numberOutput } from './scalars.ts';

/** Limits of several parts add up to integers of any size. */
export const limitOutput = () => numberOutput().meta({ type: 'integer' }).nullable();

const sourceEntityTypes = ['plan', 'addon', 'subscription'] as const;

export const entitlementSource = z
  .object({
    subscription_id: z.string(),
    entity_id: z.string(),
    entity_type: z.enum(sourceEntityTypes),
    entity_name: z.string(),
    entitlement_id: z.string(),
    quantity: z.int(),
    is_enabled: z.boolean(),
    usage_limit: limitOutput(),
    usage_reset_period: z.string().nullable(),
    static_value: z.string().nullable(),
    config_value: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'EntitlementSource' });

/** A feature with what all its parts grant together. spec: catalogue-and-metering §8.3 Element shape */
export const aggregatedFeature = z
  .object({
    feature,
    entitlement: z
      .object({
        is_enabled: z.boolean(),
        usage_limit: limitOutput(),
        is_soft_limit: z.boolean(),
        usage_reset_period: z.string().nullable(),
        static_values: z.array(z.string()),
        config_values: z.array(z.record(z.string(), z.unknown())),
        aggregation_mode: z.string(),
        buckets: z.array(z.unknown()),
      })
      .meta({ id: 'AggregatedEntitlement' }),
    sources: z.array(entitlementSource),
  })
  .meta({ id: 'AggregatedFeature' });

/** The wire form of an aggregated feature. Grants in buckets do not exist yet: every part is additive. */
export function viewAggregatedFeature(row: AggregatedFeature): z.output<typeof aggregatedFeature> {
  const { entitlement } = row;
  return {
    feature: viewFeature(row.feature, row.meter),
    entitlement: {
      is_enabled: entitlement.isEnabled,
      usage_limit: viewLimit(entitlement.usageLimit),
      is_soft_limit: entitlement.isSoftLimit,
      usage_reset_period: entitlement.usageResetPeriod,
      static_values: entitlement.staticValues,
      config_values: entitlement.configValues,
      aggregation_mode: 'additive',
      buckets: [],
    },
    sources: row.sources.map(viewSource),
  };
}

export function viewSource(source: StoredPart): z.output<typeof entitlementSource> {
  return {
    subscription_id: source.subscriptionId,
    entity_id: source.entityId,
    entity_type: source.entityType.toLowerCase() as (typeof sourceEntityTypes)[number],
    entity_name: source.entityName,
    entitlement_id: source.id,
    quantity: 1,
    is_enabled: source.isEnabled,
    usage_limit: viewLimit(source.usageLimit),
    usage_reset_period: source.usageResetPeriod,
    static_value: source.staticValue,
    config_value: source.configValue,
  };
}

export function viewLimit(limit: string | null): RawJson | null {
  return limit === null ? null : jsonNumber(limit);
}
