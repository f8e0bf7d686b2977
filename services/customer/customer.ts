import { LockMode } from '@mikro-orm/core';
import { refuse } from '../../billing/refusal.ts';
import { customerNow, realNow } from '../../db/clock.ts';
import { Customer } from '../../db/entities/customer/customer.ts';
import { TestClock } from '../../db/entities/platform/test-clock.ts';
import { Subscription } from '../../db/entities/subscription/subscription.ts';
import { badField, missing, newRecord, touch } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';
import { flushUnique } from '../../db/unique.ts';
import { mapCustomer, type ProviderId, unmapCustomer } from '../integration/integration-mapping.ts';
import { writeAudit } from '../platform/audit.ts';
import type { CustomerEvent } from '../platform/event-catalogue/customer-events.ts';
import { writeEvents } from '../platform/outbox.ts';
import { refuseUnsettled } from './customer-archive.ts';
import { linkCustomerTaxes, replaceCustomerTaxes, type TaxOverride } from './tax-link.ts';

/** What a caller says about a customer; a key that is absent or null says nothing. spec: platform §10.1 */
export interface CustomerFields {
  externalId?: string | null | undefined;
  name?: string | null | undefined;
  email?: string | null | undefined;
  contact?: string | null | undefined;
  timezone?: string | null | undefined;
  addressLine1?: string | null | undefined;
  addressLine2?: string | null | undefined;
  addressCity?: string | null | undefined;
  addressState?: string | null | undefined;
  addressPostalCode?: string | null | undefined;
  addressCountry?: string | null | undefined;
  metadata?: Record<string, string> | null | undefined;
  taxTreatment?: string | null | undefined;
  parentCustomerId?: string | null | undefined;
  parentCustomerExternalId?: string | null | undefined;
  /** What the customer is called at providers; others it is mapped to stay. */
  providerIds?: readonly ProviderId[] | undefined;
  /** On creation undefined takes what the environment applies by itself; on update it leaves the links. */
  taxRateOverrides?: readonly TaxOverride[] | undefined;
}

export interface NewCustomer extends CustomerFields {
  externalId: string;
  name: string;
  testClockId?: string | null | undefined;
}

/**
 * Creates a customer, on a test clock if one is named, with its tax links, and reports `customer.created`. Throws `not_found`
 * for an unknown test clock or tax rate, `validation_error` for an unusable parent, `already_exists` when the external_id is taken. spec: platform §10
 */
export async function createCustomer(tx: Transaction, input: NewCustomer): Promise<Customer> {
  const clock = input.testClockId ? await findTestClock(tx, input.testClockId) : null;
  const now = clock?.frozenTime ?? realNow();
  const record = newRecord(tx, 'cust');
  const customer = tx.em.create(Customer, {
    ...record,
    externalId: input.externalId,
    name: input.name,
    email: input.email || null,
    contact: input.contact || null,
    timezone: input.timezone || 'UTC',
    addressLine1: input.addressLine1 || null,
    addressLine2: input.addressLine2 || null,
    addressCity: input.addressCity || null,
    addressState: input.addressState || null,
    addressPostalCode: input.addressPostalCode || null,
    addressCountry: input.addressCountry || null,
    metadata: input.metadata ?? {},
    taxTreatment: input.taxTreatment ?? 'taxable',
    parentCustomerId: (await parentFor(tx, input, record.id)) ?? null,
    testClockId: input.testClockId ?? null,
  });
  await flushCustomer(tx, customer);
  await linkCustomerTaxes(tx, tx.scope, { id: customer.id, now }, input.taxRateOverrides);
  await mapCustomer(tx, customer.id, input.providerIds ?? []);
  await report(tx, customer, 'created', now);
  return customer;
}

/**
 * Changes what the caller named: absent and null keep, an empty text clears an optional one, null clears the parent.
 * A changed external_id is kept in `metadata.old_external_ids`. Reports `customer.updated` unless nothing changed. Throws
 * `not_found` for an unknown or archived customer, else like `createCustomer`. spec: platform §10.2 Semantics
 */
