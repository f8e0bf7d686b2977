import { badField } from '../../../db/rows/record.ts';
import { firstGrantField, type SentGrant } from './entitlement-grant-rules.ts';

/** An entitlement as a caller defines it. `usageLimit` null or absent is unlimited, 0 includes nothing. */
export interface NewEntitlement {
  entityType?: string | undefined;
  entityId?: string | undefined;
  featureId: string;
  featureType: string;
  isEnabled?: boolean | undefined;
  isSoftLimit?: boolean | undefined;
  usageLimit?: number | null | undefined;
  usageResetPeriod?: string | null | undefined;
  staticValue?: string | null | undefined;
  configValue?: Record<string, unknown> | null | undefined;
  aggregationMode?: string | undefined;
  parentEntitlementId?: string | undefined;
  startDate?: string | null | undefined;
  endDate?: string | null | undefined;
  grant?: SentGrant | undefined;
}

/** The members that depend on the type of the feature; checked whole, also after an update. */
export interface GrantedValue {
  featureType: string;
  staticValue: string | null;
  configValue: Record<string, unknown> | null;
}

/** Refuses a new entitlement whose members do not fit together. spec: catalogue-and-metering §8.2, §13 rows 42, 45 */
export function checkEntitlement(input: NewEntitlement, path = ''): void {
  if (!input.entityType) throw badField(`${path}plan_id`, 'or entity_type with entity_id is required');
  if (!input.entityId) throw badField(`${path}entity_id`, 'is required with entity_type');
  if (!input.parentEntitlementId) {
    const { featureType, staticValue = null, configValue = null } = input;
    checkGrantedValue({ featureType, staticValue, configValue }, path);
  }
  if (input.parentEntitlementId && input.entityType !== 'SUBSCRIPTION') {
    throw badField(
      `${path}parent_entitlement_id`,
      'belongs to an entitlement of a subscription, which overrides one of its plan',
    );
  }
  if (input.parentEntitlementId) refuseParentMembers(input, path);
  if (input.startDate && input.endDate && input.endDate < input.startDate) {
    throw badField(`${path}end_date`, 'must not be before start_date');
  }
}

/** Only the limit, the switch and the values can be overridden. spec: catalogue-and-metering §8.2 */
function refuseParentMembers(input: NewEntitlement, path: string): void {
  const grantField = firstGrantField(input.grant);
  const ofParent = {
    is_soft_limit: input.isSoftLimit,
    usage_reset_period: input.usageResetPeriod ?? undefined,
    ...(grantField ? { [grantField]: true } : {}),
    aggregation_mode: input.aggregationMode === 'parallel' ? input.aggregationMode : undefined,
  };
  for (const [field, value] of Object.entries(ofParent)) {
    if (value !== undefined) throw badField(`${path}${field}`, 'is the plan’s and cannot be overridden; leave it out');
  }
}

/** Refuses a value that does not belong to the feature's type. spec: catalogue-and-metering §8.2 */
export function checkGrantedValue(value: GrantedValue, path = ''): void {
  if (value.featureType === 'static' && !value.staticValue?.trim()) {
    throw badField(`${path}static_value`, 'is required for a static feature');
  }
  if (value.featureType !== 'config' && value.configValue !== null) {
    throw badField(`${path}config_value`, `belongs to config features, not to a ${value.featureType} one`);
  }
  if (Object.keys(value.configValue ?? {}).some((key) => key.trim() === '')) {
    throw badField(`${path}config_value`, 'must not contain a blank key');
  }
}
