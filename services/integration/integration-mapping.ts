import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../billing/refusal.ts';
import { IntegrationMapping } from '../../db/entities/integration/integration-mapping.ts';
import { type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { badField, missing, newRecord, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { flushUnique } from '../../db/unique.ts';
import { writeAudit } from '../platform/audit.ts';
import { publishedConnectionId } from './connection.ts';

/** The table an entity of each type is in; `item` and `item_price` are what some providers call a plan and a price. */
const tableOf = {
  customer: 'customer',
  plan: 'plan',
  invoice: 'invoice',
  subscription: 'subscription',
  payment: 'payment',
  credit_note: 'credit_note',
  addon: 'addon',
  item: 'plan',
  item_price: 'price',
  price: 'price',
  invoice_line_item: 'invoice_line_item',
  subscription_line_item: 'subscription_line_item',
} as const;

export type MappedEntity = keyof typeof tableOf;
export const mappedEntities = Object.keys(tableOf) as [MappedEntity, ...MappedEntity[]];

/** What one object is called at one provider. */
export interface ProviderId {
  providerType: string;
  providerEntityId: string;
  metadata: Record<string, string>;
}

export interface NewMapping extends ProviderId {
  entityType: MappedEntity;
  entityId: string;
}

/**
 * Maps an object to its id at a provider. Throws `not_found` for an unknown object, `already_exists` when it is mapped to this
 * provider, `validation_error` when the provider's id belongs to another object. spec: platform §14
 */
export async function createMapping(tx: Transaction, input: NewMapping): Promise<IntegrationMapping> {
  await requireEntity(tx, input.entityType, input.entityId);
  await refuseTakenId(tx, input, 'provider_entity_id');
  return insertMapping(tx, input);
}

/** What a link says of itself in its metadata. */
const linkMembers = ['linked_via', 'linked_at'];

/**
 * Maps an object to its id at a provider that the environment is connected to, in place of what it was mapped to there. Metadata
 * say that and when it was linked; the same link again changes nothing. Throws `not_found` for an unknown object, and
 * `validation_error` without a connection and when the provider's id belongs to another object. spec: platform §14
 */
export async function linkMapping(tx: Transaction, input: NewMapping): Promise<IntegrationMapping> {
  await requireEntity(tx, input.entityType, input.entityId);
  await requireConnection(tx, input.providerType);
  await refuseTakenId(tx, input, 'provider_entity_id');
  const { entityType, entityId, providerType } = input;
  const row = await liveMapping(tx, { entityType, entityId, providerType });
  const given = Object.entries(input.metadata).filter(([key]) => !linkMembers.includes(key));
  const kept = Object.entries(row?.metadata ?? {}).filter(([key]) => !linkMembers.includes(key));
  const isLinked = row?.metadata.linked_via !== undefined && row.providerEntityId === input.providerEntityId;
  if (isLinked && JSON.stringify(given.sort()) === JSON.stringify(kept.sort())) return row;
  const metadata = { ...Object.fromEntries(given), linked_via: 'api', linked_at: new Date().toISOString() };
  return putMapping(tx, { ...input, metadata });
}

async function requireConnection(tx: Transaction, provider: string): Promise<void> {
  if ((await publishedConnectionId(tx, provider)) !== null) return;
  throw badField(
    'provider_type',
    `must name a provider that is connected; ${provider} is not: POST /connections first`,
  );
}

/**
 * Maps a customer to what it is called at providers; one that is mapped to a provider already gets the new id there. Throws
 * `validation_error` when a provider is named twice or an id there belongs to another customer. spec: platform §10.1, §14
 */
export async function mapCustomer(
  tx: Transaction,
  customerId: string,
  providerIds: readonly ProviderId[],
): Promise<void> {
  const seen = new Set<string>();
  for (const [index, providerId] of providerIds.entries()) {
    const field = `integration_entity_mapping[${index}]`;
    if (seen.has(providerId.providerType)) throw badField(field, `repeats ${providerId.providerType}; name it once`);
    seen.add(providerId.providerType);
    const mapping = { ...providerId, entityType: 'customer' as const, entityId: customerId };
    await refuseTakenId(tx, mapping, `${field}.provider_entity_id`);
    await putMapping(tx, mapping);
  }
}

/** The published mappings of customers by customer id, in one query. */
export async function mappingsOfCustomers(
  tx: Transaction,
  customerIds: readonly string[],
): Promise<Map<string, IntegrationMapping[]>> {
  if (customerIds.length === 0) return new Map();
  const where = { entityType: 'customer', entityId: { $in: [...customerIds] }, status: 'published' };
  const rows = await tx.em.find(
    IntegrationMapping,
    { ...where, environmentId: tx.scope.environmentId },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  return Map.groupBy(rows, (row) => row.entityId);
}

const mappingList: ListDefinition<IntegrationMapping> = {
  entity: IntegrationMapping,
  columns: { entity_type: 'string', entity_id: 'string', provider_type: 'string' },
};

/** One page of the mappings of an object. spec: platform §14 */
export function listMappings(
  tx: Transaction,
  query: ListQuery,
  entity: { entityType: MappedEntity; entityId: string },
): Promise<ListPage<IntegrationMapping>> {
  return listPage(tx, mappingList, query, { ...entity });
}

/** Archives a mapping; the object at the provider stays as it is. Throws `not_found` for an unknown or archived one. */
export async function deleteMapping(tx: Transaction, id: string): Promise<void> {
  const row = await liveMapping(tx, { id });
  if (!row) throw missing('integration mapping', id);
  await archive(tx, row);
}

/** Archives the mapping of an object to a provider. Throws `not_found` when there is none. spec: platform §14 */
export async function deleteLink(
  tx: Transaction,
  link: { entityType: MappedEntity; entityId: string; providerType: string },
): Promise<void> {
  const row = await liveMapping(tx, link);
  if (!row) throw missing(`${link.providerType} mapping of ${link.entityType}`, link.entityId, 'entity_id');
  await archive(tx, row);
}

/** Archives the mappings of a deleted customer, so that another may be mapped to its ids at providers. */
export async function unmapCustomer(tx: Transaction, customerId: string): Promise<void> {
  const mappings = await mappingsOfCustomers(tx, [customerId]);
  for (const row of mappings.get(customerId) ?? []) await archive(tx, row);
}

async function putMapping(tx: Transaction, mapping: NewMapping): Promise<IntegrationMapping> {
  const { entityType, entityId, providerType, providerEntityId } = mapping;
  const row = await liveMapping(tx, { entityType, entityId, providerType });
  if (!row) return insertMapping(tx, mapping);
  const same =
    row.providerEntityId === providerEntityId && JSON.stringify(row.metadata) === JSON.stringify(mapping.metadata);
  if (same) return row;
  row.providerEntityId = providerEntityId;
  row.metadata = mapping.metadata;
  touch(tx, row);
  await tx.em.flush();
  await audit(tx, row, 'updated');
  return row;
}

async function insertMapping(tx: Transaction, input: NewMapping): Promise<IntegrationMapping> {
  const { entityType, entityId, providerType } = input;
  const row = tx.em.create(IntegrationMapping, {
    ...newRecord(tx, 'eim'),
    entityType,
    entityId,
    providerType,
    providerEntityId: input.providerEntityId,
    metadata: input.metadata,
  });
  await flushUnique(tx, {
    integration_mapping_unique: () =>
      refuse(
        'already_exists',
        `${entityType} ${entityId} is mapped to ${providerType} already; delete that mapping first`,
        {
          fields: { provider_type: 'mapped already' },
        },
      ),
    integration_mapping_provider_unique: () => takenId(input, 'provider_entity_id'),
  });
  await audit(tx, row, 'created');
  return row;
}

async function refuseTakenId(tx: Transaction, mapping: NewMapping, field: string): Promise<void> {
  const { entityType, entityId, providerType, providerEntityId } = mapping;
  const other = await tx.em.findOne(IntegrationMapping, {
    environmentId: tx.scope.environmentId,
    status: 'published',
    entityType,
    providerType,
    providerEntityId,
    entityId: { $ne: entityId },
  });
  if (other) throw takenId(mapping, field);
}

function takenId({ entityType, providerType, providerEntityId }: NewMapping, field: string) {
  return badField(
    field,
    `${providerEntityId} of ${providerType} is mapped to another ${entityType}; delete that mapping first`,
  );
}

async function requireEntity(tx: Transaction, entityType: MappedEntity, id: string): Promise<void> {
  const found = await tx.rows(
    `select 1 from ${tableOf[entityType]} where environment_id = $1 and id = $2 and status = 'published'`,
    [tx.scope.environmentId, id],
  );
  if (found.length === 0) throw missing(entityType, id, 'entity_id');
}

async function liveMapping(
  tx: Transaction,
  where: Partial<Pick<IntegrationMapping, 'id' | 'entityType' | 'entityId' | 'providerType'>>,
): Promise<IntegrationMapping | null> {
  return tx.em.findOne(
    IntegrationMapping,
    { ...where, environmentId: tx.scope.environmentId, status: 'published' },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
}

async function archive(tx: Transaction, row: IntegrationMapping): Promise<void> {
  row.status = 'archived';
  touch(tx, row);
  await tx.em.flush();
  await audit(tx, row, 'deleted');
}

async function audit(
  tx: Transaction,
  row: IntegrationMapping,
  action: 'created' | 'updated' | 'deleted',
): Promise<void> {
  const { entityType, entityId, providerType } = row;
  const detail = { entity_type: entityType, entity_id: entityId, provider_type: providerType };
  await writeAudit(tx, tx.scope, [
    { objectType: 'integration_mapping', objectId: row.id, action, occurredAt: row.updatedAt, detail },
  ]);
}
