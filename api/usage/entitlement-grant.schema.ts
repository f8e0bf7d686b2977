import { z } from 'zod';
import { grantAllocations, grantDurationUnits, grantMeasures } from '../../billing/allowance/grant.ts';
import type { SentGrant } from '../../services/catalogue/entitlement/entitlement-grant-rules.ts';
import { decimalInput, decimalOutput } from '../scalars.schema.ts';

const oneOf = <Values extends readonly [string, ...string[]]>(values: Values) =>
  z.union([z.literal(''), z.enum(values)]).nullish();
const wholeUnits = 'must be an integer of at least 1';

/** Members of a grant configuration, all or none of them. spec: catalogue-and-metering §9.1 */
export const grantFields = {
  grant_measure: oneOf(grantMeasures),
  grant_quota: z.union([z.literal(''), decimalInput({ above: '0' })]).nullish(),
  grant_duration_unit: oneOf(grantDurationUnits),
  grant_duration_value: z.int(wholeUnits).min(1, wholeUnits).max(2_147_483_647).nullish(),
  grant_allocation_behavior: oneOf(grantAllocations),
};

export const grantOutput = {
  grant_measure: z.enum(grantMeasures).nullable(),
  grant_quota: decimalOutput().nullable(),
  grant_duration_unit: z.enum(grantDurationUnits).nullable(),
  grant_duration_value: z.int().nullable(),
  grant_allocation_behavior: z.enum(grantAllocations).nullable(),
};

type GrantInput = { [Field in keyof typeof grantFields]?: z.output<(typeof grantFields)[Field]> };

/** What was sent of a grant configuration; empty members are as if they had not been. */
export function sentGrant(body: GrantInput): SentGrant {
  return {
    measure: body.grant_measure || undefined,
    quota: body.grant_quota || undefined,
    durationUnit: body.grant_duration_unit || undefined,
    durationValue: body.grant_duration_value ?? undefined,
    allocation: body.grant_allocation_behavior || undefined,
  };
}

interface GrantRow {
  grantMeasure?: string | null | undefined;
  grantQuota?: string | null | undefined;
  grantDurationUnit?: string | null | undefined;
  grantDurationValue?: number | null | undefined;
  grantAllocationBehavior?: string | null | undefined;
}

export function viewGrant(row: GrantRow) {
  return {
    grant_measure: (row.grantMeasure ?? null) as (typeof grantMeasures)[number] | null,
    grant_quota: row.grantQuota ?? null,
    grant_duration_unit: (row.grantDurationUnit ?? null) as (typeof grantDurationUnits)[number] | null,
    grant_duration_value: row.grantDurationValue ?? null,
    grant_allocation_behavior: (row.grantAllocationBehavior ?? null) as (typeof grantAllocations)[number] | null,
  };
}
