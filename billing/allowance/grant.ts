import { decimalString, storedDecimal, sum } from '../money/money.ts';
import { compareText } from '../text-order.ts';
import type { Tenure } from './plan-tenure.ts';

export const grantMeasures = ['quantity', 'amount'] as const;
export const grantDurationUnits = ['hour', 'day', 'week', 'subscription_period'] as const;
export const grantAllocations = ['first_usage', 'unit_start'] as const;

/** What an entitlement says about short budgets that usage opens. spec: catalogue-and-metering §9.1 */
export interface GrantTerms {
  measure: (typeof grantMeasures)[number];
  /** Units of the meter or of the currency. */
  quota: string;
  durationUnit: (typeof grantDurationUnits)[number];
  /** Null for subscription_period. */
  durationValue: number | null;
  allocation: (typeof grantAllocations)[number];
}

/** One sequence of budgets; of additive entitlements together. */
export interface GrantConfiguration extends GrantTerms {
  entitlementId: string;
}

/** The budgets of a meter. Configurations share measure; an additive meter has one. */
export interface MeterGrants {
  mode: 'additive' | 'parallel';
  measure: GrantTerms['measure'];
  configurations: GrantConfiguration[];
  /** Where plans gave different ones in a period: each one's and for which time, in the order of time; absent: always these. */
  tenures?: TenuredGrants[];
}

/** Budgets of a plan, for as long as it was the subscription's. */
export type TenuredGrants = Omit<MeterGrants, 'tenures'> & Tenure;

/** A part as far as its budgets go. */
export interface GrantingPart {
  id: string;
  isEnabled: boolean;
  aggregationMode?: string;
  grant?: GrantTerms | null;
}

/**
 * The budgets of the parts in force of one feature: additive quotas add up on the lowest entitlement id, parallel ones stand
 * beside each other, each once however often its add-on is attached. Parts that do not agree with the first are left out; they
 * are refused where they are made. Null without any. spec: catalogue-and-metering §9.1, §9.2
 */
export function meterGrants(parts: readonly GrantingPart[]): MeterGrants | null {
  const granting = parts.flatMap(({ id, isEnabled, grant, aggregationMode }) =>
    isEnabled && grant ? [{ ...grant, entitlementId: id, mode: modeOf(aggregationMode) }] : [],
  );
  const [first] = granting;
  if (!first) return null;
  const agreeing = granting.filter((grant) => disagreement(first, grant) === null);
  const { mode, measure } = first;
  if (mode === 'parallel') {
    const distinct = new Map(agreeing.map((grant) => [grant.entitlementId, configurationOf(grant)]));
    return { mode, measure, configurations: [...distinct.values()] };
  }
  const lowest = agreeing.reduce((a, b) => (compareText(b.entitlementId, a.entitlementId) < 0 ? b : a));
  const quota = decimalString(sum(agreeing.map((grant) => storedDecimal(grant.quota))));
  return { mode, measure, configurations: [{ ...configurationOf(lowest), quota }] };
}

/** The member in which two grant configurations of one feature differ and must not; null when they go together. spec: §9.1 */
export function disagreement(
  a: GrantTerms & { mode: MeterGrants['mode'] },
  b: GrantTerms & { mode: MeterGrants['mode'] },
): 'aggregation_mode' | 'grant_measure' | 'grant_duration_unit' | 'grant_duration_value' | null {
  if (a.mode !== b.mode) return 'aggregation_mode';
  if (a.measure !== b.measure) return 'grant_measure';
  if (a.mode === 'parallel') return null;
  if (a.durationUnit !== b.durationUnit) return 'grant_duration_unit';
  return a.durationValue === b.durationValue ? null : 'grant_duration_value';
}

export function modeOf(aggregationMode: string | undefined): MeterGrants['mode'] {
  return aggregationMode === 'parallel' ? 'parallel' : 'additive';
}

function configurationOf({ entitlementId, ...grant }: GrantConfiguration): GrantConfiguration {
  const { measure, quota, durationUnit, durationValue, allocation } = grant;
  return { entitlementId, measure, quota, durationUnit, durationValue, allocation };
}
