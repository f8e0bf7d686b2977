import { z } from 'zod';
import { meterGrants } from '../../billing/allowance/grant.ts';
import type { StoredPart } from '../../services/catalogue/entitlement/entitlement-part.ts';
import type { AggregatedFeature } from '../../services/subscription/entitlement/customer-entitlement.ts';
import { feature, viewFeature } from '../catalogue/feature.schema.ts';
import { jsonNumber } from '../decimal.ts';
import { numberOutput } from '../scalars.schema.ts';
import { grantOutput } from './entitlement-grant.schema.ts';

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
        buckets: z.array(
          z
            .object({
              entitlement_id: z.string(),
              source_entity_id: z.string(),
              usage_limit: limitOutput(),
              grant_measure: grantOutput.grant_measure,
              grant_quota: grantOutput.grant_quota,
              grant_duration_unit: grantOutput.grant_duration_unit,
              grant_duration_value: grantOutput.grant_duration_value,
            })
            .meta({ id: 'AggregatedEntitlementBucket' }),
        ),
      })
      .meta({ id: 'AggregatedEntitlement' }),
    sources: z.array(entitlementSource),
  })
  .meta({ id: 'AggregatedFeature' });

/** The wire form of an aggregated feature. */
export function viewAggregatedFeature(row: AggregatedFeature): z.output<typeof aggregatedFeature> {
  const { entitlement } = row;
  const isParallel = meterGrants(row.sources)?.mode === 'parallel';
  return {
    feature: viewFeature(row.feature, row.meter),
    entitlement: {
      is_enabled: entitlement.isEnabled,
      usage_limit: viewLimit(entitlement.usageLimit),
      is_soft_limit: entitlement.isSoftLimit,
      usage_reset_period: entitlement.usageResetPeriod,
      static_values: entitlement.staticValues,
      config_values: entitlement.configValues,
      aggregation_mode: isParallel ? 'parallel' : 'additive',
      buckets: isParallel ? viewBuckets(row.sources) : [],
    },
    sources: row.sources.map(viewSource),
  };
}

/** One row a configuration, however often its add-on is attached. spec: catalogue-and-metering §8.3 Element shape */
function viewBuckets(sources: readonly StoredPart[]) {
  const granting = sources.flatMap((source) =>
    source.isEnabled && source.grant ? [{ source, grant: source.grant }] : [],
  );
  const distinct = new Map(granting.map((one) => [one.source.id, one]));
  return [...distinct.values()].map(({ source, grant }) => ({
    entitlement_id: source.id,
    source_entity_id: source.entityId,
    usage_limit: viewLimit(source.usageLimit),
    grant_measure: grant.measure,
    grant_quota: grant.quota,
    grant_duration_unit: grant.durationUnit,
    grant_duration_value: grant.durationValue,
  }));
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
