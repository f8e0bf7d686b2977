import { decimalText } from '../../db/rows/columns.ts';
import type { Scope } from '../../db/scope.ts';
import type { Sql } from '../../db/transaction.ts';

/**
 * How often, at most, the price of a unit is charged for one unit of usage: several items on one meter each charge it, above a
 * commitment at the overage factor. By customer, of all live subscriptions it has or pays; null where an item's own commitment bounds
 * nothing. A customer without any has 1. design: money-in §1 The trigger
 */
export async function spendFactors(
  sql: Sql,
  scope: Scope,
  customerIds: readonly string[],
): Promise<Map<string, string | null>> {
  const rows = await sql.rows<{ id: string; factor: string; is_bounded: boolean }>(
    `with live as (
       select id, customer_id as customer, overage_factor from subscription
       where environment_id = $1 and customer_id = any($2) and status = 'published' and subscription_status in ('active', 'trialing')
       union
       select id, invoicing_customer_id, overage_factor from subscription
       where environment_id = $1 and invoicing_customer_id = any($2) and status = 'published' and subscription_status in ('active', 'trialing')),
     metered as (
       select live.customer, count(*) * max(greatest(live.overage_factor, 1)) as factor,
         bool_and(l.commitment_type is null and l.commitment_time_buckets is null) as is_bounded
       from live join subscription_line_item l on l.environment_id = $1 and l.subscription_id = live.id
         and l.status = 'published' and l.meter_id is not null
       group by live.customer, l.meter_id)
     select customer as id, max(factor) as factor, bool_and(is_bounded) as is_bounded from metered group by customer`,
    [scope.environmentId, [...customerIds]],
  );
  return new Map(rows.map((row) => [row.id, row.is_bounded ? decimalText(row.factor) : null]));
}
