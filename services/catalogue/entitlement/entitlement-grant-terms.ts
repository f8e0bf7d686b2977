import type { GrantTerms } from '../../../billing/allowance/grant.ts';
import { decimalText } from '../../../db/rows/columns.ts';

/** The columns of an entitlement that hold its grant configuration: all of them or none. */
export interface GrantColumns {
  grantMeasure?: string | null | undefined;
  grantQuota?: string | null | undefined;
  grantDurationUnit?: string | null | undefined;
  grantDurationValue?: number | null | undefined;
  grantAllocationBehavior?: string | null | undefined;
}

/** The grant configuration of an entitlement; null without one. spec: catalogue-and-metering §9.1 */
export function grantOf(row: GrantColumns): GrantTerms | null {
  if (row.grantMeasure == null || row.grantQuota == null) return null;
  return {
    measure: row.grantMeasure as GrantTerms['measure'],
    quota: decimalText(row.grantQuota),
    durationUnit: row.grantDurationUnit as GrantTerms['durationUnit'],
    durationValue: row.grantDurationValue ?? null,
    allocation: (row.grantAllocationBehavior ?? 'first_usage') as GrantTerms['allocation'],
  };
}

/** A grant configuration as an entitlement stores it; null clears it. */
export function grantColumns(grant: GrantTerms | null) {
  return {
    grantMeasure: grant?.measure ?? null,
    grantQuota: grant?.quota ?? null,
    grantDurationUnit: grant?.durationUnit ?? null,
    grantDurationValue: grant?.durationValue ?? null,
    grantAllocationBehavior: grant && grant.durationUnit !== 'subscription_period' ? grant.allocation : null,
  };
}
