import { LockMode } from '@mikro-orm/core';
import { Meter, type MeterFilter } from '../../db/entities/catalogue/meter.ts';
import { badField, missing, newRecord, refuseArchived, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { writeAudit } from '../platform/audit.ts';
import { checkMeter, checkMeterFilters, type NewMeter, unitedFilters } from './meter-rules.ts';

/**
 * Creates a meter. `path` is where the meter stands in the request, for the messages; `copyOf` the meter of another
 * environment it is a copy of. Throws `validation_error`.
 * The caller then begins to meter with it in the same transaction, which refuses what the usage engine cannot compute.
 *
 * spec: catalogue-and-metering §5.2
 */
export async function createMeter(
  tx: Transaction,
  input: NewMeter,
  path = '',
  copyOf: string | null = null,
): Promise<Meter> {
  checkMeter(input, path);
  const meter = tx.em.create(Meter, {
    ...newRecord(tx, 'meter'),
    name: input.name,
    eventName: input.eventName.trim(),
    aggregation: input.aggregation,
    filters: input.filters,
    resetUsage: input.resetUsage,
    sourceEnvironmentMeterId: copyOf,
  });
  await tx.em.flush();
  await auditMeter(tx, meter, 'created');
  return meter;
}

/** A copy of a meter under a new id; the two share no roll-ups. spec: catalogue-and-metering §5.1 Clone */
export function copyMeter(tx: Transaction, source: Meter): Promise<Meter> {
  const { name, eventName, aggregation, filters, resetUsage } = source;
  return createMeter(tx, { name, eventName, aggregation, filters, resetUsage });
}

/** A meter of this environment, archived or not; throws `not_found`. */
export async function findMeter(tx: Transaction, id: string): Promise<Meter> {
  const meter = await tx.em.findOne(Meter, { id, environmentId: tx.scope.environmentId });
  if (!meter) throw missing('meter', id);
  return meter;
}

/** The meters of the given ids, by id. */
export async function metersById(tx: Transaction, ids: readonly (string | null)[]): Promise<Map<string, Meter>> {
  const wanted = [...new Set(ids.filter((id): id is string => id !== null))];
  if (wanted.length === 0) return new Map();
  const meters = await tx.em.find(Meter, { id: { $in: wanted }, environmentId: tx.scope.environmentId });
  return new Map(meters.map((meter) => [meter.id, meter]));
}

/**
 * Adds filters to a meter: values of a known key are united, new keys added, nothing removed. The version grows, because the
 * usage tables are keyed by it. Throws `validation_error`, `not_found` and, on an archived meter, `invalid_operation`.
 *
 * spec: catalogue-and-metering §5.2 PUT
 */
export async function extendMeterFilters(
  tx: Transaction,
  id: string,
  filters: readonly MeterFilter[],
  path = '',
): Promise<Meter> {
  if (filters.length === 0) throw badField(`${path}filters`, 'needs at least one filter');
  checkMeterFilters(filters, path);
  const meter = await lockMeter(tx, id);
  refuseArchived('meter', meter);
  const wanted = await wantedFilters(tx, meter);
  const united = unitedFilters(wanted, filters);
  if (JSON.stringify(united) === JSON.stringify(wanted)) return meter;
  meter.filters = united;
  meter.version += 1;
  touch(tx, meter);
  await tx.em.flush();
  await auditMeter(tx, meter, 'filters extended');
  return meter;
}

/** The filters of a meter as they were last asked for, also while usage is not measured by them yet. design: usage.md Closing and afterwards */
export async function wantedFilters(tx: Transaction, meter: Pick<Meter, 'id' | 'filters'>): Promise<MeterFilter[]> {
  const [build] = await tx.rows<{ filters: MeterFilter[] }>(
    `select b.filters from usage.meter_build b join environment e on e.number = b.env where e.id = $1 and b.meter_id = $2`,
    [tx.scope.environmentId, meter.id],
  );
  return build?.filters ?? meter.filters;
}

/** Archives a meter; never refused, and repeating it changes nothing. spec: catalogue-and-metering §5.2, §11 */
export async function archiveMeter(tx: Transaction, id: string): Promise<Meter> {
  const meter = await lockMeter(tx, id);
  if (meter.status !== 'published') return meter;
  meter.status = 'archived';
  touch(tx, meter);
  await tx.em.flush();
  await auditMeter(tx, meter, 'archived');
  return meter;
}

async function lockMeter(tx: Transaction, id: string): Promise<Meter> {
  const where = { id, environmentId: tx.scope.environmentId };
  const meter = await tx.em.findOne(Meter, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!meter) throw missing('meter', id);
  return meter;
}

function auditMeter(tx: Transaction, meter: Meter, action: string): Promise<void> {
  const detail = { version: meter.version, filters: meter.filters };
  return writeAudit(tx, tx.scope, [
    { objectType: 'meter', objectId: meter.id, action, occurredAt: meter.updatedAt, detail },
  ]);
}