export async function updateCustomer(tx: Transaction, id: string, fields: CustomerFields): Promise<Customer> {
  const customer = await liveCustomer(tx, id);
  const before = stateText(customer);
  applyNames(customer, fields);
  if (fields.name) customer.name = fields.name;
  if (fields.taxTreatment) customer.taxTreatment = fields.taxTreatment;
  if (typeof fields.timezone === 'string') customer.timezone = fields.timezone || 'UTC';
  for (const property of optionalTexts) {
    const text = fields[property];
    if (typeof text === 'string') customer[property] = text || null;
  }
  const parent = await parentFor(tx, fields, customer.id);
  if (parent !== undefined) customer.parentCustomerId = parent;
  const now = await customerNow(tx, id);
  if (fields.taxRateOverrides) {
    await replaceCustomerTaxes(tx, tx.scope, { id, now }, fields.taxRateOverrides);
  }
  await mapCustomer(tx, id, fields.providerIds ?? []);
  if (stateText(customer) === before) return customer;
  touch(tx, customer);
  await flushCustomer(tx, customer);
  await report(tx, customer, 'updated', now);
  return customer;
}

/** Metadata replaces the map, but the history of external ids is never lost by the request that adds to it. */
function applyNames(customer: Customer, { metadata, externalId }: CustomerFields): void {
  const history = metadata?.old_external_ids ?? customer.metadata.old_external_ids;
  if (metadata) customer.metadata = metadata;
  if (!externalId || externalId === customer.externalId) return;
  const oldExternalIds = history ? `${history},${customer.externalId}` : customer.externalId;
  customer.metadata = { ...customer.metadata, old_external_ids: oldExternalIds };
  customer.externalId = externalId;
}

/** Everything a caller can change, as one text to compare. */
function stateText(customer: Customer): string {
  return JSON.stringify([eventForm(customer), customer.contact, customer.taxTreatment, customer.parentCustomerId]);
}

const optionalTexts = [
  'email',
  'contact',
  'addressLine1',
  'addressLine2',
  'addressCity',
  'addressState',
  'addressPostalCode',
  'addressCountry',
] as const;

/**
 * Archives a customer, which frees its external_id, and reports `customer.deleted`. Throws `not_found` for an unknown or
 * archived one and `invalid_operation` while a subscription is not cancelled, a wallet is not closed, or a charge or refund is not
 * through. spec: platform §10.2; design: money-in-wallets finding 41
 */
export async function deleteCustomer(tx: Transaction, id: string): Promise<void> {
  const customer = await liveCustomer(tx, id);
  const live = await tx.em.count(Subscription, {
    environmentId: tx.scope.environmentId,
    customerId: id,
    subscriptionStatus: { $ne: 'cancelled' },
    status: 'published',
  });
  if (live > 0) {
    throw refuse(
      'invalid_operation',
      `customer ${id} has ${live} subscriptions that are not cancelled; cancel them first`,
    );
  }
  await refuseUnsettled(tx, id);
  customer.status = 'archived';
  touch(tx, customer);
  await tx.em.flush();
  await unmapCustomer(tx, id);
  await report(tx, customer, 'deleted', await customerNow(tx, id));
}

/** One customer of the environment, archived ones included. Throws `not_found`. spec: platform §10.2 */
export async function findCustomer(tx: Transaction, id: string, field = 'id'): Promise<Customer> {
  const customer = await tx.em.findOne(Customer, { id, environmentId: tx.scope.environmentId });
  if (!customer) throw missing('customer', id, field);
  return customer;
}

/** The published customer with this external id. Throws `not_found`. spec: platform §10.2 */
export async function findCustomerByExternalId(tx: Transaction, externalId: string): Promise<Customer> {
  const where = { externalId, environmentId: tx.scope.environmentId, status: 'published' };
  const customer = await tx.em.findOne(Customer, where);
  if (!customer) throw missing('customer', externalId, 'external_id');
  return customer;
}

/** The id of the customer that a query names by id, by external id, or by both when they agree. spec: platform §10.2 PUT */
export async function customerIdOf(
  tx: Transaction,
  names: { id?: string | undefined; externalId?: string | undefined },
): Promise<string> {
  if (!names.id && !names.externalId) throw badField('id', 'or external_customer_id is required');
  if (!names.externalId) return names.id ?? '';
  const customer = await findCustomerByExternalId(tx, names.externalId);
  if (names.id && names.id !== customer.id) throw badField('id', 'and external_customer_id name different customers');
  return customer.id;
}

