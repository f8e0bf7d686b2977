import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SummarizedInvoice, summarizeInvoices } from '../../../../billing/invoice/invoice-summary.ts';
import { decimal } from '../../../../billing/money/money.ts';

const now = '2026-06-10T00:00:00.000Z';
const invoice = (change: Partial<SummarizedInvoice> = {}): SummarizedInvoice => ({
  invoiceStatus: 'FINALIZED',
  paymentStatus: 'PENDING',
  currency: 'usd',
  amountDue: '10',
  amountRemaining: '10',
  dueDate: null,
  lines: [],
  ...change,
});
const summarize = (invoices: SummarizedInvoice[], activeCurrency: string | null = null, currencies: string[] = []) =>
  summarizeInvoices({ now, subscriptionCurrencies: currencies, activeCurrency, invoices });

describe('the default currency', () => {
  it('is that of the newest active subscription, else of the first invoice, else usd', () => {
    expect(summarize([invoice({ currency: 'eur' })], 'jpy').defaultCurrency).toBe('jpy');
    expect(summarize([invoice({ currency: 'eur' }), invoice()]).defaultCurrency).toBe('eur');
    expect(summarize([]).defaultCurrency).toBe('usd');
  });

  it('comes first, the others follow by code', () => {
    const invoices = ['usd', 'aud', 'eur'].map((currency) => invoice({ currency }));
    const { summaries } = summarize(invoices, 'eur', ['eur', 'chf']);
    expect(summaries.map((summary) => summary.currency)).toEqual(['eur', 'aud', 'chf', 'usd']);
  });
});

it('shows a subscription currency without invoices as zeros', () => {
  const [summary] = summarize([], 'eur', ['eur']).summaries;
  expect(summary).toMatchObject({ currency: 'eur', totalInvoiceCount: 0, totalRevenueAmount: '0' });
});

it('counts an invoice as overdue from the instant after its due date', () => {
  const overdue = (dueDate: string, change: Partial<SummarizedInvoice> = {}) =>
    summarize([invoice({ dueDate, ...change })]).summaries[0]?.overdueInvoiceCount;
  expect(overdue('2026-06-09T23:59:59.999Z')).toBe(1);
  expect(overdue(now)).toBe(0);
  expect(overdue('2026-06-01T00:00:00.000Z', { invoiceStatus: 'DRAFT' })).toBe(0);
  expect(overdue('2026-06-01T00:00:00.000Z', { paymentStatus: 'PARTIALLY_REFUNDED' })).toBe(0);
});

it('takes lines without a price type for fixed', () => {
  const lines = [
    { priceType: 'USAGE', amount: '1.10' },
    { priceType: null, amount: '2.20' },
    { priceType: 'FIXED', amount: '3.30' },
  ];
  const [summary] = summarize([invoice({ lines })]).summaries;
  expect(summary).toMatchObject({ unpaidUsageCharges: '1.1', unpaidFixedCharges: '5.5' });
});

it('never shows more overdue than unpaid, nor more unpaid than there is', () => {
  const statuses = ['DRAFT', 'FINALIZED', 'VOIDED', 'SKIPPED'];
  const payments = ['PENDING', 'FAILED', 'SUCCEEDED', 'OVERPAID', 'REFUNDED', 'PROCESSING'];
  const cents = fc.integer({ min: 0, max: 100_000 }).map((amount) => decimal(amount).dividedBy(100).toFixed());
  const arbitrary = fc.record({
    invoiceStatus: fc.constantFrom(...statuses),
    paymentStatus: fc.constantFrom(...payments),
    currency: fc.constantFrom('usd', 'eur'),
    amountDue: cents,
    amountRemaining: cents,
    dueDate: fc.constantFrom(null, '2026-06-01T00:00:00.000Z', '2026-07-01T00:00:00.000Z'),
    lines: fc.constant([]),
  });
  fc.assert(
    fc.property(fc.array(arbitrary, { maxLength: 30 }), (invoices) => {
      const { summaries } = summarize(invoices);
      const counted = summaries.reduce((all, summary) => all + summary.totalInvoiceCount, 0);
      expect(counted).toBe(invoices.filter((one) => ['DRAFT', 'FINALIZED'].includes(one.invoiceStatus)).length);
      for (const summary of summaries) {
        expect(summary.overdueInvoiceCount).toBeLessThanOrEqual(summary.unpaidInvoiceCount);
        expect(summary.unpaidInvoiceCount).toBeLessThanOrEqual(summary.totalInvoiceCount);
        expect(decimal(summary.totalOverdueAmount).lessThanOrEqualTo(summary.totalUnpaidAmount)).toBe(true);
      }
    }),
  );
});
