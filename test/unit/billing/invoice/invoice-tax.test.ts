import { describe, expect, it } from 'vitest';
import { computeInvoice } from '../../../../billing/invoice/invoice.ts';
import type { InvoiceInput } from '../../../../billing/invoice/invoice-input.ts';
import { defaultTaxBehavior } from '../../../../billing/invoice/tax.ts';

const empty: InvoiceInput = { currency: 'usd', lines: [], coupons: [], wallets: [], taxes: [], taxExempt: false };
const fixed = (id: string, amount: string) => ({ id, amount, priceType: 'FIXED' as const });
const exclusive = (id: string, percentage: string) => ({ id, percentage, taxBehavior: 'exclusive' as const });
const inclusive = (id: string, percentage: string) => ({ id, percentage, taxBehavior: 'inclusive' as const });

describe('taxes (subscriptions-and-invoicing §2.18.3, §2.18.4)', () => {
  it('computes exclusive rates apart, without compounding', () => {
    const result = computeInvoice({
      ...empty,
      lines: [fixed('a', '33.33')],
      taxes: [exclusive('A', '6.5'), exclusive('B', '2.25')],
    });
    expect([result.taxes.map((row) => row.taxAmount), result.total]).toEqual([['2.17', '0.75'], '36.25']);
  });

  it('extracts inclusive tax once; the last rate takes the remainder', () => {
    const result = computeInvoice({
      ...empty,
      currency: 'eur',
      lines: [fixed('a', '1000')],
      taxes: [inclusive('A', '9'), inclusive('B', '5')],
    });
    expect([result.taxes.map((row) => row.taxAmount), result.total, result.totalTax]).toEqual([
      ['78.95', '43.86'],
      '1000.00',
      '122.81',
    ]);
  });

  it('taxes the base without inclusive tax', () => {
    const result = computeInvoice({
      ...empty,
      currency: 'eur',
      lines: [fixed('a', '240')],
      taxes: [inclusive('A', '20'), exclusive('B', '3')],
    });
    expect([result.taxes.map((row) => [row.taxableAmount, row.taxAmount]), result.total]).toEqual([
      [
        ['200.00', '40.00'],
        ['200.00', '6.00'],
      ],
      '246.00',
    ]);
  });

  it('keeps a row for a rate of 0 and none for an exempt customer', () => {
    const lines = [fixed('a', '10')];
    expect(computeInvoice({ ...empty, lines, taxes: [inclusive('Z', '0')] }).taxes).toHaveLength(1);
    expect(computeInvoice({ ...empty, lines, taxes: [exclusive('T', '10')], taxExempt: true })).toMatchObject({
      taxes: [],
      total: '10.00',
      noTaxReason: 'customer_exempt',
    });
  });

  it.each([
    ['association', 'eur', 'exclusive'],
    ['one_off', 'eur', 'exclusive'],
    ['subscription_override', 'eur', 'inclusive'],
    ['subscription_override', 'USD', 'exclusive'],
    ['subscription_override', 'cad', 'exclusive'],
  ] as ['association' | 'one_off' | 'subscription_override', string, string][])(
    'default of %s in %s is %s',
    (level, currency, behavior) => {
      expect(defaultTaxBehavior(level, currency)).toBe(behavior);
      expect(defaultTaxBehavior(level, currency, 'inclusive')).toBe('inclusive');
    },
  );
});
