import { z } from 'zod';
import type { CurrencySummary, InvoiceSummary } from '../../billing/invoice/invoice-summary.ts';
import type { DecimalFormat } from '../decimal-format.ts';
import { formattedOutput } from '../scalars.schema.ts';

const currencySummary = z
  .object({
    customer_id: z.string(),
    currency: z.string(),
    total_invoice_count: z.int(),
    unpaid_invoice_count: z.int(),
    overdue_invoice_count: z.int(),
    total_revenue_amount: formattedOutput(),
    total_unpaid_amount: formattedOutput(),
    total_overdue_amount: formattedOutput(),
    unpaid_usage_charges: formattedOutput(),
    unpaid_fixed_charges: formattedOutput(),
  })
  .meta({ id: 'CustomerInvoiceSummary' });

/** A customer's totals per currency, amounts in the environment's format. spec: subscriptions-and-invoicing §2.15.14 */
export const invoiceSummary = z
  .object({ customer_id: z.string(), default_currency: z.string(), summaries: z.array(currencySummary) })
  .meta({ id: 'CustomerMultiCurrencyInvoiceSummary' });

export function viewInvoiceSummary(
  customerId: string,
  summary: InvoiceSummary,
  format: DecimalFormat,
): z.output<typeof invoiceSummary> {
  return {
    customer_id: customerId,
    default_currency: summary.defaultCurrency,
    summaries: summary.summaries.map((one) => viewCurrency(customerId, one, format)),
  };
}

function viewCurrency(
  customerId: string,
  summary: CurrencySummary,
  format: DecimalFormat,
): z.output<typeof currencySummary> {
  return {
    customer_id: customerId,
    currency: summary.currency,
    total_invoice_count: summary.totalInvoiceCount,
    unpaid_invoice_count: summary.unpaidInvoiceCount,
    overdue_invoice_count: summary.overdueInvoiceCount,
    total_revenue_amount: format(summary.totalRevenueAmount),
    total_unpaid_amount: format(summary.totalUnpaidAmount),
    total_overdue_amount: format(summary.totalOverdueAmount),
    unpaid_usage_charges: format(summary.unpaidUsageCharges),
    unpaid_fixed_charges: format(summary.unpaidFixedCharges),
  };
}
