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

/** Real time, for what belongs to no customer. */
export function realNow(): string {
  return new Date().toISOString();
}
