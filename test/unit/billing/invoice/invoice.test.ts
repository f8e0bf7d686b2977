import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { distribute } from '../../../../billing/invoice/discount.ts';
import { computedStatus, computeInvoice } from '../../../../billing/invoice/invoice.ts';
import type { InvoiceInput } from '../../../../billing/invoice/invoice-input.ts';
import {
  type Decimal,
  decimal,
  decimalString,
  greatest,
  least,
  moneyString,
  sum,
  zero,
} from '../../../../billing/money/money.ts';
import { currencies, decimals } from '../arbitraries.ts';

const empty: InvoiceInput = { currency: 'usd', lines: [], coupons: [], wallets: [], taxes: [], taxExempt: false };
const fixed = (id: string, amount: string) => ({ id, amount, priceType: 'FIXED' as const });
const usage = (id: string, amount: string) => ({ id, amount, priceType: 'USAGE' as const });
const percent = (id: string, percentageOff: string, lineId: string | null = null) => ({
  id,
  lineId,
  type: 'percentage' as const,
  percentageOff,
});
const off = (id: string, amountOff: string, lineId: string | null = null) => ({
  id,
  lineId,
  type: 'fixed' as const,
  amountOff,
});
const exclusive = (id: string, percentage: string) => ({ id, percentage, taxBehavior: 'exclusive' as const });

describe('amount pipeline (subscriptions-and-invoicing §2.16)', () => {
  it('runs line coupon, invoice coupon, credits, tax on the discounted base', () => {
    const result = computeInvoice({
      ...empty,
      lines: [fixed('a', '80'), usage('b', '20')],
      coupons: [percent('L25', '25', 'a'), off('TEN', '10')],
      wallets: [{ id: 'w', allowance: '5' }],
      taxes: [exclusive('T', '8.25')],
    });
    expect(result).toMatchObject({
      subtotal: '100.00',
      totalDiscount: '30.00',
      totalPrepaidCreditsApplied: '5.00',
      taxableAmount: '70.00',
      totalTax: '5.78',
      total: '70.78',
      amountDue: '70.78',
      amountRemaining: '70.78',
      walletUses: [{ walletId: 'w', amount: '5.00' }],
    });
    expect(result.lines.map((line) => line.invoiceLevelDiscount)).toEqual(['7.50', '2.50']);
    expect(result.couponApplications).toEqual([
      { couponId: 'L25', lineId: 'a', originalPrice: '80.00', discountedAmount: '20.00', finalPrice: '60.00' },
      { couponId: 'TEN', lineId: null, originalPrice: '80.00', discountedAmount: '10.00', finalPrice: '70.00' },
    ]);
  });

  it('rounds every line once and never the sum', () => {
    const result = computeInvoice({ ...empty, lines: [fixed('a', '0.335'), fixed('b', '0.335'), fixed('c', '0.335')] });
    expect(result.subtotal).toBe('1.02');
  });

  it('depends on the order of invoice coupons', () => {
    const lines = [fixed('a', '200')];
    expect(computeInvoice({ ...empty, lines, coupons: [percent('P', '10'), off('F', '30')] }).total).toBe('150.00');
    expect(computeInvoice({ ...empty, lines, coupons: [off('F', '30'), percent('P', '10')] }).total).toBe('153.00');
  });

  it('caps a line’s coupons by the line and leaves negative lines alone', () => {
    const result = computeInvoice({
      ...empty,
      lines: [fixed('a', '50'), fixed('n', '-5')],
      coupons: [percent('P', '60', 'a'), off('F', '30', 'a'), off('G', '1', 'a'), off('N', '1', 'n')],
    });
    expect(result.lines.map((line) => line.lineItemDiscount)).toEqual(['50.00', '0.00']);
    expect(result.couponApplications.map((row) => row.couponId)).toEqual(['P', 'F']);
    expect(result.total).toBe('0.00');
  });

  it('carries no negative rest', () => {
    const result = computeInvoice({
      ...empty,
      lines: [fixed('a', '20'), fixed('b', '-50')],
      taxes: [exclusive('T', '10')],
    });
    expect(result).toMatchObject({
      subtotal: '-30.00',
      taxableAmount: '0.00',
      total: '0.00',
      noTaxReason: 'zero_taxable_amount',
    });
  });

  it('negative-line: takes no credits, lowers the total and the credits taken, and takes no total below zero', () => {
    const credited = (negative: string) => {
      const lines = [usage('u', '30'), usage('n', negative), fixed('f', '5')];
      const {
        lines: paid,
        walletUses,
        total,
      } = computeInvoice({
        ...empty,
        lines,
        wallets: [{ id: 'w', allowance: '100' }],
      });
      return [paid.map((line) => line.prepaidCreditsApplied), walletUses.map((use) => use.amount), total];
    };
    expect(credited('-10')).toEqual([['25.00', '0.00', '0.00'], ['25.00'], '0.00']);
    expect(credited('-34.99')).toEqual([['0.01', '0.00', '0.00'], ['0.01'], '0.00']);
    expect(credited('-50')).toEqual([['0.00', '0.00', '0.00'], [], '0.00']);
  });

  it('spends credits on usage only, in line order, the next wallet when one is empty', () => {
    const result = computeInvoice({
      ...empty,
      lines: [fixed('f', '50'), usage('u', '30'), usage('v', '20')],
      wallets: [
        { id: 'w1', allowance: '35.259' },
        { id: 'w2', allowance: '12.34' },
        { id: 'w3', allowance: '0.009' },
      ],
    });
    expect(result.lines.map((line) => line.prepaidCreditsApplied)).toEqual(['0.00', '30.00', '17.59']);
    expect(result.walletUses.map((use) => use.amount)).toEqual(['35.25', '12.34']);
    expect(result.total).toBe('52.41');
  });

  it('takes no more credits than there is to pay', () => {
    const result = computeInvoice({
      ...empty,
      lines: [usage('u', '30'), fixed('n', '-25')],
      wallets: [{ id: 'w', allowance: '100' }],
    });
    expect([result.totalPrepaidCreditsApplied, result.total]).toEqual(['5.00', '0.00']);
  });

  it('takes none in a preview', () => {
    const lines = [usage('u', '30')];
    const result = computeInvoice({ ...empty, lines, wallets: [{ id: 'w', allowance: '100' }], preview: true });
    expect([result.total, result.walletUses]).toEqual(['30.00', []]);
  });

  it('subtracts adjustments from what is due and payments from what remains', () => {
    const result = computeInvoice({ ...empty, lines: [fixed('a', '100')], adjustmentAmount: '30', amountPaid: '80' });
    expect([result.total, result.amountDue, result.amountRemaining]).toEqual(['100.00', '70.00', '0.00']);
  });

  it('is all zero without lines', () => {
    expect(computeInvoice(empty)).toMatchObject({
      subtotal: '0.00',
      total: '0.00',
      lines: [],
      noTaxReason: 'no_tax_rates',
    });
  });
});