/** The parents of some customers by id, in one query. */
export async function parentsOf(tx: Transaction, customers: readonly Customer[]): Promise<Map<string, Customer>> {
  const ids = customers.flatMap(({ parentCustomerId }) => parentCustomerId ?? []);
  if (ids.length === 0) return new Map();
  const parents = await tx.em.find(Customer, { id: { $in: ids }, environmentId: tx.scope.environmentId });
  return new Map(parents.map((parent) => [parent.id, parent]));
}

/** The published customer, locked: what is decided about it stays true until the transaction ends. */
async function liveCustomer(tx: Transaction, id: string): Promise<Customer> {
  const where = { id, environmentId: tx.scope.environmentId, status: 'published' };
  const customer = await tx.em.findOne(Customer, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!customer) throw missing('customer', id);
  return customer;
}

/**
 * The parent the caller wants: an id, null to have none, undefined to leave it. A parent is published, another customer,
 * and has no parent itself; a customer with children gets none. spec: platform §10.1
 */
async function parentFor(tx: Transaction, fields: CustomerFields, childId: string): Promise<string | null | undefined> {
  const { parentCustomerId, parentCustomerExternalId } = fields;
  if (!parentCustomerId && !parentCustomerExternalId) return parentCustomerId === null ? null : undefined;
  const field = parentCustomerId ? 'parent_customer_id' : 'parent_customer_external_id';
  const parent = await tx.em.findOne(Customer, {
    environmentId: tx.scope.environmentId,
    status: 'published',
    ...(parentCustomerId ? { id: parentCustomerId } : {}),
    ...(parentCustomerExternalId ? { externalId: parentCustomerExternalId } : {}),
  });
  if (!parent) throw badField(field, 'must name one published customer');
  if (parent.id === childId) throw badField(field, 'must not be the customer itself');
  if (parent.parentCustomerId) throw badField(field, 'must not have a parent itself');
  const children = { parentCustomerId: childId, environmentId: tx.scope.environmentId, status: 'published' };
  if ((await tx.em.count(Customer, children)) > 0) throw badField(field, 'cannot be set: the customer has children');
  return parent.id;
}

async function findTestClock(tx: Transaction, id: string): Promise<TestClock> {
  const clock = await tx.em.findOne(TestClock, { id, environmentId: tx.scope.environmentId, status: 'published' });
  if (!clock) throw missing('test clock', id, 'test_clock_id');
  return clock;
}

async function flushCustomer(tx: Transaction, customer: Customer): Promise<void> {
  await flushUnique(tx, { customer_external_id_unique: () => takenExternalId(tx, customer.externalId) });
}

/** Names the customer that has it, so that a caller who asks twice goes on with that one. */
async function takenExternalId(tx: Transaction, externalId: string): Promise<Error> {
  const [holder] = await tx.rows<{ id: string }>(
    `select id from customer where environment_id = $1 and external_id = $2 and status = 'published'`,
    [tx.scope.environmentId, externalId],
  );
  const named = holder ? `customer ${holder.id}` : 'another customer';
  return refuse('already_exists', `external_id ${externalId} is taken by ${named}`, {
    fields: { external_id: 'taken' },
    ...(holder ? { customer_id: holder.id } : {}),
  });
}

/** The event, in the shape of its delivery, and the audit row of one change. spec: platform §17.2 */
async function report(
  tx: Transaction,
  customer: Customer,
  change: 'created' | 'updated' | 'deleted',
  occurredAt: string,
): Promise<void> {
  await writeEvents(tx, tx.scope, [
    {
      name: `customer.${change}`,
      entityType: 'customer',
      entityId: customer.id,
      payload: { customer: eventForm(customer) },
      occurredAt,
    },
  ]);
  await writeAudit(tx, tx.scope, [{ objectType: 'customer', objectId: customer.id, action: change, occurredAt }]);
}

/** A customer as outbound events carry it. spec: platform §17.2 */
export function eventForm(customer: Customer): CustomerEvent['payload']['customer'] {
  return {
    id: customer.id,
    external_id: customer.externalId,
    environment_id: customer.environmentId,
    name: customer.name,
    email: customer.email ?? null,
    address_line1: customer.addressLine1 ?? null,
    address_line2: customer.addressLine2 ?? null,
    address_city: customer.addressCity ?? null,
    address_state: customer.addressState ?? null,
    address_postal_code: customer.addressPostalCode ?? null,
    address_country: customer.addressCountry ?? null,
    timezone: customer.timezone,
    metadata: customer.metadata,
  };
}
