import { z } from 'zod';
import { Entitlement } from '../../../db/entities/catalogue/entitlement.ts';
import {
  archiveEntitlement,
  createEntitlement,
  updateEntitlement,
} from '../../../services/catalogue/entitlement/entitlement.ts';
import { createEntitlementBody, entitlementChange, newEntitlement } from '../entitlement.schema.ts';
import { type CatalogueNoun, type Entry, featureNamed } from './noun.ts';

const { is_enabled, is_soft_limit, usage_limit, usage_reset_period, static_value, config_value, aggregation_mode } =
  createEntitlementBody.shape;
const { grant_measure, grant_quota, grant_duration_unit, grant_duration_value, grant_allocation_behavior } =
  createEntitlementBody.shape;
const grantMembers = {
  grant_measure,
  grant_quota,
  grant_duration_unit,
  grant_duration_value,
  grant_allocation_behavior,
};
const noGrant = {
  grant_measure: '',
  grant_quota: '',
  grant_duration_unit: '',
  grant_duration_value: null,
  grant_allocation_behavior: '',
};

/** How a budget that a file does not say more about begins. */
function allocationOf({ grant_measure: measure, grant_duration_unit: unit }: Entry): string {
  return measure && unit !== 'subscription_period' ? 'first_usage' : '';
}

/** What a plan or add-on grants, known by the feature. spec: catalogue-and-metering §8 */
export const entitlementNoun: CatalogueNoun = {
  noun: 'entitlement',
  section: 'entitlements',
  permission: 'entitlement:write',
  identity: 'feature',
  verbatim: ['config_value'],
  fields: { feature_id: 'feature', feature_type: 'feature' },
  schema: z.strictObject({
    feature: z.string().min(1, 'must not be empty').max(255),
    is_enabled,
    is_soft_limit,
    usage_limit,
    usage_reset_period,
    static_value,
    config_value,
    aggregation_mode,
    ...grantMembers,
  }),
  defaults: (entry) => ({
    feature: '',
    is_enabled: true,
    is_soft_limit: false,
    usage_limit: null,
    usage_reset_period: '',
    static_value: '',
    config_value: null,
    aggregation_mode: 'additive',
    ...noGrant,
    grant_allocation_behavior: allocationOf(entry),
  }),
  async read(tx, context) {
    const { entityType, id: entityId } = context.owner!;
    const owned = { environmentId: tx.scope.environmentId, status: 'published', entityType, entityId };
    const rows = await tx.em.find(Entitlement, owned, { orderBy: { createdAt: 'asc', id: 'asc' } });
    return rows.map((row, index) => {
      const [feature = row.featureId] = [...context.features].find(([, { id }]) => id === row.featureId) ?? [];
      const entry = {
        feature,
        is_enabled: row.isEnabled,
        is_soft_limit: row.isSoftLimit,
        usage_limit: row.usageLimit == null ? null : Number(row.usageLimit),
        usage_reset_period: row.usageResetPeriod ?? '',
        static_value: row.staticValue ?? '',
        config_value: row.configValue ?? null,
        aggregation_mode: row.aggregationMode,
        grant_measure: row.grantMeasure ?? '',
        grant_quota: row.grantQuota ?? '',
        grant_duration_unit: row.grantDurationUnit ?? '',
        grant_duration_value: row.grantDurationValue ?? null,
        grant_allocation_behavior: row.grantAllocationBehavior ?? '',
      };
      // A second budget beside the first is known by its id.
      const isFirst = rows.findIndex(({ featureId }) => featureId === row.featureId) === index;
      return { id: row.id, key: isFirst ? feature : '', entry };
    });
  },
  async create(tx, { feature: key, ...members }, context) {
    const feature = featureNamed(context, key);
    const { entityType, id: entityId } = context.owner!;
    const body = { is_enabled: true, ...members, feature_id: feature.id, feature_type: feature.type };
    return (await createEntitlement(tx, { ...newEntitlement(body as never), entityType, entityId })).id;
  },
  async update(tx, { id }, { feature: _feature, ...members }) {
    const grant = { clear_grant_config: !members.grant_measure, grant_allocation_behavior: allocationOf(members) };
    const change = entitlementChange({ is_enabled: true, is_soft_limit: false, ...grant, ...members } as never);
    const whole = { usageLimit: null, usageResetPeriod: null, staticValue: null, configValue: null };
    const sent = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    await updateEntitlement(tx, id, { ...whole, ...sent });
    return 'update';
  },
  remove: (tx, { id }) => archiveEntitlement(tx, id),
};
