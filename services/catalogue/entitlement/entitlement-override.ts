import { type OverridableMember, overridableMembers } from '../../../billing/allowance/entitlement.ts';
import type { NewOverride } from '../../../billing/subscription/new-subscription.ts';
import type { Entitlement } from '../../../db/entities/catalogue/entitlement.ts';
import { newId } from '../../../db/id.ts';
import { type Columns, insertText, recordColumnTypes, writeRows } from '../../../db/rows/bulk.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { reportEntitlement } from './entitlement-report.ts';

/** The values of an override; an absent one stays the parent's. */
export interface OverriddenValues {
  usageLimit?: number | null | undefined;
  isEnabled?: boolean | undefined;
  staticValue?: string | null | undefined;
  configValue?: Record<string, unknown> | null | undefined;
}

type Granted = Pick<Entitlement, 'featureType' | 'isEnabled' | 'usageLimit' | 'staticValue' | 'configValue'>;

const valueOfType: Record<string, OverridableMember | undefined> = {
  metered: 'usage_limit',
  static: 'static_value',
  config: 'config_value',
};

/** The members that are given and mean something for the type of the feature. */
export function membersOf(featureType: string, values: OverriddenValues): OverridableMember[] {
  const given: Record<OverridableMember, boolean> = {
    usage_limit: values.usageLimit !== undefined,
    is_enabled: values.isEnabled !== undefined,
    static_value: values.staticValue != null,
    config_value: values.configValue != null,
  };
  return overridableMembers.filter(
    (member) => given[member] && (member === 'is_enabled' || member === valueOfType[featureType]),
  );
}

/**
 * What an override of a plan's entitlement stores: the members it sets, and its parent's values for the others, which are read
 * from the parent. Throws `validation_error` when it sets none. spec: catalogue-and-metering §8.2; subscriptions §2.3.6
 */
export function overrideValues(parent: Granted, values: OverriddenValues, path = '') {
  const members = membersOf(parent.featureType, values);
  if (members.length === 0) {
    throw badField(
      `${path}is_enabled`,
      `or another of ${overridableMembers.join(', ')} that fits a ${parent.featureType} feature is required`,
    );
  }
  const limit = values.usageLimit ?? null;
  const sets = (member: OverridableMember) => members.includes(member);
  return {
    overriddenMembers: members as string[],
    isEnabled: sets('is_enabled') ? values.isEnabled! : parent.isEnabled,
    usageLimit: sets('usage_limit') ? (limit === null ? null : String(limit)) : (parent.usageLimit ?? null),
    staticValue: sets('static_value') ? values.staticValue! : (parent.staticValue ?? null),
    configValue: sets('config_value') ? values.configValue! : (parent.configValue ?? null),
  };
}

const overrideColumns: Columns = {
  ...recordColumnTypes,
  entityType: 'text',
  entityId: 'text',
  featureId: 'text',
  featureType: 'text',
  isEnabled: 'boolean',
  isSoftLimit: 'boolean',
  staticValue: 'text',
  configValue: 'jsonb',
  usageLimit: 'numeric',
  usageResetPeriod: 'text',
  parentEntitlementId: 'text',
  overriddenMembers: 'text[]',
};
const insertOverrides = insertText('entitlement', overrideColumns);

interface ParentRow {
  id: string;
  feature_id: string;
  feature_type: string;
  is_enabled: boolean;
  is_soft_limit: boolean;
  static_value: string | null;
  config_value: Record<string, unknown> | null;
  usage_limit: string | null;
  usage_reset_period: string | null;
  [column: string]: unknown;
}

/**
 * Writes the overrides a subscription is created with. Throws `not_found` for an entitlement that is not a published one of the
 * plan, `validation_error` for one named twice or without a member. spec: subscriptions-and-invoicing §1.2 override_entitlements
 */
export async function writeOverrides(
  sql: Sql,
  scope: Scope,
  { subscriptionId, planId }: { subscriptionId: string; planId: string },
  overrides: readonly NewOverride[],
): Promise<void> {
  if (overrides.length === 0) return;
  const ids = overrides.map((override) => override.entitlementId);
  const parents = await sql.rows<ParentRow>(
    `select id, feature_id, feature_type, is_enabled, is_soft_limit, static_value, config_value, usage_limit, usage_reset_period
     from entitlement where environment_id = $1 and id = any($2) and entity_type = 'PLAN' and entity_id = $3 and status = 'published'
     for share`,
    [scope.environmentId, ids, planId],
  );
  const byId = new Map(parents.map((parent) => [parent.id, parent]));
  const rows = overrides.map((override, index) => {
    const path = `override_entitlements[${index}].`;
    const parent = byId.get(override.entitlementId);
    if (!parent) throw missing('entitlement of the plan', override.entitlementId, `${path}entitlement_id`);
    if (ids.indexOf(override.entitlementId) !== index) {
      throw badField(`${path}entitlement_id`, `names entitlement ${override.entitlementId} a second time`);
    }
    return overrideRow(scope, subscriptionId, parent, override, path);
  });
  await writeRows(sql, insertOverrides, rows);
  for (const row of rows) await reportEntitlement({ ...sql, scope }, row, 'created');
}

function overrideRow(scope: Scope, subscriptionId: string, parent: ParentRow, override: NewOverride, path: string) {
  const now = new Date().toISOString();
  const granted = {
    featureType: parent.feature_type,
    isEnabled: parent.is_enabled,
    usageLimit: parent.usage_limit === null ? null : decimalText(parent.usage_limit),
    staticValue: parent.static_value,
    configValue: parent.config_value,
  };
  return {
    id: newId('ent'),
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    createdAt: now,
    createdBy: scope.actor,
    updatedAt: now,
    updatedBy: scope.actor,
    entityType: 'SUBSCRIPTION',
    entityId: subscriptionId,
    featureId: parent.feature_id,
    featureType: parent.feature_type,
    isSoftLimit: parent.is_soft_limit,
    usageResetPeriod: parent.usage_reset_period,
    parentEntitlementId: parent.id,
    ...overrideValues(granted, override, path),
  };
}
