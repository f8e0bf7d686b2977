import { LockMode } from '@mikro-orm/core';
import { defaultTaxBehavior } from '../../../billing/invoice/tax.ts';
import { refuse } from '../../../billing/refusal.ts';
import { customerNow, realNow } from '../../../db/clock.ts';
import { Customer } from '../../../db/entities/customer/customer.ts';
import { Invoice } from '../../../db/entities/invoice/invoice.ts';
import { TaxAssociation } from '../../../db/entities/invoice/tax-association.ts';
import type { TaxRate } from '../../../db/entities/invoice/tax-rate.ts';
import { Subscription } from '../../../db/entities/subscription/subscription.ts';
import { type ListDefinition, type ListPage, type ListQuery, listPage } from '../../../db/list.ts';
import { badField, missing, newRecord, refuseArchived, touch } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { flushUnique } from '../../../db/unique.ts';
import { findCustomerByExternalId } from '../../customer/customer.ts';
import { defaultTaxPriority, publishedRates, type TaxedEntity, unknownCode } from '../../customer/tax-link.ts';
import { writeAudit } from '../../platform/audit.ts';
import { taxRatesById } from './tax-rate.ts';

/** An association with its rate. */
export interface TaxAssociationContent {
  row: TaxAssociation;
  rate: TaxRate;
}

export interface NewTaxAssociation {
  taxRateCode: string;
  entityType: TaxedEntity | undefined;
  entityId: string | undefined;
  externalCustomerId: string | undefined;
  taxBehavior: 'inclusive' | 'exclusive' | undefined;
  priority: number | undefined;
  currency: string | undefined;
  autoApply: boolean | undefined;
  startDate: string | undefined;
  endDate: string | undefined;
  metadata: Record<string, string> | undefined;
}

export interface TaxAssociationChange {
  priority?: number | undefined;
  autoApply?: boolean | undefined;
  taxBehavior?: 'inclusive' | 'exclusive' | undefined;
  metadata?: Record<string, string> | undefined;
}

/**
 * Links a rate to the environment, a customer, a subscription or an invoice. Throws `not_found` for an unknown code or entity,
 * `validation_error` for an end that is not after the start, `already_exists` for a link that exists.
 * spec: subscriptions-and-invoicing §1.13
 */
export async function createTaxAssociation(tx: Transaction, input: NewTaxAssociation): Promise<TaxAssociationContent> {
  const entity = await taxedEntity(tx, input);
  const rateId = (await publishedRates(tx, tx.scope, [input.taxRateCode])).get(input.taxRateCode);
  if (!rateId) throw unknownCode(input.taxRateCode, 'tax_rate_code');
  const startDate = input.startDate ?? entity.now;
  if (input.endDate !== undefined && input.endDate <= startDate) {
    throw badField('end_date', `must be after start_date, ${startDate}`);
  }
  const row = tx.em.create(TaxAssociation, {
    ...newRecord(tx, 'ta'),
    taxRateId: rateId,
    entityType: entity.type,
    entityId: entity.id,
    taxBehavior: defaultTaxBehavior('association', input.currency ?? '', input.taxBehavior ?? null),
    priority: input.priority ?? defaultTaxPriority,
    currency: input.currency ?? '',
    autoApply: input.autoApply ?? true,
    startDate,
    endDate: input.endDate ?? null,
    metadata: input.metadata ?? {},
  });
  await flushUnique(tx, {
    tax_association_unique: () =>
      refuse('already_exists', `tax rate ${input.taxRateCode} is linked to this ${entity.type} already`, {
        fields: { tax_rate_code: 'linked already' },
      }),
  });
  await audit(tx, row, 'created', entity.now);
  return withRate(tx, row);
}

/** An association of this environment, archived or not. Throws `not_found`. */
export async function findTaxAssociation(tx: Transaction, id: string): Promise<TaxAssociationContent> {
  const row = await tx.em.findOne(TaxAssociation, { id, environmentId: tx.scope.environmentId });
  if (!row) throw missing('tax association', id);
  return withRate(tx, row);
}

/** Changes a link; drafts follow at their next computation. Throws `not_found`, `invalid_operation` for an archived one. */
export async function updateTaxAssociation(
  tx: Transaction,
  id: string,
  change: TaxAssociationChange,
): Promise<TaxAssociationContent> {
  const row = await lockAssociation(tx, id);
  refuseArchived('tax association', row);
  const defined = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  tx.em.assign(row, defined);
  touch(tx, row);
  await tx.em.flush();
  await audit(tx, row, 'updated', await entityNow(tx, row));
  return withRate(tx, row);
}

/** Ends a link for every invoice computed from now on; repeating it changes nothing. Throws `not_found`. */
export async function deleteTaxAssociation(tx: Transaction, id: string): Promise<TaxAssociationContent> {
  const row = await lockAssociation(tx, id);
  if (row.status === 'published') {
    row.status = 'archived';
    touch(tx, row);
    await tx.em.flush();
    await audit(tx, row, 'deleted', await entityNow(tx, row));
  }
  return withRate(tx, row);
}

