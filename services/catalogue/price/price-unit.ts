import { LockMode } from '@mikro-orm/core';
import { currencyPrecision, decimal } from '../../../billing/money/money.ts';
import { refuse } from '../../../billing/refusal.ts';
import { PriceUnit } from '../../../db/entities/catalogue/price-unit.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../../db/list.ts';
import { badField, missing, newRecord, refuseArchived, refuseInvalid, touch } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { flushUnique } from '../../../db/unique.ts';
import { writeAudit } from '../../platform/audit.ts';
import { convertPrices } from './price-unit-prices.ts';

export interface NewPriceUnit {
  name: string;
  code: string;
  symbol: string;
  baseCurrency: string;
  conversionRate: string;
  precision?: number | undefined;
  metadata?: Record<string, string> | undefined;
}

/** What may change of a custom currency; its code, symbol and base currency are on invoices and stay. */
export interface PriceUnitChange {
  name?: string | undefined;
  metadata?: Record<string, string> | undefined;
  conversionRate?: string | undefined;
}

const fiatCodes = new Set(Intl.supportedValuesOf('currency').map((code) => code.toLowerCase()));

/**
 * Creates a custom currency. Throws `validation_error` for a code that is a fiat currency, a blank name or symbol or a rate
 * that is not above zero, `already_exists` for a taken code. spec: catalogue-and-metering §4.5, §13 row 27
 */
export async function createPriceUnit(tx: Transaction, input: NewPriceUnit): Promise<PriceUnit> {
  refuseBlank('name', input.name);
  refuseBlank('symbol', input.symbol);
  refuseRate(input.conversionRate);
  const code = input.code.toLowerCase();
  if (fiatCodes.has(code))
    throw badField('code', `must not be ${code}, which is a fiat currency; choose another of three characters`);
  const unit = tx.em.create(PriceUnit, {
    ...newRecord(tx, 'price_unit'),
    name: input.name,
    code,
    symbol: input.symbol,
    baseCurrency: input.baseCurrency,
    conversionRate: input.conversionRate,
    precision: input.precision ?? currencyPrecision(input.baseCurrency),
    metadata: input.metadata ?? {},
  });
  await flushUnique(tx, { price_unit_code_unique: () => takenCode(code) });
  await auditPriceUnit(tx, unit, 'created');
  return unit;
}

/** A custom currency of this environment, archived or not; throws `not_found`. */
export async function findPriceUnit(tx: Transaction, id: string): Promise<PriceUnit> {
  const unit = await tx.em.findOne(PriceUnit, { id, environmentId: tx.scope.environmentId });
  if (!unit) throw missing('price unit', id);
  return unit;
}

/** The published custom currency of a code, in any case; throws `not_found`. spec: catalogue-and-metering §4.5 */
export async function findPriceUnitByCode(tx: Transaction, code: string): Promise<PriceUnit> {
  const where = { code: code.toLowerCase(), environmentId: tx.scope.environmentId, status: 'published' };
  const unit = await tx.em.findOne(PriceUnit, where);
  if (!unit) throw refuse('not_found', `no published price unit has the code ${code}`);
  return unit;
}

/** The custom currencies of the given ids, by id. */
export async function priceUnitsById(
  tx: Transaction,
  ids: readonly (string | null | undefined)[],
): Promise<Map<string, PriceUnit>> {
  const wanted = [...new Set(ids.filter((id): id is string => !!id))];
  if (wanted.length === 0) return new Map();
  const units = await tx.em.find(PriceUnit, { id: { $in: wanted }, environmentId: tx.scope.environmentId });
  return new Map(units.map((unit) => [unit.id, unit]));
}

const priceUnitList: ListDefinition<PriceUnit> = {
  entity: PriceUnit,
  columns: {
    name: 'string',
    code: 'string',
    symbol: 'string',
    base_currency: 'string',
    conversion_rate: 'decimal',
    precision: 'integer',
  },
};

/** One page of custom currencies. spec: catalogue-and-metering §2.3 */
export function listPriceUnits(
  tx: Transaction,
  query: ListQuery,
  ids: readonly string[] | null | undefined,
): Promise<ListPage<PriceUnit>> {
  return listPage(tx, priceUnitList, query, anyOf('id', ids));
}

