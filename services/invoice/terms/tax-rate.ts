import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../../billing/refusal.ts';
import { TaxApplied } from '../../../db/entities/invoice/tax-applied.ts';
import { TaxAssociation } from '../../../db/entities/invoice/tax-association.ts';
import { TaxRate } from '../../../db/entities/invoice/tax-rate.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../../db/list.ts';
import { missing, newRecord, refuseArchived, touch } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { flushUnique } from '../../../db/unique.ts';
import { writeAudit } from '../../platform/audit.ts';

export interface NewTaxRate {
  name: string;
  code: string;
  percentageValue: string;
  description?: string | undefined;
  scope?: string | undefined;
  metadata?: Record<string, string> | undefined;
}

/** What a caller may change of a rate; an absent member stays. */
export interface TaxRateChange {
  name?: string | undefined;
  code?: string | undefined;
  description?: string | undefined;
  metadata?: Record<string, string> | undefined;
  taxRateStatus?: string | undefined;
}

/** Creates an ACTIVE tax rate. Throws `already_exists` for a code in use. spec: subscriptions-and-invoicing §1.13 */
export async function createTaxRate(tx: Transaction, input: NewTaxRate): Promise<TaxRate> {
  const rate = tx.em.create(TaxRate, {
    ...newRecord(tx, 'taxrate'),
    code: input.code,
    name: input.name,
    description: input.description ?? '',
    percentageValue: input.percentageValue,
    scope: input.scope ?? 'INTERNAL',
    taxRateStatus: 'ACTIVE',
    taxRateType: 'percentage',
    metadata: input.metadata ?? {},
  });
  await flushRate(tx, rate);
  await audit(tx, rate, 'created');
  return rate;
}

/** A tax rate of this environment, archived or not. Throws `not_found`. */
export async function findTaxRate(tx: Transaction, id: string): Promise<TaxRate> {
  const rate = await tx.em.findOne(TaxRate, { id, environmentId: tx.scope.environmentId });
  if (!rate) throw missing('tax rate', id);
  return rate;
}

/** The tax rates of the given ids, by id. */
export async function taxRatesById(tx: Transaction, ids: readonly string[]): Promise<Map<string, TaxRate>> {
  if (ids.length === 0) return new Map();
  const rates = await tx.em.find(TaxRate, { id: { $in: [...new Set(ids)] }, environmentId: tx.scope.environmentId });
  return new Map(rates.map((rate) => [rate.id, rate]));
}

/**
 * Changes a tax rate. One that is linked or was applied keeps its meaning: only `tax_rate_status` may change, which is how it
 * is withdrawn from drafts to come. Throws `not_found`, `already_exists` for a code in use, `invalid_operation` for an archived
 * rate and `validation_error` for any other change of a used one. spec: subscriptions-and-invoicing §1.13, §3 row 47, §4
 */
export async function updateTaxRate(tx: Transaction, id: string, change: TaxRateChange): Promise<TaxRate> {
  const rate = await lockRate(tx, id);
  refuseArchived('tax rate', rate);
  const before = changeable(rate);
  const after = { ...before, ...definedOf(change) };
  const changed = (Object.keys(after) as (keyof typeof after)[]).filter(
    (member) => JSON.stringify(after[member]) !== JSON.stringify(before[member]),
  );
  if (changed.length === 0) return rate;
  if (changed.some((member) => member !== 'taxRateStatus')) await refuseUsed(tx, rate, 'changed');
  Object.assign(rate, after);
  touch(tx, rate);
  await flushRate(tx, rate);
  await audit(tx, rate, 'updated');
  return rate;
}

/**
 * Archives a tax rate, which frees its code; repeating it changes nothing. Throws `not_found`, and `validation_error` while an
 * association names it. spec: subscriptions-and-invoicing §1.13
 */
export async function deleteTaxRate(tx: Transaction, id: string): Promise<void> {
  const rate = await lockRate(tx, id);
  if (rate.status !== 'published') return;
  await refuseLinked(tx, rate, 'deleted');
  rate.status = 'archived';
  touch(tx, rate);
  await tx.em.flush();
  await audit(tx, rate, 'deleted');
}

export interface TaxRateFilters {
  rateIds?: readonly string[] | undefined;
  codes?: readonly string[] | undefined;
  scope?: string | undefined;
}

const rateList: ListDefinition<TaxRate> = {
  entity: TaxRate,
  columns: { code: 'string', name: 'string', scope: 'string', tax_rate_status: 'string', percentage_value: 'decimal' },
};

/** One page of tax rates. spec: subscriptions-and-invoicing §1.13 */
export function listTaxRates(tx: Transaction, query: ListQuery, filters: TaxRateFilters): Promise<ListPage<TaxRate>> {
  return listPage(tx, rateList, query, {
    ...anyOf('id', filters.rateIds),
    ...anyOf('code', filters.codes),
    ...(filters.scope ? { scope: filters.scope } : {}),
  });
}

function changeable({ name, code, description, metadata, taxRateStatus }: TaxRate) {
  return { name, code, description, metadata, taxRateStatus };
}

function definedOf(change: TaxRateChange): Partial<ReturnType<typeof changeable>> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

async function refuseLinked(tx: Transaction, rate: TaxRate, verb: string): Promise<void> {
  const { environmentId } = tx.scope;
  const link = await tx.em.findOne(TaxAssociation, { environmentId, taxRateId: rate.id, status: 'published' });
  if (!link) return;
  throw refuse(
    'validation_error',
    `tax rate ${rate.code} is linked by association ${link.id} and cannot be ${verb}; delete its associations first, or set tax_rate_status to INACTIVE`,
    { tax_association_id: link.id },
  );
}

async function refuseUsed(tx: Transaction, rate: TaxRate, verb: string): Promise<void> {
  await refuseLinked(tx, rate, verb);
  const applied = await tx.em.findOne(TaxApplied, { environmentId: tx.scope.environmentId, taxRateId: rate.id });
  if (!applied) return;
  throw refuse(
    'validation_error',
    `tax rate ${rate.code} was applied to invoices and cannot be ${verb}; create another rate, or set tax_rate_status to INACTIVE`,
    { invoice_id: applied.entityId },
  );
}

async function lockRate(tx: Transaction, id: string): Promise<TaxRate> {
  const where = { id, environmentId: tx.scope.environmentId };
  const rate = await tx.em.findOne(TaxRate, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!rate) throw missing('tax rate', id);
  return rate;
}

async function flushRate(tx: Transaction, rate: TaxRate): Promise<void> {
  await flushUnique(tx, {
    tax_rate_code_unique: () =>
      refuse('already_exists', `code ${rate.code} is taken by another tax rate; choose another`, {
        fields: { code: 'taken' },
      }),
  });
}

async function audit(tx: Transaction, rate: TaxRate, action: 'created' | 'updated' | 'deleted'): Promise<void> {
  const { code, percentageValue, taxRateStatus } = rate;
  const detail = { code, percentage_value: percentageValue, tax_rate_status: taxRateStatus };
  await writeAudit(tx, tx.scope, [
    { objectType: 'tax_rate', objectId: rate.id, action, occurredAt: rate.updatedAt, detail },
  ]);
}
