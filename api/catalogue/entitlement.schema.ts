import { z } from 'zod';
import type { EntitlementChange } from '../../services/catalogue/entitlement/entitlement.ts';
import type { NewEntitlement } from '../../services/catalogue/entitlement/entitlement-rules.ts';
import type { EntitlementWithFeature } from '../../services/catalogue/plan/plan-content.ts';
import { recordOutput, timestampInput, timestampOutput, viewRecord } from '../scalars.schema.ts';
import { grantFields, grantOutput, sentGrant, viewGrant } from '../usage/entitlement-grant.schema.ts';
import { addonRecord, viewAddonRecord } from './addon-record.schema.ts';
import { feature, featureTypes, viewFeature } from './feature.schema.ts';
import { planRecord, viewPlanRecord } from './plan-record.schema.ts';

export const entitlementEntityTypes = ['PLAN', 'ADDON', 'SUBSCRIPTION'] as const;
const resetPeriods = ['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL', 'NEVER'] as const;

/** What an entitlement grants. spec: catalogue-and-metering §8.2 */
const valueFields = {
  ...grantFields,
  is_enabled: z.boolean().nullish(),
  is_soft_limit: z.boolean().nullish(),
  usage_limit: z.int('must be an integer of at least 0').min(0, 'must be an integer of at least 0').nullish(),
  usage_reset_period: z.union([z.literal(''), z.enum(resetPeriods)]).nullish(),
  static_value: z.string().max(10_000).nullish(),
  config_value: z.record(z.string(), z.unknown()).nullish(),
  aggregation_mode: z.union([z.literal(''), z.enum(['additive', 'parallel'])]).nullish(),
};

const entitlementObject = z.object({
  ...valueFields,
  plan_id: z.string().max(255).nullish(),
  entity_type: z.union([z.literal(''), z.enum(entitlementEntityTypes)]).nullish(),
  entity_id: z.string().max(255).nullish(),
  feature_id: z.string().min(1).max(255),
  feature_type: z.enum(featureTypes),
  parent_entitlement_id: z.string().max(255).nullish(),
  start_date: timestampInput().nullish(),
  end_date: timestampInput().nullish(),
});
const partialEntitlement = entitlementObject.partial();
type PartialEntitlement = z.output<typeof partialEntitlement>;

function refuseContradictions(context: z.RefinementCtx, body: PartialEntitlement): void {
  const { plan_id, entity_type, entity_id } = body;
  if (plan_id && ((entity_type && entity_type !== 'PLAN') || (entity_id && entity_id !== plan_id))) {
    const message = 'must name the same plan as entity_type and entity_id when both are sent';
    context.addIssue({ code: 'custom', path: ['plan_id'], message });
  }
}

export const createEntitlementBody = entitlementObject
  .superRefine((body, context) => refuseContradictions(context, body))
  .meta({
    examples: [
      {
        plan_id: 'plan_01K9ZQ3V5W6X7Y8Z9A0B1C2D3E',
        feature_id: 'feat_01K9ZQ3V5W6X7Y8Z9A0B1C2D3F',
        feature_type: 'metered',
        usage_limit: 10_000,
        usage_reset_period: 'MONTHLY',
      },
    ],
  });

export const createEntitlementsBody = z.object({
  items: z.array(createEntitlementBody).min(1, 'must have 1 to 100 items').max(100, 'must have 1 to 100 items'),
});

export const updateEntitlementBody = z.object({ ...valueFields, clear_grant_config: z.boolean().nullish() });

const requiredOfNew = ['feature_id', 'feature_type'] as const;

/** An entitlement in a plan update: with `id` an update, without one a new entitlement of the plan. spec: §3 Update */
export const planEntitlementElement = partialEntitlement
  .extend({ id: z.string().max(255).nullish() })
  .superRefine((body, context) => {
    refuseContradictions(context, body);
    if (body.id) return;
    const absent = requiredOfNew.find((field) => body[field] === undefined);
    if (absent) context.addIssue({ code: 'custom', path: [absent], message: 'is required for a new entitlement' });
  });

