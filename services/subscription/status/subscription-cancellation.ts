import { decimal, decimalString, sum } from '../../../billing/money/money.ts';
import { Invoice } from '../../../db/entities/invoice/invoice.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { type InvoiceContent, withContent } from '../../invoice/read/invoice-read.ts';

/** What an item gave back when its subscription ended. */
export interface CancellationCredit {
  lineItemId: string;
  priceId: string;
  planName: string;
  displayName: string;
  /** What the rest of its time would come to without the cap. */
  originalAmount: string;
  creditAmount: string;
  start: string;
  end: string;
  /** Begun days of the unused time. */
  days: number;
}

const dayMs = 86_400_000;

/** What the end of a subscription gave back and billed. spec: subscriptions-and-invoicing §1.6, §2.12 */
export async function readCancellation(
  tx: Transaction,
  subscriptionId: string,
): Promise<{ details: CancellationCredit[]; returned: string; invoice: InvoiceContent | null }> {
  const rows = await tx.rows<CreditRow>(
    `select s.id as subscription_line_item_id, s.price_id, s.plan_display_name, s.display_name, sum(p.uncapped_amount) as uncapped_amount,
       sum(p.amount) as amount, min(p.period_start) as period_start, max(p.period_end) as period_end
     from subscription_proration p join subscription_line_item s on s.id = p.subscription_line_item_id
     where p.environment_id = $1 and p.subscription_id = $2 and p.action = 'cancellation' and p.side = 'credit'
     group by s.id order by s.start_date, s.id`,
    [tx.scope.environmentId, subscriptionId],
  );
  const details = rows.map(creditOf);
  const row = await tx.em.findOne(Invoice, {
    environmentId: tx.scope.environmentId,
    subscriptionId,
    billingReason: 'PRORATION',
    invoiceStatus: { $ne: 'VOIDED' },
  });
  const [invoice] = await withContent(tx, row ? [row] : [], { lines: true, customer: false });
  const returned = decimalString(sum(details.map(({ creditAmount }) => decimal(creditAmount))));
  return { details, returned, invoice: invoice ?? null };
}

interface CreditRow {
  subscription_line_item_id: string;
  price_id: string;
  plan_display_name: string;
  display_name: string;
  uncapped_amount: string;
  amount: string;
  period_start: string;
  period_end: string;
  [column: string]: unknown;
}

function creditOf(row: CreditRow): CancellationCredit {
  const [start, end] = [instantText(row.period_start), instantText(row.period_end)];
  return {
    lineItemId: row.subscription_line_item_id,
    priceId: row.price_id,
    planName: row.plan_display_name,
    displayName: row.display_name,
    originalAmount: decimalText(row.uncapped_amount),
    creditAmount: decimalText(row.amount),
    start,
    end,
    days: Math.ceil((Date.parse(end) - Date.parse(start)) / dayMs),
  };
}
