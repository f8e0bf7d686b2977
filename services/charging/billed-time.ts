import type { BilledService } from '../../billing/line/charge-input.ts';
import { instantText } from '../../db/rows/columns.ts';
import type { Sql } from '../../db/transaction.ts';

/** Time of a line item that a live invoice charges. */
export interface BilledTime extends BilledService {
  subscriptionId: string;
  invoiceId: string;
}

interface BilledRow {
  subscription_id: string;
  invoice_id: string;
  subscription_line_item_id: string;
  period_start: string;
  period_end: string;
  intermediate: boolean;
}

// What a new charge may overlap: of an item with a longer cadence the period of its own that is open, of a one-time one everything. The
// lateral parts are asked a row: a planner that has not seen the tables yet would go through all invoices.
const billedText = `
with item as materialized (
  select t.id, t.subscription_id, case when 'ONETIME' in (t.billing_period, s.billing_period) then '-infinity'
    else least(s.current_period_start, $3::timestamptz) - interval '1 day' - t.billing_period_count * case t.billing_period
      when 'DAILY' then interval '1 day' when 'WEEKLY' then interval '7 days' when 'MONTHLY' then interval '1 month'
      when 'QUARTERLY' then interval '3 months' when 'HALF_YEARLY' then interval '6 months' else interval '1 year' end
    end as since
  from subscription s join subscription_line_item t on t.environment_id = s.environment_id and t.subscription_id = s.id
  where s.environment_id = $1 and s.id = any($2)
)
select t.subscription_id, l.invoice_id, l.subscription_line_item_id, l.period_start, l.period_end,
  i.billing_reason = 'AUTO_INVOICE_THRESHOLD' and i.subscription_id = t.subscription_id as intermediate
from item t
cross join lateral (
  select l.invoice_id, l.subscription_line_item_id, l.period_start, l.period_end from invoice_line_item l
  where l.environment_id = $1 and l.subscription_line_item_id = t.id and l.period_end >= t.since and l.period_start is not null
    and l.amount >= 0 offset 0) l
cross join lateral (
  select i.subscription_id, i.billing_reason from invoice i where i.environment_id = $1 and i.id = l.invoice_id
    and i.invoice_status in ('DRAFT', 'FINALIZED') and i.billing_reason <> 'SUBSCRIPTION_TRIAL_START' offset 0) i`;

/**
 * The time of subscriptions' line items that live invoices charge already, their own invoices or those they are invoiced with, as far
 * as a charge for the current period, or for one from `since` on, may overlap it: what it costs does not grow with their lives.
 * spec: subscriptions-and-invoicing §2.6.1
 */
export async function readBilledTime(
  sql: Sql,
  environmentId: string,
  subscriptionIds: readonly string[],
  since: string | null,
): Promise<BilledTime[]> {
  const rows = await sql.rows<BilledRow>(billedText, [environmentId, subscriptionIds, since], 'billed-time');
  return rows.map((row) => ({
    subscriptionId: row.subscription_id,
    invoiceId: row.invoice_id,
    subscriptionLineItemId: row.subscription_line_item_id,
    periodStart: instantText(row.period_start),
    periodEnd: instantText(row.period_end),
    intermediate: row.intermediate,
  }));
}
