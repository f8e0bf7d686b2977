import { z } from 'zod';
import type { Plan } from '../../db/entities/catalogue/plan.ts';
import { decimalOutput, metadataOutput, recordOutput, viewRecord } from '../scalars.schema.ts';

/** The own members of a plan. */
export const planFields = {
  ...recordOutput,
  name: z.string(),
  description: z.string().nullable(),
  lookup_key: z.string().nullable(),
  display_order: z.int().nullable(),
  auto_invoice_threshold: decimalOutput().nullable(),
  metadata: metadataOutput(),
};

/** A plan inside another record: what hangs on it is not repeated. */
export const planRecord = z
  .object({ ...planFields, prices: z.null(), entitlements: z.null(), credit_grants: z.null() })
  .meta({ id: 'PlanRecord' });

export function viewPlanRecord(row: Plan): z.output<typeof planRecord> {
  return { ...viewPlanFields(row), prices: null, entitlements: null, credit_grants: null };
}

export function viewPlanFields(row: Plan) {
  return {
    ...viewRecord(row),
    name: row.name,
    description: row.description || null,
    lookup_key: row.lookupKey || null,
    display_order: row.displayOrder ?? null,
    auto_invoice_threshold: row.autoInvoiceThreshold ?? null,
    metadata: row.metadata,
  };
}
