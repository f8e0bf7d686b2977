import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditDestination, creditDestinations } from '../../../../billing/invoice/carried-credit.ts';
import { computeInvoice } from '../../../../billing/invoice/invoice.ts';
import type { InvoiceInputLine } from '../../../../billing/invoice/invoice-input.ts';
import { decimal, moneyString } from '../../../../billing/money/money.ts';

const line = (id: string, amount: string): InvoiceInputLine => ({ id, amount, priceType: 'FIXED' });
const credit = (creditLeft: string): InvoiceInputLine => ({ ...line('credit', '0'), creditLeft });
const bill = (lines: InvoiceInputLine[], more: object = {}) =>
  computeInvoice({ currency: 'usd', lines, coupons: [], wallets: [], taxes: [], taxExempt: false, ...more });
const half = { id: 'half', lineId: null, lineIds: ['seat'], type: 'percentage' as const, percentageOff: '50' };

describe('creditDestination', () => {
  it.each([
    ['auto', 'quantity_change', false, 'next_invoice'],
    ['auto', 'quantity_change', true, 'wallet'],
    ['auto', 'downgrade', false, 'next_invoice'],
    ['auto', 'remove_item', true, 'wallet'],
    ['wallet', 'quantity_change', false, 'wallet'],
    ['next_invoice', 'lateral', true, 'next_invoice'],
  ] as const)('%s, %s, usage %s: %s', (setting, action, hasUsage, expected) => {
    expect(creditDestination(setting, { action, hasUsage })).toBe(expected);
  });

  it.each(creditDestinations)('of an end and a pause is the wallet with %s', (setting) => {
    for (const action of ['cancellation', 'pause'] as const) {
      expect(creditDestination(setting, { action, hasUsage: false })).toBe('wallet');
    }
  });
});

describe('a line of credit', () => {
  it('takes what there is, at most what the other lines come to after discounts', () => {
    expect(bill([line('seat', '90'), credit('45')])).toMatchObject({ subtotal: '45.00', total: '45.00' });
    expect(bill([line('seat', '30'), credit('45')])).toMatchObject({ subtotal: '0.00', total: '0.00' });
    const discounted = bill([line('seat', '90'), credit('60')], { coupons: [half] });
    expect(discounted).toMatchObject({ totalDiscount: '45.00', total: '0.00' });
    expect(discounted.lines[1]).toMatchObject({ amount: '-45.00', invoiceLevelDiscount: '0.00' });
  });

  it('lowers what tax is computed on', () => {
    const taxes = [{ id: 'vat', percentage: '20', taxBehavior: 'exclusive' as const }];
    expect(bill([line('seat', '90'), credit('40')], { taxes })).toMatchObject({ totalTax: '10.00', total: '60.00' });
  });

  it('never makes a total negative and loses nothing of the credit, whatever the lines are', () => {
    const cents = fc
      .integer({ min: -5_000, max: 20_000 })
      .map((amount) => moneyString(decimal(amount).dividedBy(100), 'usd'));
    fc.assert(
      fc.property(fc.array(cents, { maxLength: 5 }), fc.integer({ min: 0, max: 30_000 }), (amounts, left) => {
        const creditLeft = moneyString(decimal(left).dividedBy(100), 'usd');
        const lines = amounts.map((amount, index) => line(String(index), amount));
        const alone = bill(lines);
        const result = bill([...lines, credit(creditLeft)]);
        const used = decimal(result.lines.at(-1)!.amount).negated();
        expect(used.greaterThanOrEqualTo(0) && used.lessThanOrEqualTo(creditLeft)).toBe(true);
        expect(decimal(alone.total).minus(result.total).equals(used)).toBe(true);
        expect(decimal(result.total).isZero() || used.equals(creditLeft)).toBe(true);
      }),
    );
  });
});
