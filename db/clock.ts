import { instantText } from './rows/columns.ts';
import type { Sql } from './transaction.ts';

/**
 * The customer's "now": the frozen time of its test clock, or real time. Every "now" of a billing decision comes from here
 * or from a workflow. spec: README decision 3; design: architecture §4
 */
export async function customerNow(sql: Sql, customerId: string): Promise<string> {
  const [row] = await sql.rows<{ frozen_time: string | null }>(
    'select clock.frozen_time from customer left join test_clock clock on clock.id = customer.test_clock_id where customer.id = $1',
    [customerId],
    'customer-now',
  );
  return row?.frozen_time ? instantText(row.frozen_time) : realNow();
}

/** Presents of customers by id, those without a test clock all at one instant. */
export async function customersNow(sql: Sql, customerIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await sql.rows<{ id: string; frozen_time: string | null }>(
    `select customer.id, clock.frozen_time from customer left join test_clock clock on clock.id = customer.test_clock_id
     where customer.id = any($1)`,
    [[...new Set(customerIds)]],
  );
  const real = realNow();
  return new Map(rows.map((row) => [row.id, row.frozen_time ? instantText(row.frozen_time) : real]));
}

/** Real time, for what belongs to no customer. */
export function realNow(): string {
  return new Date().toISOString();
}
