import { z } from 'zod';
import { Entitlement } from '../../db/entities/entitlement.ts';
import { archiveEntitlement, createEntitlement, updateEntitlement } from '../../db/stores/entitlement.ts';
import { createEntitlementBody, entitlementChange, newEntitlement } from '../schemas/entitlement.ts';
import { type CatalogueNoun, featureNamed } from './noun.ts';

const { is_enabled, is_soft_limit, usage_limit, usage_reset_period, static_value, config_value, aggregation_mode } =
  createEntitlementBody.shape;

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
  }),
  defaults: () => ({
    feature: '',
    is_enabled: true,
    is_soft_limit: false,
    usage_limit: null,
    usage_reset_period: '',
    static_value: '',
    config_value: null,
    aggregation_mode: 'additive',
  }),
  async read(tx, context) {
    const { entityType, id: entityId } = context.owner!;
    const owned = { environmentId: tx.scope.environmentId, status: 'published', entityType, entityId };
    const rows = await tx.em.find(Entitlement, owned, { orderBy: { createdAt: 'asc', id: 'asc' } });
    return rows.map((row) => {
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
      };
      return { id: row.id, key: feature, entry };
    });
  },
  async create(tx, { feature: key, ...members }, context) {
    const feature = featureNamed(context, key);
    const { entityType, id: entityId } = context.owner!;
    const body = { is_enabled: true, ...members, feature_id: feature.id, feature_type: feature.type };
    return (await createEntitlement(tx, { ...newEntitlement(body as never), entityType, entityId })).id;
  },
  async update(tx, { id }, { feature: _feature, ...members }) {
    const change = entitlementChange({ is_enabled: true, is_soft_limit: false, ...members } as never);
    const whole = { usageLimit: null, usageResetPeriod: null, staticValue: null, configValue: null };
    const sent = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    await updateEntitlement(tx, id, { ...whole, ...sent });
    return 'update';
  },
  remove: (tx, { id }) => archiveEntitlement(tx, id),
};
