import { z } from 'zod';
import type { Addon } from '../../db/entities/catalogue/addon.ts';
import { parseJson } from '../plugins/json-body.ts';
import { recordOutput, viewRecord } from '../scalars.schema.ts';

export const addonTypes = ['onetime', 'multiple_instance'] as const;

/** The own members of an add-on. */
export const addonFields = {
  ...recordOutput,
  name: z.string(),
  description: z.string().nullable(),
  lookup_key: z.string(),
  type: z.enum(addonTypes),
  metadata: z.record(z.string(), z.unknown()),
};

/** An add-on inside another record: what hangs on it is not repeated. */
export const addonRecord = z
  .object({ ...addonFields, prices: z.null(), entitlements: z.null(), credit_grants: z.null() })
  .meta({ id: 'AddonRecord' });

export function viewAddonRecord(row: Addon): z.output<typeof addonRecord> {
  return { ...viewAddonFields(row), prices: null, entitlements: null, credit_grants: null };
}

export function viewAddonFields(row: Addon) {
  return {
    ...viewRecord(row),
    name: row.name,
    description: row.description || null,
    lookup_key: row.lookupKey,
    type: row.type as (typeof addonTypes)[number],
    metadata: viewJson(row.metadata),
  };
}

/** Stored JSON as it was sent, every digit of its numbers. */
export function viewJson(text: string): Record<string, unknown> {
  return parseJson(text) as Record<string, unknown>;
}
