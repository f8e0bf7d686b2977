import { expect, test } from 'vitest';
import { explainTotals, type StoredInvoice } from '../../../../billing/explanation/invoice-total-explanation.ts';

/** 100 of usage, of which credits pay 80, 60 of them taxed when they were bought. */
const stored: StoredInvoice = {
  ...{
    currency: 'usd',
    subtotal: '100',
    totalDiscount: '0',
    totalPrepaidCreditsApplied: '80',
    taxedCreditsApplied: '60',
  },
  ...{
    totalTax: '7.6',
    total: '27.6',
    adjustmentAmount: '0',
    amountDue: '27.6',
    amountPaid: '0',
    amountRemaining: '27.6',
  },
  ...{ overpaidAmount: '0', refundedAmount: '0', noTaxReason: null, lineCount: 1 },
  taxes: [{ name: 'VAT', percentage: '19', taxableAmount: '40', taxAmount: '7.6', taxBehavior: 'exclusive' }],
};

test('credits that were taxed when they were bought are told, and what they leave to tax', () => {
  const steps = explainTotals(stored).slice(2, 6);
  expect(steps.map(({ step, sentence }) => `${step}: ${sentence}`)).toEqual([
    'total_prepaid_credits_applied: Prepaid credits pay 80.00 usd.',
    'taxed_credits_applied: Of them 60.00 usd are credits that were taxed when they were bought; what they pay is not taxed again.',
    'total_tax: Taxes on what remains after coupons and credits that were taxed when they were bought are 7.60 usd: VAT, 19 % of 40.00 usd, is 7.60 usd (added).',
    'total: The total is 100.00 − 80.00 + 7.60 = 27.60 usd.',
  ]);
});

test('an invoice that they leave nothing of says so', () => {
  const whole = { ...stored, taxedCreditsApplied: '100', taxes: [], noTaxReason: 'zero_taxable_amount' as const };
  expect(explainTotals(whole)[4]?.sentence).toBe(
    'No tax: nothing remains after coupons and credits that were taxed when they were bought.',
  );
});