export interface TaxAssociationFilters {
  entityType?: string | undefined;
  entityId?: string | undefined;
  externalCustomerId?: string | undefined;
  taxRateId?: string | undefined;
  autoApply?: boolean | undefined;
}

const associationList: ListDefinition<TaxAssociation> = {
  entity: TaxAssociation,
  columns: { entity_type: 'string', priority: 'integer', currency: 'string', start_date: 'date', end_date: 'date' },
};

/** One page of associations with their rates. Throws `not_found` for an unknown external customer id. */
export async function listTaxAssociations(
  tx: Transaction,
  query: ListQuery,
  filters: TaxAssociationFilters,
): Promise<ListPage<TaxAssociationContent>> {
  const customer = filters.externalCustomerId ? await findCustomerByExternalId(tx, filters.externalCustomerId) : null;
  const page = await listPage(tx, associationList, query, {
    $and: [
      filters.entityType ? { entityType: filters.entityType } : {},
      // Tenant associations hold for the whole environment and show the tenant's id.
      filters.entityId ? { entityId: filters.entityId === tx.scope.tenantId ? '' : filters.entityId } : {},
      filters.taxRateId ? { taxRateId: filters.taxRateId } : {},
      filters.autoApply === undefined ? {} : { autoApply: filters.autoApply },
      customer ? { entityType: 'customer', entityId: customer.id } : {},
    ],
  });
  const rates = await taxRatesById(
    tx,
    page.rows.map((row) => row.taxRateId),
  );
  return { ...page, rows: page.rows.map((row) => ({ row, rate: rates.get(row.taxRateId)! })) };
}

/** What a new association is about, and its present. */
async function taxedEntity(
  tx: Transaction,
  input: NewTaxAssociation,
): Promise<{ type: TaxedEntity; id: string; now: string }> {
  const { externalCustomerId, entityId } = input;
  const type = input.entityType ?? (externalCustomerId ? 'customer' : undefined);
  if (!type) throw badField('entity_type', 'is required: tenant, customer, subscription or invoice');
  if (externalCustomerId && type !== 'customer') {
    throw badField('external_customer_id', `belongs to entity_type customer, not to ${type}; send entity_id`);
  }
  if (type === 'tenant') return { type, id: '', now: realNow() };
  if (externalCustomerId) {
    const customer = await findCustomerByExternalId(tx, externalCustomerId);
    if (entityId && entityId !== customer.id)
      throw badField('entity_id', 'and external_customer_id name two customers');
    return { type, id: customer.id, now: await customerNow(tx, customer.id) };
  }
  if (!entityId) throw badField('entity_id', `is required for entity_type ${type}`);
  const customerId = await customerOf(tx, type, entityId);
  if (customerId === null) throw missing(type, entityId, 'entity_id');
  return { type, id: entityId, now: await customerNow(tx, customerId) };
}

/** The customer whose clock a published entity follows; null when there is none of that id. */
async function customerOf(tx: Transaction, type: string, id: string): Promise<string | null> {
  const where = { id, environmentId: tx.scope.environmentId, status: 'published' };
  if (type === 'customer') return (await tx.em.findOne(Customer, where))?.id ?? null;
  if (type === 'subscription') return (await tx.em.findOne(Subscription, where))?.customerId ?? null;
  return (await tx.em.findOne(Invoice, where))?.customerId ?? null;
}

async function entityNow(tx: Transaction, row: TaxAssociation): Promise<string> {
  const customerId = row.entityType === 'tenant' ? null : await customerOf(tx, row.entityType, row.entityId);
  return customerId === null ? realNow() : customerNow(tx, customerId);
}

async function withRate(tx: Transaction, row: TaxAssociation): Promise<TaxAssociationContent> {
  const rates = await taxRatesById(tx, [row.taxRateId]);
  return { row, rate: rates.get(row.taxRateId)! };
}

async function lockAssociation(tx: Transaction, id: string): Promise<TaxAssociation> {
  const where = { id, environmentId: tx.scope.environmentId };
  const row = await tx.em.findOne(TaxAssociation, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!row) throw missing('tax association', id);
  return row;
}

async function audit(tx: Transaction, row: TaxAssociation, action: string, occurredAt: string): Promise<void> {
  const { taxRateId, entityType, entityId, taxBehavior, priority, autoApply } = row;
  const detail = {
    tax_rate_id: taxRateId,
    entity_type: entityType,
    entity_id: entityId,
    tax_behavior: taxBehavior,
    priority,
    auto_apply: autoApply,
  };
  await writeAudit(tx, tx.scope, [{ objectType: 'tax_association', objectId: row.id, action, occurredAt, detail }]);
}
