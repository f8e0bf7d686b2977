import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';
import type { ToldCustomer } from './event-catalogue/customer-events.ts';
import type { OutboundEvent } from './event-catalogue/event-catalogue.ts';

/** The bodies of events as they are stored, in their order: every subscription in them shows its customer as it is now. spec: platform §17.2 */
export async function eventBodies(sql: Sql, scope: Scope, events: readonly OutboundEvent[]): Promise<string[]> {
  const ids = new Set(
    events.flatMap(({ payload }) => ('subscription' in payload ? payload.subscription.customer_id : [])),
  );
  const customers = ids.size > 0 ? await toldCustomers(sql, scope, [...ids]) : new Map<string, ToldCustomer>();
  const withCustomer = (key: string, value: unknown) =>
    key === 'subscription' && isOfCustomer(value)
      ? { ...value, customer: customers.get(value.customer_id) ?? null }
      : value;
  return events.map(({ name, payload }) =>
    JSON.stringify({ event_type: name, ...payload }, 'subscription' in payload ? withCustomer : undefined),
  );
}

const isOfCustomer = (value: unknown): value is { customer_id: string } =>
  typeof value === 'object' && value !== null && 'customer_id' in value;

async function toldCustomers(sql: Sql, scope: Scope, ids: readonly string[]): Promise<Map<string, ToldCustomer>> {
  const rows = await sql.rows<ToldCustomer>(
    toldCustomersText,
    [scope.environmentId, JSON.stringify(ids)],
    'told-customers',
  );
  return new Map(rows.map((row) => [row.id, row]));
}

// The ids come as one value and not as an array, whose length PostgreSQL would plan for anew each time.
const toldCustomersText = `
select c.id, c.external_id, c.environment_id, c.name, c.email, c.address_line1, c.address_line2, c.address_city, c.address_state,
  c.address_postal_code, c.address_country, c.timezone, c.metadata
from jsonb_array_elements_text($2::jsonb) as asked(id) join customer c on c.id = asked.id and c.environment_id = $1`;
