import { decimal, decimalString, sum, zero } from '../money/money.ts';

/** An invoice as a customer's totals see it; lines may be summed up by price type beforehand. */
export interface SummarizedInvoice {
  invoiceStatus: string;
  paymentStatus: string;
  currency: string;
  amountDue: string;
  amountRemaining: string;
  dueDate: string | null;
  lines: readonly { priceType: string | null; amount: string }[];
}

export interface InvoiceSummaryInput {
  /** The customer's present. */
  now: string;
  /** Currencies of the customer's live subscriptions, shown even without an invoice. */
  subscriptionCurrencies: readonly string[];
  /** Currency of the newest active subscription; null when there is none. */
  activeCurrency: string | null;
  /** Oldest first. */
  invoices: readonly SummarizedInvoice[];
}

export interface CurrencySummary {
  currency: string;
  totalInvoiceCount: number;
  unpaidInvoiceCount: number;
  overdueInvoiceCount: number;
  totalRevenueAmount: string;
  totalUnpaidAmount: string;
  totalOverdueAmount: string;
  unpaidUsageCharges: string;
  unpaidFixedCharges: string;
}

export interface InvoiceSummary {
  defaultCurrency: string;
  summaries: CurrencySummary[];
}

const countedStatuses = ['DRAFT', 'FINALIZED'];
const paidStatuses = ['SUCCEEDED', 'OVERPAID', 'REFUNDED', 'PARTIALLY_REFUNDED'];
const fallbackCurrency = 'usd';

/**
 * What a customer was invoiced, owes and is late with, per currency: the default currency first, the others by code. Drafts
 * and finalized invoices count. Amounts are exact sums. spec: subscriptions-and-invoicing §2.15.14
 */
export function summarizeInvoices(input: InvoiceSummaryInput): InvoiceSummary {
  const counted = input.invoices.filter((invoice) => countedStatuses.includes(invoice.invoiceStatus));
  const defaultCurrency = input.activeCurrency ?? counted[0]?.currency ?? fallbackCurrency;
  const currencies = new Set([...input.subscriptionCurrencies, ...counted.map((invoice) => invoice.currency)]);
  const rank = (currency: string) => `${currency === defaultCurrency ? 0 : 1}${currency}`;
  const ordered = [...currencies].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  return {
    defaultCurrency,
    summaries: ordered.map((currency) =>
      summarizeCurrency(
        currency,
        counted.filter((invoice) => invoice.currency === currency),
        input.now,
      ),
    ),
  };
}

function summarizeCurrency(currency: string, invoices: readonly SummarizedInvoice[], now: string): CurrencySummary {
  const unpaid = invoices.filter(isUnpaid);
  const overdue = unpaid.filter((invoice) => isOverdue(invoice, now));
  const lines = unpaid.flatMap((invoice) => invoice.lines);
  const isUsage = (line: { priceType: string | null }) => line.priceType === 'USAGE';
  return {
    currency,
    totalInvoiceCount: invoices.length,
    unpaidInvoiceCount: unpaid.length,
    overdueInvoiceCount: overdue.length,
    totalRevenueAmount: total(invoices.map((invoice) => invoice.amountDue)),
    totalUnpaidAmount: total(unpaid.map((invoice) => invoice.amountRemaining)),
    totalOverdueAmount: total(overdue.map((invoice) => invoice.amountRemaining)),
    unpaidUsageCharges: total(lines.filter(isUsage).map((line) => line.amount)),
    unpaidFixedCharges: total(lines.filter((line) => !isUsage(line)).map((line) => line.amount)),
  };
}

function isUnpaid(invoice: SummarizedInvoice): boolean {
  return !paidStatuses.includes(invoice.paymentStatus) && decimal(invoice.amountRemaining).greaterThan(zero);
}

function isOverdue(invoice: SummarizedInvoice, now: string): boolean {
  return invoice.invoiceStatus === 'FINALIZED' && invoice.dueDate !== null && invoice.dueDate < now;
}

function total(amounts: readonly string[]): string {
  return decimalString(sum(amounts.map((amount) => decimal(amount))));
}