/**
 * Changes a custom currency. A new rate rewrites the fiat amounts of its prices that have not ended; drafts follow when they
 * are computed, finalized invoices keep theirs. Throws `not_found`, `validation_error`, `invalid_operation` on an archived one.
 * spec: catalogue-and-metering §4.5 Changing the rate
 */
export async function updatePriceUnit(tx: Transaction, id: string, change: PriceUnitChange): Promise<PriceUnit> {
  const unit = await lockPriceUnit(tx, id);
  refuseArchived('price unit', unit);
  if (change.name !== undefined) {
    refuseBlank('name', change.name);
    unit.name = change.name;
  }
  if (change.metadata !== undefined) unit.metadata = change.metadata;
  const { conversionRate: before } = unit;
  if (change.conversionRate !== undefined) {
    refuseRate(change.conversionRate);
    unit.conversionRate = change.conversionRate;
  }
  touch(tx, unit);
  await tx.em.flush();
  await auditPriceUnit(tx, unit, 'updated');
  if (unit.conversionRate !== before) await convertPrices(tx, unit);
  return unit;
}

/** Archives a custom currency; never refused, prices that use it go on, and repeating it changes nothing. spec: catalogue-and-metering §4.5, §11 */
export async function archivePriceUnit(tx: Transaction, id: string): Promise<void> {
  const unit = await lockPriceUnit(tx, id);
  if (unit.status !== 'published') return;
  unit.status = 'archived';
  touch(tx, unit);
  await tx.em.flush();
  await auditPriceUnit(tx, unit, 'archived');
}

/**
 * The custom currency of a new price, held against a change of its rate meanwhile. Throws `not_found` for an unknown code,
 * `invalid_operation` for an archived one, `validation_error` when the price is in another currency. Call it before locking a price: a
 * change of rate locks in that order. spec: catalogue-and-metering §4.5, §11, §13 row 18
 */
export async function priceUnitOfPrice(
  tx: Transaction,
  price: { code: string; currency: string },
  path = '',
): Promise<PriceUnit> {
  const code = price.code.toLowerCase();
  const field = `${path}price_unit_config.price_unit`;
  const where = { code, environmentId: tx.scope.environmentId };
  const published = { ...where, status: 'published' };
  const unit = await tx.em.findOne(PriceUnit, published, { lockMode: LockMode.PESSIMISTIC_READ, refresh: true });
  if (!unit) {
    if ((await tx.em.count(PriceUnit, where)) === 0) throw missing('price unit', code, field);
    throw refuseInvalid(field, `${field} names ${code}, which is archived; use a published price unit`);
  }
  if (unit.baseCurrency !== price.currency) {
    throw badField(`${path}currency`, `must be ${unit.baseCurrency}, the base currency of price unit ${code}`);
  }
  return unit;
}

/** Holds the rate of a custom currency until the transaction ends: whoever copies one of its prices asks before. */
export async function holdPriceUnits(tx: Transaction, ids: readonly (string | null | undefined)[]): Promise<void> {
  const wanted = [...new Set(ids.filter((id): id is string => !!id))];
  if (wanted.length === 0) return;
  const text = 'select id from price_unit where environment_id = $1 and id = any($2) order by id for share';
  await tx.rows(text, [tx.scope.environmentId, wanted]);
}

async function lockPriceUnit(tx: Transaction, id: string): Promise<PriceUnit> {
  const where = { id, environmentId: tx.scope.environmentId };
  const unit = await tx.em.findOne(PriceUnit, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!unit) throw missing('price unit', id);
  return unit;
}

function refuseBlank(field: string, value: string): void {
  if (value.trim() === '') throw badField(field, 'must not be blank');
}

function refuseRate(rate: string): void {
  if (!decimal(rate).greaterThan(0)) throw badField('conversion_rate', 'must be greater than 0');
}

function takenCode(code: string) {
  return refuse('already_exists', `code ${code} is taken by another published price unit; choose another`, {
    fields: { code: 'taken' },
  });
}

/** The audit row of a custom currency's change; it emits no events. spec: platform §17.3 */
function auditPriceUnit(tx: Transaction, unit: PriceUnit, action: string): Promise<void> {
  const { name, code, baseCurrency, conversionRate } = unit;
  const detail = { name, code, base_currency: baseCurrency, conversion_rate: conversionRate };
  return writeAudit(tx, tx.scope, [
    { objectType: 'price_unit', objectId: unit.id, action, occurredAt: unit.updatedAt, detail },
  ]);
}
