import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { Feature } from '../../../db/entities/catalogue/feature.ts';
import type { Meter } from '../../../db/entities/catalogue/meter.ts';
import { badField } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { beginMetering } from '../../../metering/begin-metering.ts';
import {
  archiveFeature,
  createFeature,
  type FeatureWithMeter,
  updateFeature,
} from '../../../services/catalogue/feature.ts';
import { metersById } from '../../../services/catalogue/meter.ts';
import { type NewMeter, unitedFilters } from '../../../services/catalogue/meter-rules.ts';
import { createFeatureBody, newFeature } from '../feature.schema.ts';
import { createMeterBody, newMeter } from '../meter.schema.ts';
import { type CatalogueNoun, type Entry, groupKey, groupNamed } from './noun.ts';

const { name, type, description, unit_singular, unit_plural, reporting_unit, alert_settings, metadata } =
  createFeatureBody.shape;
const text = z.string().min(1, 'must not be empty').max(255);

/** Features, each with its meter. Of a meter only filter values can be added. spec: catalogue-and-metering §5 */
export const featureNoun: CatalogueNoun = {
  noun: 'feature',
  section: 'features',
  permission: 'feature:write',
  identity: 'key',
  fields: { lookup_key: 'key', group_id: 'group', filters: 'meter' },
  schema: z.strictObject({
    key: text,
    name,
    type,
    description,
    group: text.nullish(),
    unit_singular,
    unit_plural,
    reporting_unit,
    alert_settings: alert_settings.transform((sent) => (sent ? alertsOf(sent) : sent)),
    metadata,
    meter: createMeterBody.transform((body) => meterEntry(newMeter(body))).nullish(),
  }),
  defaults: () => ({
    key: '',
    name: '',
    type: '',
    description: '',
    group: null,
    unit_singular: '',
    unit_plural: '',
    reporting_unit: null,
    alert_settings: null,
    metadata: {},
    meter: null,
  }),
  async read(tx, context) {
    const where = { environmentId: tx.scope.environmentId, status: 'published' };
    const rows = await tx.em.find(Feature, where, { orderBy: { createdAt: 'asc', id: 'asc' } });
    const meters = await metersById(
      tx,
      rows.map((row) => row.meterId ?? null),
    );
    return rows.map((row) => {
      const meter = meters.get(row.meterId ?? '') ?? null;
      const entry = entryOf(row, meter, groupKey(context, row.groupId));
      context.features.set(row.lookupKey, {
        id: row.id,
        type: row.type,
        meterId: meter?.id ?? null,
        meterName: meter?.name ?? null,
      });
      return { id: row.id, key: row.lookupKey, entry };
    });
  },
  async create(tx, entry, context) {
    const created = await createFeature(tx, {
      ...newFeature(bodyOf(entry)),
      groupId: groupNamed(context, 'feature', entry.group),
    });
    return known(tx, created, context);
  },
  async update(tx, stored, entry, changed, context) {
    const fixed = changed.find((member) => member === 'key' || member === 'type');
    if (fixed) throw badField(fixed, `of feature ${stored.key} cannot be changed; make another feature`);
    const { meter, ...members } = newFeature(bodyOf(entry));
    const filters = changed.includes('meter') ? addedFilters(stored, meter) : undefined;
    const groupId = groupNamed(context, 'feature', entry.group);
    const whole = { description: '', unitSingular: '', unitPlural: '', metadata: {}, ...defined(members) };
    await known(tx, await updateFeature(tx, stored.id, { ...whole, lookupKey: undefined, groupId, filters }), context);
    return 'update';
  },
  remove: (tx, { id }) => archiveFeature(tx, id),
};

/** Makes the feature known to what refers to it; a meter that was made or changed counts from now on. */
async function known(
  tx: Transaction,
  { feature, meter, meterChanged }: FeatureWithMeter,
  context: Parameters<CatalogueNoun['read']>[1],
): Promise<string> {
  if (meter && meterChanged) await beginMetering(tx, meter);
  const meterFacts = { meterId: meter?.id ?? null, meterName: meter?.name ?? null };
  context.features.set(feature.lookupKey, { id: feature.id, type: feature.type, ...meterFacts });
  return feature.id;
}

function addedFilters({ key, entry }: { key: string; entry: Entry }, wanted: NewMeter | undefined) {
  const stored = entry.meter as ReturnType<typeof meterEntry> | null;
  const sent = wanted ? meterEntry(wanted) : null;
  const united = stored && sent ? sortedFilters(unitedFilters(stored.filters, sent.filters)) : [];
  if (stored && sent && isDeepStrictEqual({ ...sent, filters: united }, sent)) {
    if (isDeepStrictEqual({ ...stored, filters: united }, sent)) return united;
  }
  throw badField('meter', `of feature ${key} can only gain filter values; make another feature for another meter`);
}

function bodyOf({ key, group: _group, ...members }: Entry): z.output<typeof createFeatureBody> {
  return { ...members, lookup_key: key } as z.output<typeof createFeatureBody>;
}

function defined<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

function entryOf(row: Feature, meter: Meter | null, group: string | null): Entry {
  return {
    key: row.lookupKey,
    name: row.name,
    type: row.type,
    description: row.description,
    group,
    unit_singular: row.unitSingular,
    unit_plural: row.unitPlural,
    reporting_unit: row.reportingUnit ?? null,
    alert_settings: row.alertSettings ?? null,
    metadata: row.metadata,
    meter: meter
      ? meterEntry({
          name: meter.name,
          eventName: meter.eventName,
          aggregation: meter.aggregation as NewMeter['aggregation'],
          filters: meter.filters,
          resetUsage: meter.resetUsage as NewMeter['resetUsage'],
        })
      : null,
  };
}

/** Alert settings as they are stored: every level, null where there is none. */
function alertsOf(sent: { alert_enabled?: boolean | undefined; [level: string]: unknown }) {
  const { alert_enabled, critical, warning, info } = sent;
  return {
    alert_enabled: alert_enabled ?? false,
    critical: critical ?? null,
    warning: warning ?? null,
    info: info ?? null,
  };
}

/** A meter in the one form it is compared in: filters in order, since theirs means nothing. */
function meterEntry(meter: NewMeter) {
  const { name: meterName, eventName, aggregation, filters, resetUsage } = meter;
  const { type: kind, field, expression, multiplier, bucket_size, group_by } = aggregation;
  return {
    name: meterName,
    event_name: eventName,
    aggregation: { type: kind, field, expression, multiplier, bucket_size, group_by },
    filters: sortedFilters(filters),
    reset_usage: resetUsage,
  };
}

function sortedFilters(filters: NewMeter['filters']) {
  return [...filters]
    .map(({ key, values }) => ({ key, values: [...values].sort() }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}
