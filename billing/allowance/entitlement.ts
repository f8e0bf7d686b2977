import type { GrantTerms } from './grant.ts';
import { isHeldAt, type Tenure } from './plan-tenure.ts';

/** What a subscription may override of an entitlement of its plan. spec: catalogue-and-metering §8.2 */
export const overridableMembers = ['usage_limit', 'is_enabled', 'static_value', 'config_value'] as const;
export type OverridableMember = (typeof overridableMembers)[number];

/** One grant of a feature, by a plan, an add-on or a subscription. spec: catalogue-and-metering §8.3 */
export interface EntitlementPart {
  id: string;
  subscriptionId: string;
  entityType: 'PLAN' | 'ADDON' | 'SUBSCRIPTION';
  /** On a subscription's part: the plan part it overrides. */
  parentEntitlementId: string | null;
  /** Which members an override sets; absent or null: all it may set. */
  overriddenMembers?: readonly OverridableMember[] | null;
  isEnabled: boolean;
  isSoftLimit: boolean;
  /** null is unlimited. */
  usageLimit: string | null;
  /** DAILY … ANNUAL, NEVER; null is the billing period. */
  usageResetPeriod: string | null;
  staticValue: string | null;
  configValue: Record<string, unknown> | null;
  /** `parallel` for budgets beside each other; absent is additive. */
  aggregationMode?: string;
  /** The budgets that usage opens, in place of the limit; absent or null without. spec: §9 */
  grant?: GrantTerms | null;
  startDate: string | null;
  endDate: string | null;
  /** Of a plan's part: when the plan was the subscription's; absent or null is always. */
  tenure?: Tenure | null;
}

/** What all parts of a feature grant together. */
export interface AggregatedEntitlement {
  isEnabled: boolean;
  /** null is unlimited, and what a feature that is not metered has. */
  usageLimit: string | null;
  isSoftLimit: boolean;
  usageResetPeriod: string | null;
  staticValues: string[];
  configValues: Record<string, unknown>[];
}

const nothing: AggregatedEntitlement = {
  isEnabled: false,
  usageLimit: '0',
  isSoftLimit: false,
  usageResetPeriod: null,
  staticValues: [],
  configValues: [],
};

/**
 * The parts in force at an instant, from parts given oldest first: plan parts first, an override in the place of the plan
 * part it names, with that part's members where it has none of its own. An override without a live parent stands for itself;
 * one of a plan that the subscription has left goes with that plan. spec: catalogue-and-metering §8.3
 */
export function partsInForce<Part extends EntitlementPart>(parts: readonly Part[], at: string): Part[] {
  const live = parts.filter(
    ({ startDate, endDate, tenure }) =>
      (startDate === null || startDate <= at) && (endDate === null || endDate > at) && isHeldAt(tenure, at),
  );
  const overrides = new Map<string, Part>();
  const standing: Part[] = [];
  for (const part of live) {
    const parent = live.find((other) => other.entityType === 'PLAN' && isOverride(part, other));
    if (parent) overrides.set(keyOf(parent), part);
    else if (!parts.some((other) => isOverride(part, other) && !isHeldAt(other.tenure, at))) standing.push(part);
  }
  const ordered = [
    ...standing.filter((part) => part.entityType === 'PLAN'),
    ...standing.filter((part) => part.entityType !== 'PLAN'),
  ];
  return ordered.map((part) => overridden(part, overrides.get(keyOf(part))));
}

/**
 * The metered features for which an add-on's entitlement has another reset period than one the subscription has already, at
 * any time from `from` on. No reset period is the billing period's. spec: catalogue-and-metering §8.2
 */
export function resetConflicts(
  parts: readonly (EntitlementPart & { featureId: string })[],
  added: readonly { featureId: string; usageResetPeriod: string | null }[],
  { from, sameAsBilling }: { from: string; sameAsBilling: (resetPeriod: string) => boolean },
): string[] {
  const normal = (period: string | null) => (period === null || sameAsBilling(period) ? null : period);
  const conflicting = added.filter(({ featureId, usageResetPeriod }) =>
    parts.some(
      (part) =>
        part.featureId === featureId &&
        (part.endDate === null || part.endDate > from) &&
        normal(part.usageResetPeriod) !== normal(usageResetPeriod),
    ),
  );
  return conflicting.map(({ featureId }) => featureId);
}

/**
 * The sum of parts in their order: the limits add up and one unlimited part makes all unlimited; soft if any part is; of the
 * reset periods the most frequent, on a tie the one that comes first. Disabled parts count for nothing, and without an enabled
 * one nothing is granted. spec: catalogue-and-metering §8.3
 */
export function aggregateEntitlement(featureType: string, parts: readonly EntitlementPart[]): AggregatedEntitlement {
  const enabled = parts.filter((part) => part.isEnabled);
  if (enabled.length === 0) return nothing;
  const granted = { ...nothing, isEnabled: true, usageLimit: null };
  if (featureType === 'metered') {
    return {
      ...granted,
      usageLimit: limitOf(enabled),
      isSoftLimit: enabled.some((part) => part.isSoftLimit),
      usageResetPeriod: mostFrequent(enabled.map((part) => part.usageResetPeriod)),
    };
  }
  if (featureType === 'static') {
    return { ...granted, staticValues: [...new Set(enabled.flatMap((part) => part.staticValue ?? []))] };
  }
  if (featureType === 'config')
    return { ...granted, configValues: enabled.flatMap((part) => (part.configValue ? [part.configValue] : [])) };
  return granted;
}

function isOverride(part: EntitlementPart, parent: EntitlementPart): boolean {
  return part.parentEntitlementId === parent.id && part.subscriptionId === parent.subscriptionId;
}

/** Two subscriptions of one plan have its part each. */
function keyOf(part: EntitlementPart): string {
  return `${part.subscriptionId} ${part.id}`;
}

/** Only the limit, the switch and the values can be overridden. spec: catalogue-and-metering §8.2 */
function overridden<Part extends EntitlementPart>(parent: Part, override: Part | undefined): Part {
  if (!override) return parent;
  const { isSoftLimit, usageResetPeriod } = parent;
  const sets = (member: OverridableMember): boolean => override.overriddenMembers?.includes(member) ?? true;
  return {
    ...override,
    isEnabled: (sets('is_enabled') ? override : parent).isEnabled,
    usageLimit: (sets('usage_limit') ? override : parent).usageLimit,
    staticValue: (sets('static_value') ? override : parent).staticValue,
    configValue: (sets('config_value') ? override : parent).configValue,
    isSoftLimit,
    usageResetPeriod,
    ...(parent.tenure === undefined ? {} : { tenure: parent.tenure }),
    ...(parent.grant === undefined ? {} : { grant: parent.grant }),
    ...(parent.aggregationMode === undefined ? {} : { aggregationMode: parent.aggregationMode }),
  };
}

/** Limits are integers of any size. */
function limitOf(parts: readonly EntitlementPart[]): string | null {
  let limit = 0n;
  for (const { usageLimit } of parts) {
    if (usageLimit === null) return null;
    limit += BigInt(usageLimit);
  }
  return limit.toString();
}

function mostFrequent(periods: readonly (string | null)[]): string | null {
  const counts = new Map<string | null, number>();
  for (const period of periods) counts.set(period, (counts.get(period) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return periods.find((period) => counts.get(period) === most) ?? null;
}
