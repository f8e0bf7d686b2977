import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../billing/refusal.ts';
import { Costsheet } from '../../db/entities/catalogue/costsheet.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { badField, missing, newRecord, refuseArchived, takenKey, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { flushUnique } from '../../db/unique.ts';
import { writeAudit } from '../platform/audit.ts';

export interface NewCostsheet {
  name: string;
  lookupKey?: string | undefined;
  description?: string | undefined;
  metadata?: Record<string, string> | undefined;
}

/** What may change of a cost sheet; an absent member stays. */
export type CostsheetChange = { [Member in keyof NewCostsheet]?: NewCostsheet[Member] | undefined };

/**
 * Creates a cost sheet. Throws `validation_error` for a blank name, `already_exists` for a name or lookup key that another
 * published cost sheet has. spec: catalogue-and-metering §10.2, §13 row 47
 */
export async function createCostsheet(tx: Transaction, input: NewCostsheet): Promise<Costsheet> {
  refuseBlankName(input.name);
  const costsheet = tx.em.create(Costsheet, {
    ...newRecord(tx, 'cost'),
    name: input.name,
    lookupKey: input.lookupKey ?? '',
    description: input.description ?? '',
    metadata: input.metadata ?? {},
  });
  await flushCostsheet(tx, costsheet);
  await auditCostsheet(tx, costsheet, 'created');
  return costsheet;
}

/** A cost sheet of this environment, deleted or not; throws `not_found`. */
export async function findCostsheet(tx: Transaction, id: string): Promise<Costsheet> {
  const costsheet = await tx.em.findOne(Costsheet, { id, environmentId: tx.scope.environmentId });
  if (!costsheet) throw missing('cost sheet', id);
  return costsheet;
}

/** The most recently created published cost sheet, or null when there is none. spec: catalogue-and-metering §10.2 */
export async function activeCostsheet(tx: Transaction): Promise<Costsheet | null> {
  return tx.em.findOne(
    Costsheet,
    { environmentId: tx.scope.environmentId, status: 'published' },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );
}

/** The active cost sheet; throws `not_found` when there is none. spec: catalogue-and-metering §10.2 */
export async function findActiveCostsheet(tx: Transaction): Promise<Costsheet> {
  const costsheet = await activeCostsheet(tx);
  if (!costsheet) throw refuse('not_found', 'there is no published cost sheet in this environment; create one');
  return costsheet;
}

/**
 * A published cost sheet that a price may be added to, held against deletion until the transaction ends. Throws `not_found`,
 * and `invalid_operation` for a deleted one. spec: catalogue-and-metering §4.1 entity_id
 */
export async function lockCostsheetForPrice(tx: Transaction, id: string, field: string): Promise<Costsheet> {
  const where = { id, environmentId: tx.scope.environmentId };
  const costsheet = await tx.em.findOne(Costsheet, where, { lockMode: LockMode.PESSIMISTIC_READ, refresh: true });
  if (!costsheet) throw missing('cost sheet', id, field);
  refuseArchived('cost sheet', costsheet);
  return costsheet;
}

/**
 * Changes a cost sheet; absent members stay. Throws `not_found`, `validation_error`, `invalid_operation` on a deleted one,
 * `already_exists` for a taken name or lookup key. spec: catalogue-and-metering §10.2, §11
 */
export async function updateCostsheet(tx: Transaction, id: string, change: CostsheetChange): Promise<Costsheet> {
  const costsheet = await lockCostsheet(tx, id);
  refuseArchived('cost sheet', costsheet);
  if (change.name !== undefined) {
    refuseBlankName(change.name);
    costsheet.name = change.name;
  }
  if (change.lookupKey !== undefined) costsheet.lookupKey = change.lookupKey;
  if (change.description !== undefined) costsheet.description = change.description;
  if (change.metadata !== undefined) costsheet.metadata = change.metadata;
  touch(tx, costsheet);
  await flushCostsheet(tx, costsheet);
  await auditCostsheet(tx, costsheet, 'updated');
  return costsheet;
}

/**
 * Deletes a cost sheet: its status becomes `deleted`, it stays readable by id, and its name and key are free again. Throws
 * `not_found`, and `validation_error` when it is deleted already. spec: catalogue-and-metering §10.2, §11, §13 row 49
 */
export async function deleteCostsheet(tx: Transaction, id: string): Promise<void> {
  const costsheet = await lockCostsheet(tx, id);
  if (costsheet.status === 'deleted')
    throw badField('id', `names cost sheet ${id}, which is deleted already; create another one`);
  costsheet.status = 'deleted';
  touch(tx, costsheet);
  await tx.em.flush();
  await auditCostsheet(tx, costsheet, 'deleted');
}

const costsheetList: ListDefinition<Costsheet> = {
  entity: Costsheet,
  columns: { name: 'string', description: 'string', lookup_key: 'string' },
};

export interface CostsheetFilters {
  costsheetIds?: readonly string[] | null | undefined;
  name?: string | null | undefined;
  lookupKey?: string | null | undefined;
}

/** One page of cost sheets. spec: catalogue-and-metering §2.3 */
export function listCostsheets(
  tx: Transaction,
  query: ListQuery,
  filters: CostsheetFilters,
): Promise<ListPage<Costsheet>> {
  return listPage(tx, costsheetList, query, {
    ...anyOf('id', filters.costsheetIds),
    ...(filters.name ? { name: filters.name } : {}),
    ...(filters.lookupKey ? { lookupKey: filters.lookupKey } : {}),
  });
}

async function lockCostsheet(tx: Transaction, id: string): Promise<Costsheet> {
  const where = { id, environmentId: tx.scope.environmentId };
  const costsheet = await tx.em.findOne(Costsheet, where, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!costsheet) throw missing('cost sheet', id);
  return costsheet;
}

async function flushCostsheet(tx: Transaction, costsheet: Costsheet): Promise<void> {
  await flushUnique(tx, {
    costsheet_name_unique: () =>
      refuse('already_exists', `name ${costsheet.name} is taken by another published cost sheet; choose another`, {
        fields: { name: 'taken' },
      }),
    costsheet_lookup_key_unique: () => takenKey('cost sheet', costsheet.lookupKey),
  });
}

function refuseBlankName(name: string): void {
  if (name.trim() === '') throw badField('name', 'must not be blank');
}

/** Cost sheets emit no events. spec: platform §17.3 */
function auditCostsheet(tx: Transaction, costsheet: Costsheet, action: string): Promise<void> {
  const detail = { name: costsheet.name, lookup_key: costsheet.lookupKey };
  return writeAudit(tx, tx.scope, [
    { objectType: 'costsheet', objectId: costsheet.id, action, occurredAt: costsheet.updatedAt, detail },
  ]);
}