describe('distribution of a discount', () => {
  it('gives the remainder to the last and what it cannot hold to those before it', () => {
    const shares = (nets: string[], amount: string): string[] =>
      distribute(
        nets.map((net) => decimal(net)),
        decimal(amount),
        'usd',
      ).map((share) => decimalString(share));
    expect(shares(['33.33', '33.33', '33.34'], '10')).toEqual(['3.33', '3.34', '3.33']);
    expect(shares(['0.01', '0.01', '0.01'], '0.02')).toEqual(['0.01', '0.01', '0']);
    expect(shares(['100', '-25'], '7.5')).toEqual(['7.5', '0']);
    expect(shares(['-1', '0'], '5')).toEqual(['0', '0']);
  });

  it('adds up exactly, within the nets', () => {
    const cents = fc.integer({ min: -500, max: 100_000 }).map((value) => decimal(value).dividedBy(100));
    fc.assert(
      fc.property(fc.array(cents, { maxLength: 12 }), fc.integer({ min: 0, max: 1000 }), (nets, permille) => {
        const room = sum(nets.filter((net) => net.greaterThan(0)));
        const amount = decimal(moneyString(room.times(permille).dividedBy(1000), 'usd'));
        const shares = distribute(nets, amount, 'usd');
        expect(decimalString(sum(shares))).toBe(decimalString(amount));
        for (const [position, share] of shares.entries()) {
          expect(share.greaterThanOrEqualTo(0)).toBe(true);
          expect(share.lessThanOrEqualTo(greatest(nets[position]!, zero))).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('invariants of the pipeline', () => {
  const line = fc.record({
    id: fc.uuid(),
    amount: fc.tuple(fc.boolean(), decimals(5, 4)).map(([negative, amount]) => (negative ? `-${amount}` : amount)),
    priceType: fc.constantFrom<'FIXED' | 'USAGE'>('FIXED', 'USAGE'),
  });
  const percentage = fc.integer({ min: 0, max: 12_000 }).map((value) => decimalString(decimal(value).dividedBy(100)));
  const inputs = fc
    .record({
      currency: currencies,
      lines: fc.array(line, { maxLength: 8 }),
      targets: fc.array(fc.tuple(fc.option(fc.nat(7)), fc.boolean(), percentage, decimals(3, 2)), { maxLength: 5 }),
      wallets: fc.array(fc.record({ id: fc.uuid(), allowance: decimals(4, 6) }), { maxLength: 3 }),
      taxes: fc.array(
        fc.record({
          id: fc.uuid(),
          percentage,
          taxBehavior: fc.constantFrom<'inclusive' | 'exclusive'>('inclusive', 'exclusive'),
        }),
        { maxLength: 4 },
      ),
      taxExempt: fc.boolean(),
    })
    .map(
      ({ targets, ...input }): InvoiceInput => ({
        ...input,
        coupons: targets.map(([position, isPercentage, percentageOff, amountOff], index) => ({
          id: String(index),
          lineId: position === null ? null : (input.lines[position]?.id ?? 'elsewhere'),
          type: isPercentage ? 'percentage' : 'fixed',
          percentageOff,
          amountOff,
        })),
      }),
    );
  const all = (values: string[]): Decimal => sum(values.map((value) => decimal(value)));

  it('hold for every invoice (§2.16, I6)', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const result = computeInvoice(input);
        const nets = result.lines.map((each) =>
          decimal(each.amount).minus(each.lineItemDiscount).minus(each.invoiceLevelDiscount),
        );
        const rest = greatest(decimal(result.subtotal).minus(result.totalDiscount), zero);
        expect(all(result.lines.map((each) => each.amount)).equals(result.subtotal)).toBe(true);
        const discounts = result.lines.flatMap((each) => [each.lineItemDiscount, each.invoiceLevelDiscount]);
        expect(all(discounts).equals(result.totalDiscount)).toBe(true);
        expect(all(result.couponApplications.map((row) => row.discountedAmount)).equals(result.totalDiscount)).toBe(
          true,
        );
        for (const [position, each] of result.lines.entries()) {
          expect(decimal(each.prepaidCreditsApplied).lessThanOrEqualTo(greatest(nets[position]!, zero))).toBe(true);
          if (decimal(each.amount).greaterThan(0)) expect(nets[position]!.greaterThanOrEqualTo(0)).toBe(true);
          else
            expect(discounts.slice(position * 2, position * 2 + 2).every((value) => decimal(value).isZero())).toBe(
              true,
            );
        }
        const credits = decimal(result.totalPrepaidCreditsApplied);
        expect(credits.lessThanOrEqualTo(rest)).toBe(true);
        expect(all(result.walletUses.map((use) => use.amount)).equals(credits)).toBe(true);
        expect(all(result.taxes.map((row) => row.taxAmount)).equals(result.totalTax)).toBe(true);
        expect(result.taxes.every((row) => decimal(row.taxAmount).greaterThanOrEqualTo(0))).toBe(true);
        const total = decimal(result.subtotal).minus(result.totalDiscount).minus(credits).plus(result.exclusiveTax);
        expect(decimal(result.total).equals(greatest(total, zero))).toBe(true);
        expect(least(decimal(result.total), zero).isZero()).toBe(true);
        expect(result.noTaxReason === null).toBe(result.taxes.length > 0);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('status of a computed draft (subscriptions-and-invoicing §2.15.1)', () => {
  it.each([
    ['nothing to bill', 'SUBSCRIPTION_CYCLE', '0', ['0.00'], 'SKIPPED'],
    ['no line', 'SUBSCRIPTION_CYCLE', '0', [], 'SKIPPED'],
    ['lines that cancel out', 'SUBSCRIPTION_CYCLE', '0', ['5', '-5'], 'DRAFT'],
    ['something to bill', 'SUBSCRIPTION_CYCLE', '5', ['5'], 'DRAFT'],
    ['the note of a trial', 'SUBSCRIPTION_TRIAL_START', '0', ['0'], 'DRAFT'],
  ] as [string, string, string, string[], string][])('%s', (_, billingReason, subtotal, lineAmounts, status) => {
    expect(computedStatus({ billingReason, subtotal, lineAmounts })).toBe(status);
  });
});
