import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeInvoice } from '../../../../billing/invoice/invoice.ts';
import type { InvoiceInput } from '../../../../billing/invoice/invoice-input.ts';
import { type PayingLots, payingLots, taxedPart } from '../../../../billing/invoice/taxed-credit.ts';
import { decimal, decimalString, roundToCurrency, sum } from '../../../../billing/money/money.ts';
import type { CreditLot } from '../../../../billing/wallet/credit-lot.ts';

const lot = (credits: string, isTaxed: boolean) => ({ credits, isTaxed });
const wallet = (conversionRate: string, ...lots: PayingLots['lots']): PayingLots => ({ conversionRate, lots });
const partOf = (used: string, paying: PayingLots | undefined, currency = 'usd') =>
  decimalString(taxedPart(decimal(used), paying, currency));

describe('the part of what a wallet pays that was taxed when it was bought', () => {
  it('is nothing without taxed lots, and all where no other lot is reached', () => {
    expect(partOf('10', undefined)).toBe('0');
    expect(partOf('10', wallet('1', lot('10', true), lot('5', false)))).toBe('10');
    expect(partOf('10', wallet('1', lot('10', false), lot('5', true)))).toBe('0');
  });

  it('follows the order in which lots are used', () => {
    const lots = [lot('4', true), lot('3', false), lot('8', true)];
    expect(partOf('5', wallet('1', ...lots))).toBe('4');
    expect(partOf('12', wallet('1', ...lots))).toBe('9');
  });

  it('leaves no part of the smallest amount untaxed, in any currency and at any rate', () => {
    expect(partOf('10', wallet('1', lot('3.337', true), lot('9', false)))).toBe('3.33');
    expect(partOf('10', wallet('1', lot('3.337', true), lot('9', false)), 'jpy')).toBe('3');
    expect(partOf('10', wallet('1', lot('3.337', true), lot('9', false)), 'kwd')).toBe('3.337');
    expect(partOf('2', wallet('0.5', lot('1.5', true), lot('9', false)))).toBe('0.75');
  });

  it('counts for nothing what comes from rounding the amount to credits', () => {
    // 1 at a rate of 3 is 0.333333333 credits, which are worth less than 1.
    expect(partOf('1', wallet('3', lot('5', true)))).toBe('1');
    expect(partOf('2', wallet('3', lot('0.333333333', true), lot('5', false)))).toBe('1');
    expect(partOf('2', wallet('3', lot('0.333333334', false), lot('5', true)))).toBe('1');
  });

  it('is never more than the taxed lots are worth, nor than what is paid', () => {
    const credits = fc.integer({ min: 1, max: 9_999_999 }).map((value) => (value / 1000).toFixed(3));
    const lots = fc.array(fc.record({ credits, isTaxed: fc.boolean() }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        lots,
        fc.constantFrom('1', '0.5', '0.01', '3', '7.7'),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (given, rate, share) => {
          const all = sum(given.map((each) => decimal(each.credits))).times(rate);
          const used = roundToCurrency(all.times(share.toFixed(6)).minus('0.01'), 'usd');
          if (!used.greaterThan(0)) return;
          const part = taxedPart(used, wallet(rate, ...given), 'usd');
          const worth = sum(given.filter(({ isTaxed }) => isTaxed).map((each) => decimal(each.credits))).times(rate);
          expect(part.greaterThanOrEqualTo(0) && part.lessThanOrEqualTo(used)).toBe(true);
          expect(part.minus(worth).lessThan('0.00000001')).toBe(true);
          expect(part.decimalPlaces()).toBeLessThanOrEqual(2);
        },
      ),
    );
  });

  it('is asked of usable lots only, in their order', () => {
    const each = (id: string, fields: Partial<CreditLot>): CreditLot => ({
      ...{ id, creditAmount: decimal('5'), creditsAvailable: decimal('5'), expiryDate: null, priority: null },
      ...{ createdAt: `2026-01-0${id}T00:00:00.000Z`, transactionReason: 'PURCHASED_CREDIT_INVOICED' },
      ...{ transactionStatus: 'completed', status: 'published', ...fields },
    });
    const lots = [each('1', {}), each('2', { isTaxed: true }), each('3', { priority: 0 })];
    const expired = each('4', { isTaxed: true, expiryDate: '2026-01-05T00:00:00.000Z' });
    const at = '2026-02-01T00:00:00.000Z';
    expect(payingLots({ conversionRate: '1', lots: [...lots, expired] }, at)).toEqual({
      conversionRate: '1',
      lots: [lot('5', false), lot('5', false), lot('5', true)],
    });
    expect(payingLots({ conversionRate: '1', lots: [lots[0]!, expired] }, at)).toBeNull();
  });
});

describe('an invoice that such credits pay', () => {
  const input = (paying: PayingLots | undefined, taxBehavior: 'exclusive' | 'inclusive'): InvoiceInput => ({
    currency: 'eur',
    lines: [
      { id: 'usage', amount: '100', priceType: 'USAGE' },
      { id: 'fee', amount: '30', priceType: 'FIXED' },
    ],
    coupons: [],
    wallets: [{ id: 'w', allowance: '80', ...(paying ? { lots: paying } : {}) }],
    taxes: [{ id: 'vat', percentage: '20', taxBehavior }],
    taxExempt: false,
  });

  it('is taxed on what they do not pay', () => {
    const lots = wallet('1', lot('50', true), lot('30', false));
    expect(computeInvoice(input(lots, 'exclusive'))).toMatchObject({
      totalPrepaidCreditsApplied: '80.00',
      taxedCreditsApplied: '50.00',
      taxableAmount: '80.00',
      exclusiveTax: '16.00',
      total: '66.00',
      taxes: [{ taxableAmount: '80.00', taxAmount: '16.00' }],
    });
    // Of 80 with 20 % inside: 13.33, which is no part of the sum.
    expect(computeInvoice(input(lots, 'inclusive'))).toMatchObject({
      inclusiveTax: '13.33',
      taxes: [{ taxableAmount: '66.67', taxAmount: '13.33' }],
      total: '50.00',
    });
  });

  it('has no tax where they pay all of it', () => {
    const given = input(wallet('1', lot('100', true)), 'exclusive');
    const whole = { ...given, lines: given.lines.slice(0, 1), wallets: [{ ...given.wallets[0]!, allowance: '100' }] };
    expect(computeInvoice(whole)).toMatchObject({ total: '0.00', taxes: [], noTaxReason: 'zero_taxable_amount' });
  });

  it('is what it always was where none of them was taxed', () => {
    const untaxed = computeInvoice(input(undefined, 'exclusive'));
    expect(untaxed).toMatchObject({ taxedCreditsApplied: '0.00', taxableAmount: '130.00', exclusiveTax: '26.00' });
    expect(computeInvoice(input(wallet('1', lot('80', false)), 'exclusive'))).toEqual(untaxed);
  });
});
