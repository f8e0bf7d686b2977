import type { IntermediateInvoice, IntermediatePart } from '../../billing/line/charge.ts';
import { remainderOf } from '../../billing/line/intermediate-invoice.ts';
import type { Derivation } from '../../billing/price/derivation.ts';
import { decimalText, instantText } from '../../db/rows/columns.ts';
import type { Sql } from '../../db/transaction.ts';

interface LineRow {
  subscription_id: string;
  period_start: string;
  period_end: string;
  subscription_line_item_id: string | null;
  quantity: string | null;
  amount: string | null;
  derivation: Derivation | null;
  [column: string]: unknown;
}

// Each invoice that ends where a billed period begins, and those before it without a gap. A voided one gave its amount up, so
// it counts too, but for one that was made anew.
const chainText = `
with recursive asked as (
  select * from unnest($2::text[], $3::timestamptz[]) as q(subscription_id, start)
), link as (
  select i.subscription_id, i.period_start, i.period_end from asked q join invoice i on i.environment_id = $1
    and i.subscription_id = q.subscription_id and i.period_end = q.start and i.billing_reason = 'AUTO_INVOICE_THRESHOLD'
  union
  select i.subscription_id, i.period_start, i.period_end from link join invoice i on i.environment_id = $1
    and i.subscription_id = link.subscription_id and i.period_end = link.period_start and i.billing_reason = 'AUTO_INVOICE_THRESHOLD'
), standing as (
  select distinct on (i.subscription_id, i.period_start, i.period_end) i.id, i.subscription_id, i.period_start, i.period_end
  from link join invoice i on i.environment_id = $1 and i.subscription_id = link.subscription_id
    and i.period_start = link.period_start and i.period_end = link.period_end and i.billing_reason = 'AUTO_INVOICE_THRESHOLD'
  order by i.subscription_id, i.period_start, i.period_end, i.invoice_status = 'VOIDED', i.id desc
)
select s.subscription_id, s.period_start, s.period_end, l.subscription_line_item_id, l.quantity, l.amount, l.derivation
from standing s left join invoice_line_item l on l.environment_id = $1 and l.invoice_id = s.id
  and l.price_type = 'USAGE' and l.status = 'published'`;

/**
 * The intermediate invoices that lie before the given instants without a gap, by subscription: what cut the billing periods
 * that begin there. spec: subscriptions-and-invoicing §2.14.1
 */
export async function readIntermediateInvoices(
  sql: Sql,
  environmentId: string,
  starts: readonly { subscriptionId: string; start: string }[],
): Promise<Map<string, IntermediateInvoice[]>> {
  if (starts.length === 0) return new Map();
  const rows = await sql.rows<LineRow>(
    chainText,
    [environmentId, starts.map(({ subscriptionId }) => subscriptionId), starts.map(({ start }) => start)],
    'intermediate-invoices',
  );
  const bySubscription = Map.groupBy(rows, (row) => row.subscription_id);
  return new Map([...bySubscription].map(([id, own]) => [id, invoicesOf(own)]));
}

function invoicesOf(rows: readonly LineRow[]): IntermediateInvoice[] {
  return [...Map.groupBy(rows, (row) => `${row.period_start} ${row.period_end}`).values()].map((own) => ({
    start: instantText(own[0]!.period_start),
    end: instantText(own[0]!.period_end),
    parts: own.flatMap(partsOf),
  }));
}

/** Without the factor of a commitment that goes on over later invoices. */
function baseOf({ commitment, amount }: Derivation['parts'][number]): string {
  return commitment && (commitment.kind !== 'line' || commitment.since) ? commitment.base : amount;
}

/** A line edited by hand says what was billed itself; its parts are told apart only where windows were folded into it. */
function partsOf(row: LineRow): IntermediatePart[] {
  const { subscription_line_item_id: id, derivation } = row;
  if (id === null || derivation === null) return [];
  const [only, ...others] = derivation.parts;
  return derivation.parts.map((part) => {
    const before = part.billedBefore?.quantity ?? '0';
    const own = part === only && others.length === 0;
    return {
      subscriptionLineItemId: id,
      start: part.periodStart,
      end: part.periodEnd,
      quantity: own ? decimalText(row.quantity ?? '0') : remainderOf(part.quantity, before),
      amount: own ? decimalText(row.amount ?? '0') : part.amount,
      base: baseOf(part),
    };
  });
}
