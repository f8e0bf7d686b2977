import { z } from 'zod';
import type { CurrencySummary, InvoiceSummary } from '../../billing/invoice-summary.ts';
import { jsonNumber } from '../decimal.ts';
import { numberOutput } from './scalars.ts';

const currencySummary = z
  .object({
    customer_id: z.string(),
    currency: z.string(),
    total_invoice_count: z.int(),
    unpaid_invoice_count: z.int(),
    overdue_invoice_count: z.int(),
    total_revenue_amount: numberOutput(),
    total_unpaid_amount: numberOutput(),
    total_overdue_amount: numberOutput(),
    unpaid_usage_charges: numberOutput(),
    unpaid_fixed_charges: numberOutput(),
  })
  .meta({ id: 'CustomerInvoiceSummary' });

/** A customer's totals per currency, amounts as JSON numbers. spec: subscriptions-and-invoicing §2.15.14 */
export const invoiceSummary = z
  .object({ customer_id: z.string(), default_currency: z.string(), summaries: z.array(currencySummary) })
  .meta({ id: 'CustomerMultiCurrencyInvoiceSummary' });

export function viewInvoiceSummary(customerId: string, summary: InvoiceSummary): z.output<typeof invoiceSummary> {
  return {
    customer_id: customerId,
    default_currency: summary.defaultCurrency,
    summaries: summary.summaries.map((one) => viewCurrency(customerId, one)),
  };
}

function viewCurrency(customerId: string, summary: CurrencySummary): z.output<typeof currencySummary> {
  return {
    customer_id: customerId,
    currency: summary.currency,
    total_invoice_count: summary.totalInvoiceCount,
    unpaid_invoice_count: summary.unpaidInvoiceCount,
    overdue_invoice_count: summary.overdueInvoiceCount,
    total_revenue_amount: jsonNumber(summary.totalRevenueAmount),
    total_unpaid_amount: jsonNumber(summary.totalUnpaidAmount),
    total_overdue_amount: jsonNumber(summary.totalOverdueAmount),
    unpaid_usage_charges: jsonNumber(summary.unpaidUsageCharges),
    unpaid_fixed_charges: jsonNumber(summary.unpaidFixedCharges),
  };
}
