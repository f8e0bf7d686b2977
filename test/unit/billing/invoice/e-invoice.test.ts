import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  creditedTax,
  type EInvoiceAmounts,
  type EInvoiceInput,
  eInvoiceAmounts,
} from '../../../../billing/invoice/e-invoice.ts';
import { computeInvoice } from '../../../../billing/invoice/invoice.ts';
import type { InvoiceInput } from '../../../../billing/invoice/invoice-input.ts';
import type { PayingLots } from '../../../../billing/invoice/taxed-credit.ts';
import { decimal, decimalString, sum } from '../../../../billing/money/money.ts';

/** Cents, so that each currency gets what it can hold. */
const cents = (most: number) => fc.integer({ min: 0, max: most }).map((value) => (value / 100).toFixed(2));
const percentages = fc.integer({ min: 0, max: 4_000 }).map((value) => (value / 100).toFixed(2));

const invoices = fc.record({
  currency: fc.constantFrom('eur', 'usd', 'jpy'),
  lines: fc.array(
    fc.record({
      amount: fc.integer({ min: -20_000, max: 100_000 }).map((value) => (value / 100).toFixed(2)),
      quantity: fc.constantFrom('0', '1', '3', '7.25', '900', '1000000'),
      priceType: fc.constantFrom<'USAGE' | 'FIXED'>('USAGE', 'FIXED'),
    }),
    { minLength: 1, maxLength: 7 },
  ),
  coupons: fc.array(
    fc.record({ line: fc.option(fc.nat(6)), percentageOff: percentages, amountOff: fc.option(cents(5_000)) }),
    { maxLength: 3 },
  ),
  credits: cents(50_000),
  /** Part of the credits that was taxed when it was bought. */
  taxed: fc.option(cents(50_000)),
  taxes: fc.array(
    fc.record({
      percentage: percentages,
      taxBehavior: fc.constantFrom<'inclusive' | 'exclusive'>('inclusive', 'exclusive'),
    }),
    { maxLength: 3 },
  ),
});
type Given = typeof invoices extends fc.Arbitrary<infer Value> ? Value : never;

/** The wallet's credits, of which those that were taxed are used first. */
function lotsOf({ taxed, credits }: Given): PayingLots {
  const lots = [
    { credits: taxed ?? '0', isTaxed: true },
    { credits, isTaxed: false },
  ];
  return { conversionRate: '1', lots };
}

/** The invoice that the pipeline makes, and what is stored of it for its e-invoice. */
function storedOf(given: Given): EInvoiceInput {
  const input: InvoiceInput = {
    currency: given.currency,
    lines: given.lines.map((line, index) => ({ id: String(index), amount: line.amount, priceType: line.priceType })),
    coupons: given.coupons.map(({ line, percentageOff, amountOff }, index) => ({
      id: String(index),
      lineId: line === null ? null : String(line % given.lines.length),
      type: amountOff === null ? 'percentage' : 'fixed',
      percentageOff,
      amountOff,
    })),
    wallets: [{ id: 'wallet', allowance: given.credits, ...(given.taxed === null ? {} : { lots: lotsOf(given) }) }],
    taxes: given.taxes.map((tax, index) => ({ id: String(index), ...tax })),
    taxExempt: false,
  };
  const computed = computeInvoice(input);
  return {
    currency: given.currency,
    lines: computed.lines.map((line, index) => ({
      quantity: given.lines[index]!.quantity,
      amount: line.amount,
      discount: line.lineItemDiscount,
    })),
    totalDiscount: computed.totalDiscount,
    rates: computed.taxes.map((tax) => ({
      percentage: given.taxes[Number(tax.taxRateId)]!.percentage,
      taxAmount: tax.taxAmount,
      taxBehavior: tax.taxBehavior,
    })),
    untaxed: 'O',
    credits: computed.totalPrepaidCreditsApplied,
    taxedCredits: computed.taxedCreditsApplied,
    total: computed.total,
  };
}

const value = (text: string | null) => decimal(text ?? '0');
const equal = (left: string | null, right: ReturnType<typeof value>) =>
  expect(decimalString(value(left))).toBe(decimalString(right));

