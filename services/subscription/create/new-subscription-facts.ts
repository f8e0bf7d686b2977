import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { Sql } from '../../../db/transaction.ts';
import { chargeableMethod } from '../../collection/payment.ts';

/**
 * The zone of a new subscription: the customer's wins, the request's is used when the customer has none. A customer without a
 * zone is stored with UTC, so UTC counts as none. spec: subscriptions-and-invoicing §1.2 timezone
 */
export function timezoneOf(customer: CustomerFacts, requested: string | null): string {
  return customer.timezone !== 'UTC' ? customer.timezone : (requested ?? 'UTC');
}

/** What a subscription takes from its customer. */
export interface CustomerFacts {
  id: string;
  timezone: string;
  testClockId: string | null;
}

/** The customer of a new subscription, locked. Throws `not_found`, `validation_error` for one that is archived. */
export async function readCustomer(sql: Sql, scope: Scope, customerId: string): Promise<CustomerFacts> {
  const [row] = await sql.rows<{ id: string; status: string; timezone: string; test_clock_id: string | null }>(
    'select id, status, timezone, test_clock_id from customer where environment_id = $1 and id = $2 for share',
    [scope.environmentId, customerId],
    'new-subscription-customer',
  );
  if (!row) throw missing('customer', customerId, 'customer_id');
  if (row.status !== 'published')
    throw badField('customer_id', `names customer ${customerId}, which is ${row.status}; create or choose another`);
  return { id: row.id, timezone: row.timezone, testClockId: row.test_clock_id };
}

/** Who is invoiced: the customer of the external id, or the subscriber. spec: subscriptions-and-invoicing §2.13 */
export async function readPayer(
  sql: Sql,
  scope: Scope,
  customerId: string,
  externalId: string | null,
): Promise<string> {
  if (externalId === null) return customerId;
  const [payer] = await sql.rows<{ id: string }>(
    "select id from customer where environment_id = $1 and external_id = $2 and status = 'published' for share",
    [scope.environmentId, externalId],
  );
  if (!payer) throw missing('customer', externalId, 'inheritance.invoicing_customer_external_id');
  return payer.id;
}

/** The plan of a new subscription. Throws `not_found`, `validation_error` for one that is archived. */
export async function readPlan(sql: Sql, scope: Scope, planId: string): Promise<{ name: string }> {
  const [row] = await sql.rows<{ name: string; status: string }>(
    'select name, status from plan where environment_id = $1 and id = $2 for share',
    [scope.environmentId, planId],
    'new-subscription-plan',
  );
  if (!row) throw missing('plan', planId, 'plan_id');
  if (row.status !== 'published')
    throw badField('plan_id', `names plan ${planId}, which is ${row.status}; choose a published plan`);
  return row;
}

/** A method that is not the customer's could never be charged, so naming one is refused at once. spec: §1.2 gateway_payment_method_id */
export async function checkPaymentMethod(sql: Sql, scope: Scope, customerId: string, id: string | null): Promise<void> {
  if (id === null) return;
  const method = await chargeableMethod({ ...sql, scope }, customerId, id);
  if (!method) throw missing('payment method', id, 'gateway_payment_method_id');
}
