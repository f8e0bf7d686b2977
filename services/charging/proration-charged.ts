import { decimalText } from '../../db/rows/columns.ts';
import type { Sql } from '../../db/transaction.ts';

/** What was billed of a line item's time from an instant on, and what was given back of it. */
export interface ChargedOfItem {
  billed: string;
  credited: string;
}

// The charge of a settlement is an invoice line where it was settled by an invoice; where it was netted away its record counts
// in full. Negative lines are credits, which the records tell.
const chargedText = `
with wanted as (select unnest($2::text[]) as id)
select w.id,
  coalesce((select sum(l.amount - l.line_item_discount - l.invoice_level_discount)
    from invoice_line_item l join invoice i on i.environment_id = l.environment_id and i.id = l.invoice_id
    where l.environment_id = $1 and l.subscription_line_item_id = w.id and l.status = 'published' and l.amount > 0
      and i.invoice_status in ('DRAFT', 'FINALIZED') and l.period_end > $3::timestamptz), 0)
  + coalesce((select sum(p.amount) from subscription_proration p
    where p.environment_id = $1 and p.subscription_line_item_id = w.id and p.side = 'charge' and p.invoice_id is null
      and p.settlement <> 'invoice' and p.period_end > $3::timestamptz), 0) as billed,
  coalesce((select sum(p.amount) from subscription_proration p
    left join invoice i on i.environment_id = p.environment_id and i.id = p.invoice_id
    where p.environment_id = $1 and p.subscription_line_item_id = w.id and p.side = 'credit' and p.period_end > $3::timestamptz
      and coalesce(i.invoice_status, '') <> 'VOIDED'), 0) as credited
from wanted w`;

/**
 * What live invoices and settlements billed of line items for time after `from`, less discounts, and what was credited of it.
 * Void and skipped invoices do not count. spec: subscriptions-and-invoicing §2.8.2
 */
export async function readCharged(
  sql: Sql,
  environmentId: string,
  lineItemIds: readonly string[],
  from: string,
): Promise<Map<string, ChargedOfItem>> {
  if (lineItemIds.length === 0) return new Map();
  const rows = await sql.rows<{ id: string; billed: string; credited: string }>(chargedText, [
    environmentId,
    [...lineItemIds],
    from,
  ]);
  return new Map(
    rows.map(({ id, billed, credited }) => [id, { billed: decimalText(billed), credited: decimalText(credited) }]),
  );
}

const roomText = `
select coalesce((select sum(l.amount - l.line_item_discount - l.invoice_level_discount)
    from subscription_line_item s join invoice_line_item l on l.environment_id = s.environment_id and l.subscription_line_item_id = s.id
      and l.status = 'published'
    join invoice i on i.environment_id = l.environment_id and i.id = l.invoice_id
    where s.environment_id = $1 and s.subscription_id = $2 and i.invoice_status in ('DRAFT', 'FINALIZED') and l.price_type = 'FIXED'
      and l.invoice_cadence = 'ADVANCE' and l.period_end > $3::timestamptz), 0)
  - coalesce((select sum(case when credits = 0 then 0 else (returned + charges) * credits_ahead / credits end - charges_ahead)
    from (
      select max(returned_amount) as returned,
        coalesce(sum(amount) filter (where side = 'credit'), 0) as credits,
        coalesce(sum(amount) filter (where side = 'credit' and period_end > $3::timestamptz), 0) as credits_ahead,
        coalesce(sum(amount) filter (where side = 'charge'), 0) as charges,
        coalesce(sum(amount) filter (where side = 'charge' and period_end > $3::timestamptz), 0) as charges_ahead
      from subscription_proration
      where environment_id = $1 and subscription_id = $2 and invoice_id is null and settlement <> 'invoice'
      group by change_key) settled), 0) as room`;

/**
 * What a subscription was charged in advance, credits of other changes taken off, for time that is not over at `from`, less what
 * went to the wallet of it: no change gives more back. Of a settlement without an invoice, what it charged counts until that time is
 * over and what it credited until the time of that is. spec: subscriptions-and-invoicing §2.8.3
 */
export async function readRoom(sql: Sql, environmentId: string, subscriptionId: string, from: string): Promise<string> {
  const [row] = await sql.rows<{ room: string }>(roomText, [environmentId, subscriptionId, from]);
  return decimalText(row?.room ?? '0');
}