/** BR-CO-10, 13, 14, 15, 16 and 17, and lines that follow from their price. */
function expectArithmetic(amounts: EInvoiceAmounts): void {
  for (const line of amounts.lines) {
    const gross = value(line.quantity)
      .times(line.price)
      .dividedBy(line.perQuantity ?? '1');
    equal(line.net, gross.minus(value(line.allowance)));
    expect(value(line.price).isNegative() && !value(line.price).isZero()).toBe(false);
    expect(value(line.allowance).isNegative()).toBe(false);
  }
  equal(amounts.lineTotal, sum(amounts.lines.map((line) => value(line.net))));
  equal(amounts.allowanceTotal, value(amounts.allowance).plus(value(amounts.taxedCredits)));
  equal(amounts.taxable, value(amounts.lineTotal).minus(value(amounts.allowanceTotal)).plus(value(amounts.charge)));
  equal(amounts.grandTotal, value(amounts.taxable).plus(amounts.tax));
  equal(amounts.payable, value(amounts.grandTotal).minus(value(amounts.prepaid)));
  const due = value(amounts.taxable).times(value(amounts.percent)).dividedBy(100);
  // Each of up to three rates is rounded by itself, to whole units at most; what they are taken of is what such rounding of those
  // that prices contain has left.
  const roundings = value(amounts.percent).dividedBy(100).plus(1).times('1.5');
  expect(due.minus(amounts.tax).abs().lessThanOrEqualTo(roundings)).toBe(true);
}

describe('the amounts of an e-invoice', () => {
  it('obey the arithmetic of EN 16931 and are those of the invoice', () => {
    fc.assert(
      fc.property(invoices, (given) => {
        const stored = storedOf(given);
        const amounts = eInvoiceAmounts(stored);
        expectArithmetic(amounts);
        equal(amounts.payable, value(stored.total));
        equal(amounts.tax, sum(stored.rates.map((rate) => value(rate.taxAmount))));
        equal(amounts.prepaid, value(stored.credits).minus(value(stored.taxedCredits ?? '0')));
      }),
      { numRuns: 300 },
    );
  });

  it('of a credit note hold its tax, at the rates of the invoice, in its gross amount', () => {
    fc.assert(
      fc.property(
        fc.array(cents(90_000), { minLength: 1, maxLength: 5 }),
        percentages,
        percentages,
        (parts, one, two) => {
          const total = decimalString(sum(parts.map(value)));
          const amounts = eInvoiceAmounts({
            currency: 'eur',
            lines: parts.map((amount) => ({ quantity: '1', amount, discount: '0' })),
            totalDiscount: '0',
            rates: creditedTax(total, [{ percentage: one }, { percentage: two }], 'eur'),
            untaxed: 'O',
            credits: '0',
            total,
          });
          expectArithmetic(amounts);
          equal(amounts.percent, value(one).plus(two));
        },
      ),
      { numRuns: 300 },
    );
  });

  const line = { quantity: '1', amount: '10', discount: '0' };
  const plain: EInvoiceInput = {
    currency: 'eur',
    lines: [line],
    totalDiscount: '0',
    rates: [],
    untaxed: 'O',
    credits: '0',
    total: '10',
  };

  it('are of category S with a rate, Z with a rate of 0 and else of the category the seller names', () => {
    const rate = (percentage: string, taxAmount: string) => [{ percentage, taxAmount, taxBehavior: 'inclusive' }];
    expect(eInvoiceAmounts({ ...plain, rates: rate('25', '2') })).toMatchObject({
      category: 'S',
      percent: '25',
      tax: '2.00',
    });
    expect(eInvoiceAmounts({ ...plain, rates: rate('0', '0') })).toMatchObject({ category: 'Z', percent: '0' });
    expect(eInvoiceAmounts(plain)).toMatchObject({ category: 'O', percent: null });
    expect(eInvoiceAmounts({ ...plain, untaxed: 'AE' })).toMatchObject({ category: 'AE', percent: '0' });
  });

  it('show a price no unit of which can be written down for all units together, and a credit as a negative quantity', () => {
    const lines = [
      { quantity: '3', amount: '10', discount: '0' },
      { quantity: '4', amount: '-2', discount: '0' },
    ];
    expect(eInvoiceAmounts({ ...plain, lines, total: '8' }).lines).toEqual([
      { quantity: '3', price: '10.00', perQuantity: '3', allowance: null, net: '10.00' },
      { quantity: '-4', price: '0.5', perQuantity: null, allowance: null, net: '-2.00' },
    ]);
  });

  it('say what of a negative sum is not carried over', () => {
    const amounts = eInvoiceAmounts({ ...plain, lines: [line, { ...line, amount: '-25' }], total: '0' });
    expect(amounts).toMatchObject({ lineTotal: '-15.00', charge: '15.00', taxable: '0.00', payable: '0.00' });
  });

  it('have two decimals at most: thousandths are refused, whole hundredths of such a currency are not', () => {
    const kwd = { ...plain, currency: 'kwd' };
    expect(eInvoiceAmounts(kwd)).toMatchObject({ payable: '10.00' });
    const odd = { ...kwd, lines: [{ ...line, amount: '10.005' }], total: '10.005' };
    expect(() => eInvoiceAmounts(odd)).toThrow('EN 16931 allows 2');
    expect(eInvoiceAmounts({ ...plain, currency: 'jpy' })).toMatchObject({ payable: '10' });
  });
});
