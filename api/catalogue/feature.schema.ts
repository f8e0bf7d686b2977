import { z } from 'zod';
import type { Feature } from '../../db/entities/catalogue/feature.ts';
import type { Group } from '../../db/entities/catalogue/group.ts';
import type { Meter } from '../../db/entities/catalogue/meter.ts';
import type { FeatureChange, FeatureCopy, NewFeature } from '../../services/catalogue/feature.ts';
import type { AlertSettings } from '../../services/catalogue/feature-rules.ts';
import { jsonNumber } from '../decimal.ts';
import {
  decimalInput,
  decimalOutput,
  metadataInput,
  metadataOutput,
  numberOutput,
  recordOutput,
  viewRecord,
} from '../scalars.schema.ts';
import { group, viewGroup } from './group.schema.ts';
import { createMeterBody, meter, newMeter, updateMeterBody, viewMeter } from './meter.schema.ts';

export const featureTypes = ['metered', 'boolean', 'static', 'config'] as const;

const threshold = z
  .object({ condition: z.enum(['above', 'below']).default('below'), threshold: decimalInput() })
  .nullable()
  .optional();
const alertSettings = z.object({
  alert_enabled: z.boolean().optional(),
  alert_threshold_type: z.literal('absolute').nullish(),
  critical: threshold,
  warning: threshold,
  info: threshold,
});
const reportingUnit = z.object({
  unit_singular: z.string().trim().min(1).max(255),
  unit_plural: z.string().trim().min(1).max(255),
  conversion_rate: decimalInput({ above: '0' }),
});

const featureFields = {
  name: z.string().max(255),
  description: z.string().max(10_000).nullish(),
  group_id: z.string().max(255).nullish(),
  unit_singular: z.string().max(255).nullish(),
  unit_plural: z.string().max(255).nullish(),
  reporting_unit: reportingUnit.nullish(),
  alert_settings: alertSettings.nullish(),
  metadata: metadataInput().nullish(),
};

export const createFeatureBody = z
  .object({
    ...featureFields,
    type: z.enum(featureTypes),
    lookup_key: z.string().max(255).nullish(),
    meter_id: z.string().max(255).nullish(),
    meter: createMeterBody.nullish(),
  })
  .meta({
    examples: [
      {
        name: 'API calls',
        lookup_key: 'api_calls',
        type: 'metered',
        unit_singular: 'call',
        unit_plural: 'calls',
        meter: {
          name: 'API calls',
          event_name: 'api_call',
          aggregation: { type: 'COUNT' },
          reset_usage: 'BILLING_PERIOD',
        },
      },
    ],
  });

export const updateFeatureBody = z.object({
  ...featureFields,
  name: featureFields.name.optional(),
  type: z.string().optional(),
  lookup_key: z.string().optional(),
  meter_id: z.string().nullish(),
  filters: updateMeterBody.shape.filters.nullish(),
});

export const cloneFeatureBody = z.object({
  name: z.string().max(255),
  lookup_key: z.string().min(1).max(255),
  description: z.string().max(10_000).nullish(),
  metadata: metadataInput().nullish(),
});

export function newFeature(body: z.output<typeof createFeatureBody>): NewFeature {
  return {
    ...sharedFields(body),
    name: body.name,
    type: body.type,
    lookupKey: body.lookup_key ?? undefined,
    meterId: body.meter_id || undefined,
    meter: body.meter ? newMeter(body.meter) : undefined,
  };
}

export function featureChange(body: z.output<typeof updateFeatureBody>): FeatureChange {
  return {
    ...sharedFields({ ...body, meter: null }),
    name: body.name,
    type: body.type,
    lookupKey: body.lookup_key,
    meterId: body.meter_id ?? undefined,
    filters: body.filters ?? undefined,
  };
}

export function featureCopy(body: z.output<typeof cloneFeatureBody>): FeatureCopy {
  return {
    name: body.name,
    lookupKey: body.lookup_key,
    description: body.description ?? undefined,
    metadata: body.metadata ?? undefined,
  };
}

function sharedFields(body: Omit<z.output<typeof createFeatureBody>, 'name' | 'type'>) {
  return {
    description: body.description ?? undefined,
    groupId: body.group_id ?? undefined,
    unitSingular: body.unit_singular ?? undefined,
    unitPlural: body.unit_plural ?? undefined,
    reportingUnit: body.reporting_unit,
    alertSettings: body.alert_settings ? levelsOf(body.alert_settings) : body.alert_settings,
    metadata: body.metadata ?? undefined,
  };
}

/** The stored members of alert settings that were sent; an absent one is left out, so that a merge keeps it. */
function levelsOf(sent: z.output<typeof alertSettings>): Partial<AlertSettings> {
  const { alert_enabled, critical, warning, info } = sent;
  const members = Object.entries({ alert_enabled, critical, warning, info }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members) as Partial<AlertSettings>;
}

const thresholdOutput = z.object({ condition: z.enum(['above', 'below']), threshold: decimalOutput() }).nullable();

export const feature = z
  .object({
    ...recordOutput,
    name: z.string(),
    description: z.string().nullable(),
    lookup_key: z.string(),
    type: z.enum(featureTypes),
    meter_id: z.string().nullable(),
    meter: meter.nullable(),
    group_id: z.string().nullable(),
    group: group.nullable(),
    unit_singular: z.string().nullable(),
    unit_plural: z.string().nullable(),
    reporting_unit: z
      .object({ unit_singular: z.string(), unit_plural: z.string(), conversion_rate: numberOutput() })
      .nullable(),
    alert_settings: z
      .object({
        alert_enabled: z.boolean(),
        critical: thresholdOutput,
        warning: thresholdOutput,
        info: thresholdOutput,
      })
      .nullable(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'Feature' });

/** The wire form of a feature; a `meterRow` or `groupRow` of null leaves it out. The reporting rate is a number. spec: interface, Feature */
export function viewFeature(
  row: Feature,
  meterRow: Meter | null,
  groupRow: Group | null = null,
): z.output<typeof feature> {
  const unit = row.reportingUnit;
  return {
    ...viewRecord(row),
    name: row.name,
    description: row.description || null,
    lookup_key: row.lookupKey,
    type: row.type as (typeof featureTypes)[number],
    meter_id: row.meterId ?? null,
    meter: meterRow ? viewMeter(meterRow) : null,
    group_id: row.groupId ?? null,
    group: groupRow ? viewGroup(groupRow) : null,
    unit_singular: row.unitSingular || null,
    unit_plural: row.unitPlural || null,
    reporting_unit: unit ? { ...unit, conversion_rate: jsonNumber(unit.conversion_rate) } : null,
    alert_settings: (row.alertSettings as AlertSettings | null | undefined) ?? null,
    metadata: row.metadata,
  };
}
