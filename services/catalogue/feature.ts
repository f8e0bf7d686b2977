import { LockMode } from '@mikro-orm/core';
import { storedAlerts } from '../../billing/alert/alert-config.ts';
import { refuse } from '../../billing/refusal.ts';
import { Entitlement } from '../../db/entities/catalogue/entitlement.ts';
import { Feature } from '../../db/entities/catalogue/feature.ts';
import { Meter, type MeterFilter } from '../../db/entities/catalogue/meter.ts';
import { badField, missing, newRecord, refuseArchived, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { flushUnique } from '../../db/unique.ts';
import { keepAlertSetting } from '../alert/alert-setting.ts';
import { writeAudit } from '../platform/audit.ts';
import type { FeatureEvent } from '../platform/event-catalogue/catalogue-events.ts';
import { writeEvents } from '../platform/outbox.ts';
import {
  type AlertSettings,
  checkFeatureDisplay,
  defaultLookupKey,
  mergedAlertSettings,
  type ReportingUnit,
  takenFeatureKey,
} from './feature-rules.ts';
import { groupToJoin, holdGroups } from './group.ts';
import { archiveMeter, copyMeter, createMeter, extendMeterFilters, metersById } from './meter.ts';
import type { NewMeter } from './meter-rules.ts';

export interface NewFeature {
  name: string;
  type: string;
  lookupKey?: string | undefined;
  description?: string | undefined;
  meterId?: string | undefined;
  meter?: NewMeter | undefined;
  groupId?: string | undefined;
  unitSingular?: string | undefined;
  unitPlural?: string | undefined;
  reportingUnit?: ReportingUnit | null | undefined;
  alertSettings?: Partial<AlertSettings> | null | undefined;
  metadata?: Record<string, string> | undefined;
}

/** What a caller may change; an absent member stays. `type`, `meterId` and `lookupKey` may only repeat the stored value. */
export type FeatureChange = { [Member in keyof Omit<NewFeature, 'meter'>]?: NewFeature[Member] | undefined } & {
  filters?: MeterFilter[] | undefined;
};

/** A feature with its meter, and whether this call made or changed the meter, whose roll-ups the caller then builds. */
export interface FeatureWithMeter {
  feature: Feature;
  meter: Meter | null;
  meterChanged: boolean;
}

/**
 * Creates a feature, with its meter when it is sent inline. Throws `validation_error`, `not_found` for an unknown meter,
 * `already_exists` for a taken lookup key.
 *
 * spec: catalogue-and-metering §5.1, §13 row 29
 */
export async function createFeature(tx: Transaction, input: NewFeature): Promise<FeatureWithMeter> {
  const display = {
    name: input.name,
    unitSingular: input.unitSingular ?? '',
    unitPlural: input.unitPlural ?? '',
    reportingUnit: input.reportingUnit ?? null,
    alertSettings: input.alertSettings ? mergedAlertSettings(null, input.alertSettings) : null,
  };
  checkFeatureDisplay(display);
  checkMeterChoice(input);
  const group = await groupToJoin(tx, input.groupId, 'feature');
  const meter = input.meter ? await createMeter(tx, input.meter, 'meter.') : await publishedMeter(tx, input.meterId);
  const derived = !input.lookupKey;
  const feature = await insertFeature(
    tx,
    {
      ...display,
      type: input.type,
      lookupKey: input.lookupKey || defaultLookupKey(input.name),
      description: input.description ?? '',
      meterId: meter?.id ?? null,
      groupId: group?.id ?? null,
      metadata: input.metadata ?? {},
    },
    derived,
  );
  return { feature, meter, meterChanged: input.meter !== undefined };
}

/** A feature of this environment, archived or not; throws `not_found`. */
export async function findFeature(tx: Transaction, id: string): Promise<FeatureWithMeter> {
  const feature = await tx.em.findOne(Feature, { id, environmentId: tx.scope.environmentId });
  if (!feature) throw missing('feature', id);
  return { feature, meter: await meterOf(tx, feature), meterChanged: false };
}

/** The features of the given ids, by id. */
export async function featuresById(tx: Transaction, ids: readonly string[]): Promise<Map<string, Feature>> {
  if (ids.length === 0) return new Map();
  const features = await tx.em.find(Feature, { id: { $in: [...new Set(ids)] }, environmentId: tx.scope.environmentId });
  return new Map(features.map((feature) => [feature.id, feature]));
}

/**
 * Changes a feature in place; `filters` are added to its meter. Throws `not_found`, `invalid_operation` on an archived
 * feature, `validation_error` for an immutable member with another value.
 *
 * spec: catalogue-and-metering §5.1 Update, §13 row 30
 */
export async function updateFeature(tx: Transaction, id: string, change: FeatureChange): Promise<FeatureWithMeter> {
  const group = await groupToJoin(tx, change.groupId, 'feature');
  const feature = await lockFeature(tx, id);
  refuseArchived('feature', feature);
  refuseImmutable(feature, change);
  const display = {
    name: change.name ?? feature.name,
    unitSingular: change.unitSingular ?? feature.unitSingular,
    unitPlural: change.unitPlural ?? feature.unitPlural,
    reportingUnit: (change.reportingUnit === undefined ? feature.reportingUnit : change.reportingUnit) ?? null,
    alertSettings: changedAlerts(feature.alertSettings as AlertSettings | null, change.alertSettings),
  };
  checkFeatureDisplay(display);
  if (change.filters && !feature.meterId) throw badField('filters', 'belong to a meter; this feature has none');
  const meter = change.filters
    ? await extendMeterFilters(tx, feature.meterId!, change.filters)
    : await meterOf(tx, feature);
  tx.em.assign(feature, { ...display, alertSettings: display.alertSettings as Record<string, unknown> | null });
  if (change.groupId !== undefined) feature.groupId = group?.id ?? null;
  if (change.description !== undefined) feature.description = change.description;
  if (change.metadata !== undefined) feature.metadata = change.metadata;
  touch(tx, feature);
  await tx.em.flush();
  if (change.alertSettings !== undefined) await keepAlerts(tx, feature);
  await report(tx, feature, 'updated');
  return { feature, meter, meterChanged: change.filters !== undefined };
}

/**
 * Archives a feature with its meter; a meter that another published feature uses stays. Repeating it changes nothing.
 * Throws `invalid_operation` while a published entitlement refers to the feature.
 *
 * spec: catalogue-and-metering §5.1 Delete, §11
 */
export async function archiveFeature(tx: Transaction, id: string): Promise<void> {
  const feature = await lockFeature(tx, id);
  if (feature.status !== 'published') return;
  const { environmentId } = tx.scope;
  const used = await tx.em.findOne(Entitlement, { environmentId, featureId: id, status: 'published' });
  if (used) {
    throw refuse(
      'invalid_operation',
      `feature ${id} is granted by entitlement ${used.id}; delete its entitlements first`,
      { entitlement_id: used.id },
    );
  }
  feature.status = 'archived';
  touch(tx, feature);
  await tx.em.flush();
  await keepAlertSetting(tx, 'feature', id, null);
  if (
    feature.meterId &&
    (await tx.em.count(Feature, { environmentId, meterId: feature.meterId, status: 'published' })) === 0
  ) {
    await archiveMeter(tx, feature.meterId);
  }
  await report(tx, feature, 'deleted');
}

export interface FeatureCopy {
  name: string;
  lookupKey: string;
  description?: string | undefined;
  metadata?: Record<string, string> | undefined;
}

/** Copies a feature and its meter under new ids. Throws `not_found`, `already_exists`. spec: catalogue-and-metering §5.1 Clone */
export async function cloneFeature(tx: Transaction, id: string, copy: FeatureCopy): Promise<FeatureWithMeter> {
  if (copy.name.trim() === '') throw badField('name', 'must not be blank');
  const { feature: source, meter: sourceMeter } = await findFeature(tx, id);
  const meter = sourceMeter ? await copyMeter(tx, sourceMeter) : null;
  const groups = await holdGroups(tx, [source.groupId]);
  const { type, unitSingular, unitPlural, reportingUnit } = source;
  const feature = await insertFeature(tx, {
    name: copy.name,
    type,
    unitSingular,
    unitPlural,
    reportingUnit,
    alertSettings: source.alertSettings as AlertSettings | null,
    lookupKey: copy.lookupKey,
    description: copy.description ?? source.description,
    meterId: meter?.id ?? null,
    groupId: source.groupId && groups.has(source.groupId) ? source.groupId : null,
    metadata: { ...source.metadata, ...copy.metadata, source_feature_id: source.id },
  });
  return { feature, meter, meterChanged: meter !== null };
}

export type FeatureColumns = Pick<
  Feature,
  | 'name'
  | 'type'
  | 'lookupKey'
  | 'description'
  | 'meterId'
  | 'groupId'
  | 'metadata'
  | 'unitSingular'
  | 'unitPlural'
  | 'reportingUnit'
> & {
  alertSettings: AlertSettings | null;
};

/** Stores a feature under a new id and reports it. Throws `already_exists` for a taken lookup key, which may be `derived` from the name. */
export async function insertFeature(tx: Transaction, columns: FeatureColumns, derived = false): Promise<Feature> {
  const alertSettings = columns.alertSettings as Record<string, unknown> | null;
  const feature = tx.em.create(Feature, { ...newRecord(tx, 'feat'), ...columns, alertSettings });
  await flushUnique(tx, { feature_lookup_key_unique: () => takenFeatureKey(columns, derived) });
  await keepAlerts(tx, feature);
  await report(tx, feature, 'created');
  return feature;
}

/** The feature's alert setting says what the feature says. spec: wallets-and-payments §1.3 */
function keepAlerts(tx: Transaction, { id, alertSettings }: Feature): Promise<void> {
  return keepAlertSetting(tx, 'feature', id, alertSettings ? storedAlerts(alertSettings) : null);
}

function checkMeterChoice(input: NewFeature): void {
  if (input.type !== 'metered') {
    if (input.meterId || input.meter)
      throw badField(input.meter ? 'meter' : 'meter_id', `belongs to metered features, not to a ${input.type} one`);
    return;
  }
  if (input.meterId && input.meter) throw badField('meter', 'cannot be combined with meter_id; send one of them');
  if (!input.meterId && !input.meter) throw badField('meter', 'or meter_id is required for a metered feature');
}

async function publishedMeter(tx: Transaction, id: string | undefined): Promise<Meter | null> {
  if (!id) return null;
  const meter = await tx.em.findOne(Meter, { id, environmentId: tx.scope.environmentId });
  if (!meter) throw missing('meter', id, 'meter_id');
  if (meter.status !== 'published')
    throw badField('meter_id', `names meter ${id}, which is ${meter.status}; use a published meter`);
  return meter;
}

function refuseImmutable(feature: Feature, change: FeatureChange): void {
  const sent = { type: change.type, meter_id: change.meterId, lookup_key: change.lookupKey };
  const stored = { type: feature.type, meter_id: feature.meterId ?? '', lookup_key: feature.lookupKey };
  for (const [field, value] of Object.entries(sent)) {
    if (value !== undefined && value !== stored[field as keyof typeof stored]) {
      throw badField(field, 'cannot be changed; create another feature or leave it out');
    }
  }
}

function changedAlerts(
  stored: AlertSettings | null,
  sent: Partial<AlertSettings> | null | undefined,
): AlertSettings | null {
  if (sent === undefined) return stored;
  return sent === null ? null : mergedAlertSettings(stored, sent);
}

async function meterOf(tx: Transaction, feature: Feature): Promise<Meter | null> {
  return (await metersById(tx, [feature.meterId ?? null])).get(feature.meterId ?? '') ?? null;
}

async function lockFeature(tx: Transaction, id: string): Promise<Feature> {
  const where = { id, environmentId: tx.scope.environmentId };
  const feature = await tx.em.findOne(Feature, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!feature) throw missing('feature', id);
  return feature;
}

/** Outbox and audit rows of a change. spec: platform §17.2 */
async function report(tx: Transaction, feature: Feature, change: 'created' | 'updated' | 'deleted'): Promise<void> {
  const body = eventForm(feature);
  const about = { entityType: 'feature' as const, entityId: feature.id, occurredAt: feature.updatedAt };
  await writeEvents(tx, tx.scope, [{ ...about, name: `feature.${change}`, payload: { feature: body } }]);
  const { entityType: objectType, entityId: objectId, occurredAt } = about;
  await writeAudit(tx, tx.scope, [{ objectType, objectId, action: change, occurredAt, detail: body }]);
}

/** A feature as outbound events carry it. spec: platform §17.2 */
function eventForm(feature: Feature): FeatureEvent['payload']['feature'] {
  return {
    id: feature.id,
    name: feature.name,
    lookup_key: feature.lookupKey,
    description: feature.description || null,
    type: feature.type,
    unit_singular: feature.unitSingular || null,
    unit_plural: feature.unitPlural || null,
    meter_id: feature.meterId ?? null,
    group_id: feature.groupId ?? null,
    metadata: feature.metadata,
  };
}