/** A new entitlement; the schema has made sure of the members every one needs. */
export function newEntitlement(body: PartialEntitlement): NewEntitlement {
  return {
    entityType: body.entity_type || (body.plan_id ? 'PLAN' : undefined),
    entityId: body.entity_id || body.plan_id || undefined,
    featureId: body.feature_id!,
    featureType: body.feature_type!,
    isEnabled: body.is_enabled ?? undefined,
    isSoftLimit: body.is_soft_limit ?? undefined,
    usageLimit: body.usage_limit,
    usageResetPeriod: body.usage_reset_period || null,
    staticValue: body.static_value,
    configValue: body.config_value,
    aggregationMode: body.aggregation_mode || undefined,
    parentEntitlementId: body.parent_entitlement_id || undefined,
    startDate: body.start_date,
    endDate: body.end_date,
    grant: sentGrant(body),
  };
}

export function entitlementChange(body: z.output<typeof updateEntitlementBody>): EntitlementChange {
  return {
    isEnabled: body.is_enabled ?? undefined,
    isSoftLimit: body.is_soft_limit ?? undefined,
    usageLimit: body.usage_limit,
    usageResetPeriod: body.usage_reset_period === '' ? null : (body.usage_reset_period ?? undefined),
    staticValue: body.static_value ?? undefined,
    configValue: body.config_value ?? undefined,
    aggregationMode: body.aggregation_mode || undefined,
    grant: sentGrant(body),
    clearsGrant: body.clear_grant_config ?? undefined,
  };
}

export const entitlement = z
  .object({
    ...recordOutput,
    entity_type: z.enum(entitlementEntityTypes),
    entity_id: z.string(),
    plan_id: z.string().nullable(),
    feature_id: z.string(),
    feature: feature.nullable(),
    feature_type: z.enum(featureTypes),
    is_enabled: z.boolean(),
    is_soft_limit: z.boolean(),
    usage_limit: z.int().nullable(),
    usage_reset_period: z.string().nullable(),
    static_value: z.string().nullable(),
    config_value: z.record(z.string(), z.unknown()).nullable(),
    aggregation_mode: z.string(),
    parent_entitlement_id: z.string().nullable(),
    display_order: z.int().nullable(),
    start_date: timestampOutput().nullable(),
    end_date: timestampOutput().nullable(),
    ...grantOutput,
    addon: addonRecord.nullable(),
    plan: planRecord.nullable(),
  })
  .meta({ id: 'Entitlement' });

type EntitlementView = z.output<typeof entitlement>;

export function viewEntitlement(content: EntitlementWithFeature): EntitlementView {
  const row = content.entitlement;
  return {
    ...viewRecord(row),
    entity_type: row.entityType as EntitlementView['entity_type'],
    entity_id: row.entityId,
    plan_id: row.entityType === 'PLAN' ? row.entityId : null,
    feature_id: row.featureId,
    feature: content.feature ? viewFeature(content.feature, content.meter) : null,
    feature_type: row.featureType as EntitlementView['feature_type'],
    is_enabled: row.isEnabled,
    is_soft_limit: row.isSoftLimit,
    usage_limit: row.usageLimit == null ? null : Number(row.usageLimit),
    usage_reset_period: row.usageResetPeriod ?? null,
    static_value: row.staticValue ?? null,
    config_value: row.configValue ?? null,
    aggregation_mode: row.aggregationMode,
    parent_entitlement_id: row.parentEntitlementId ?? null,
    display_order: row.displayOrder ?? null,
    start_date: row.startDate ?? null,
    end_date: row.endDate ?? null,
    ...viewGrant(row),
    addon: content.addon ? viewAddonRecord(content.addon) : null,
    plan: content.plan ? viewPlanRecord(content.plan) : null,
  };
}
