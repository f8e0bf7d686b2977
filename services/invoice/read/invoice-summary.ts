import { type InvoiceSummary, summarizeInvoices } from '../../../billing/invoice/invoice-summary.ts';
import { customerNow } from '../../../db/clock.ts';
import { decimalText, instantText } from '../../../db/rows/columns.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';

interface SummaryRow {
  invoice_status: string;
  payment_status: string;
  currency: string;
  amount_due: string;
  amount_remaining: string;
  due_date: string | null;
  usage_amount: string | null;
  fixed_amount: string | null;
  [column: string]: unknown;
}

// Lines are summed by kind and only where something remains: paid invoices show no charges.
const invoicesText = `
select i.invoice_status, i.payment_status, i.currency, i.amount_due, i.amount_remaining, i.due_date, l.usage_amount, l.fixed_amount
from invoice i
left join lateral (
  select sum(amount) filter (where price_type = 'USAGE') as usage_amount,
    sum(amount) filter (where price_type is distinct from 'USAGE') as fixed_amount
  from invoice_line_item where environment_id = i.environment_id and invoice_id = i.id and status = 'published'
) l on i.amount_remaining > 0
where i.environment_id = $1 and (i.customer_id = $2 or i.subscription_customer_id = $2)
  and i.status = 'published' and i.invoice_status in ('DRAFT', 'FINALIZED')
order by i.created_at, i.id`;

/** A customer's invoices in totals per currency. Throws `not_found`. spec: subscriptions-and-invoicing §2.15.14 */
export async function customerInvoiceSummary(tx: Transaction, customerId: string): Promise<InvoiceSummary> {
  const { environmentId } = tx.scope;
  const [customer] = await tx.rows('select 1 from customer where environment_id = $1 and id = $2', [
    environmentId,
    customerId,
  ]);
  if (!customer) throw missing('customer', customerId);
  const subscriptions = await tx.rows<{ currency: string; subscription_status: string }>(
    `select currency, subscription_status from subscription
     where environment_id = $1 and (customer_id = $2 or invoicing_customer_id = $2) and status = 'published'
       and subscription_status <> 'cancelled' order by created_at desc, id desc`,
    [environmentId, customerId],
  );
  const rows = await tx.rows<SummaryRow>(invoicesText, [environmentId, customerId]);
  return summarizeInvoices({
    now: await customerNow(tx, customerId),
    subscriptionCurrencies: subscriptions.map((subscription) => subscription.currency),
    activeCurrency: subscriptions.find((row) => row.subscription_status === 'active')?.currency ?? null,
    invoices: rows.map((row) => ({
      invoiceStatus: row.invoice_status,
      paymentStatus: row.payment_status,
      currency: row.currency,
      amountDue: decimalText(row.amount_due),
      amountRemaining: decimalText(row.amount_remaining),
      dueDate: row.due_date ? instantText(row.due_date) : null,
      lines: [
        { priceType: 'USAGE', amount: decimalText(row.usage_amount ?? '0') },
        { priceType: 'FIXED', amount: decimalText(row.fixed_amount ?? '0') },
      ],
    })),
  });
}
