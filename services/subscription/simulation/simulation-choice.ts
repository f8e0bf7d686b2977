import { realNow } from '../../../db/clock.ts';
import { instantText } from '../../../db/rows/columns.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { findPlan } from '../../catalogue/plan/plan.ts';
import { readSubscriptions, type SubscriptionRow } from '../../charging/subscription-row.ts';

/** Whose subscriptions: of customers by either id, or of everybody; all of them, or those on a plan. */
export interface SimulationChoice {
  customerIds: readonly string[] | null;
  externalCustomerIds: readonly string[] | null;
  currentPlanId: string | null;
}

export interface SimulatedCustomer {
  id: string;
  externalId: string;
  name: string;
  /** The customer's present: of its test clock, or real. */
  now: string;
}

export interface ChosenSubscriptions {
  subscriptions: { row: SubscriptionRow; customer: SimulatedCustomer }[];
  leftOut: { customer: SimulatedCustomer; subscriptionId: null; reason: string }[];
}

const maxSubscriptions = 1_000;

/**
 * The subscriptions of a choice that were ever billed, with their customers, in the order of customer and subscription. Throws
 * `not_found` for a customer or plan that does not exist, `validation_error` for more than 1 000 subscriptions.
 */
export async function chosenSubscriptions(tx: Transaction, choice: SimulationChoice): Promise<ChosenSubscriptions> {
  if (choice.currentPlanId) await findPlan(tx, choice.currentPlanId);
  const customers = await namedCustomers(tx, choice);
  const named = customers === null ? null : [...customers.keys()];
  const ids = await tx.rows<{ id: string }>(
    `select id from subscription
     where environment_id = $1 and status = 'published' and subscription_status not in ('draft', 'trialing')
       and ($2::text[] is null or customer_id = any($2)) and ($3::text is null or plan_id = $3)
     order by customer_id, start_date, id limit $4`,
    [tx.scope.environmentId, named, choice.currentPlanId, maxSubscriptions + 1],
  );
  if (ids.length > maxSubscriptions) {
    const field = named ? 'customer_ids' : 'current_plan_id';
    throw badField(field, `has more than ${maxSubscriptions} subscriptions, the most at once; name fewer customers`);
  }
  const rows = await readSubscriptions(
    tx,
    tx.scope.environmentId,
    ids.map(({ id }) => id),
  );
  const owners =
    customers ??
    (await customersById(
      tx,
      [...rows.values()].map((row) => row.customerId),
    ));
  const subscriptions = ids.map(({ id }) => {
    const row = rows.get(id)!;
    return { row, customer: owners.get(row.customerId)! };
  });
  const holders = new Set(subscriptions.map(({ customer }) => customer.id));
  const without = [...(customers ?? new Map<string, SimulatedCustomer>()).values()].filter(
    ({ id }) => !holders.has(id),
  );
  const reason = choice.currentPlanId
    ? `has no subscription to plan ${choice.currentPlanId} that was ever billed`
    : 'has no subscription that was ever billed';
  return { subscriptions, leftOut: without.map((customer) => ({ customer, subscriptionId: null, reason })) };
}

/** The customers a choice names, by id; null when it names none. */
async function namedCustomers(
  tx: Transaction,
  { customerIds, externalCustomerIds }: SimulationChoice,
): Promise<Map<string, SimulatedCustomer> | null> {
  if (!customerIds && !externalCustomerIds) return null;
  const byId = await customersById(tx, customerIds ?? []);
  const unknown = customerIds?.find((id) => !byId.has(id));
  if (unknown !== undefined) throw missing('customer', unknown, 'customer_ids');
  const byExternalId = await customersBy(tx, 'external_id', externalCustomerIds ?? []);
  const held = new Set([...byExternalId.values()].map(({ externalId }) => externalId));
  const unheld = externalCustomerIds?.find((id) => !held.has(id));
  if (unheld !== undefined) throw missing('customer', unheld, 'external_customer_ids');
  return new Map([...byId, ...byExternalId]);
}

function customersById(tx: Transaction, ids: readonly string[]): Promise<Map<string, SimulatedCustomer>> {
  return customersBy(tx, 'id', ids);
}

/** By external id the published ones: an archived customer's id may be another's now. */
async function customersBy(
  tx: Transaction,
  column: 'id' | 'external_id',
  values: readonly string[],
): Promise<Map<string, SimulatedCustomer>> {
  if (values.length === 0) return new Map();
  const live = column === 'external_id' ? "and c.status = 'published'" : '';
  const rows = await tx.rows<{ id: string; external_id: string; name: string; frozen_time: string | null }>(
    `select c.id, c.external_id, c.name, clock.frozen_time from customer c left join test_clock clock on clock.id = c.test_clock_id
     where c.environment_id = $1 and c.${column} = any($2) ${live}`,
    [tx.scope.environmentId, [...new Set(values)]],
  );
  return new Map(
    rows.map(({ id, external_id: externalId, name, frozen_time: frozen }) => [
      id,
      { id, externalId, name, now: frozen ? instantText(frozen) : realNow() },
    ]),
  );
}
