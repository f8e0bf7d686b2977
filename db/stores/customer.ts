import { refuse } from '../../billing/refusal.ts';
import { writeAudit } from '../audit.ts';
import { customerNow, realNow } from '../clock.ts';
import { Customer } from '../entities/customer.ts';
import { TestClock } from '../entities/test-clock.ts';
import { newId } from '../id.ts';
import { writeEvents } from '../outbox.ts';
import type { Transaction } from '../transaction.ts';
import { flushUnique } from '../unique.ts';

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
}

export interface NewCustomer extends CustomerFields {
  externalId: string;
  name: string;
  testClockId?: string | null | undefined;
}

/**
 * Creates a customer, on a test clock if one is named, and reports `customer.created`. Throws `not_found` for an unknown
 * test clock, `validation_error` for an unusable parent, `already_exists` when the external_id is taken. spec: platform §10
 */
export async function createCustomer(tx: Transaction, input: NewCustomer): Promise<Customer> {
  const { em, scope } = tx;
  if (input.testClockId) await requireTestClock(tx, input.testClockId);
  const now = realNow();
  const customer = em.create(Customer, {
    id: newId('cust'),
    tenantId: scope.tenantId,
    environmentId: scope.environmentId,
    status: 'published',
    createdAt: now,
    createdBy: scope.actor,
    updatedAt: now,
    updatedBy: scope.actor,
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
    testClockId: input.testClockId ?? null,
  });
  await flushCustomer(tx, customer);
  await report(tx, customer, 'created');
  return customer;
}

/** One customer of the environment, archived ones included. Throws `not_found`. spec: platform §10.2 */
export async function findCustomer(tx: Transaction, id: string): Promise<Customer> {
  const customer = await tx.em.findOne(Customer, { id, environmentId: tx.scope.environmentId });
  if (!customer) throw refuse('not_found', `There is no customer ${id}.`);
  return customer;
}

async function requireTestClock(tx: Transaction, id: string): Promise<void> {
  const clock = await tx.em.findOne(TestClock, { id, environmentId: tx.scope.environmentId, status: 'published' });
  if (!clock) throw refuse('not_found', `There is no test clock ${id}.`);
}

async function flushCustomer(tx: Transaction, customer: Customer): Promise<void> {
  await flushUnique(tx, {
    customer_external_id_unique: () =>
      refuse('already_exists', `external_id: a customer with ${customer.externalId} exists already`),
  });
}

/** The event, in the shape of its delivery, and the audit row of one change. spec: platform §17.2 */
async function report(tx: Transaction, customer: Customer, change: 'created' | 'updated' | 'deleted'): Promise<void> {
  const occurredAt = await customerNow(tx, customer.id);
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
export function eventForm(customer: Customer): Record<string, unknown> {
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
