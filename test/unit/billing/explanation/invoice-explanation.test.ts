import { describe, expect, it } from 'vitest';
import { explainCharge } from '../../../../billing/explanation/charge-explanation.ts';
import {
  explainDates,
  explainLine,
  explainNumber,
  type StoredDates,
} from '../../../../billing/explanation/invoice-explanation.ts';
import { explainTotals, type StoredInvoice } from '../../../../billing/explanation/invoice-total-explanation.ts';
import { type ChargeItem, planCharges, priceCharges, usageQuestions } from '../../../../billing/line/charge.ts';
import type { Derivation } from '../../../../billing/price/derivation.ts';
import type { PriceTerms } from '../../../../billing/price/price-terms.ts';

const january = { start: '2026-01-01T00:00:00.000Z', end: '2026-02-01T00:00:00.000Z' };
const february = { start: january.end, end: '2026-03-01T00:00:00.000Z' };

/** The derivation that rating makes for one item, its usage answered with `measured`. */
function derived(
  change: Partial<ChargeItem>,
  measured = '0',
  limit: string | null | undefined = undefined,
  { watermark = '77:79:77,78@1769911205.25', currency = 'usd' } = {},
): Derivation {
  const item: ChargeItem = {
    id: 'item',
    priceId: 'price',
    priceType: 'USAGE',
    invoiceCadence: 'ARREAR',
    billingPeriod: 'MONTHLY',
    billingPeriodCount: 1,
    displayName: 'Calls',
    quantity: '1',
    startDate: january.start,
    endDate: null,
    meterId: 'meter_1',
    price: { billing_model: 'FLAT_FEE', currency: 'usd', amount: '0.10' },
    bucketSize: null,
    resetUsage: 'BILLING_PERIOD',
    ...change,
  };
  const planned = planCharges({
    reason: 'cycle',
    subscription: {
      currency,
      billingPeriod: 'MONTHLY',
      billingPeriodCount: 1,
      billingCycle: 'anniversary',
      billingAnchor: january.start,
      timezone: 'UTC',
      lineItemGrouping: 'per_charge_period',
    },
    elapsed: { ...january, full: january },
    next: { ...february, full: february },
    items: [item],
    allowances: limit === undefined ? {} : { meter_1: { usageLimit: limit, usageResetPeriod: null } },
    billed: [],
  });
  const answers = usageQuestions(planned).map(({ key }) => [key, { quantity: measured, watermark }]);
  return priceCharges(planned, Object.fromEntries(answers))[0]!.derivation;
}

const sentences = (derivation: Derivation, meterName: string | null = 'API calls') =>
  explainCharge(derivation, meterName).map((step) => step.sentence);
const price = (terms: Partial<PriceTerms>): PriceTerms => ({ billing_model: 'TIERED', currency: 'usd', ...terms });

describe('the sentences of a line', () => {
  it('tell what was asked, answered, priced and rounded', () => {
    expect(sentences(derived({}, '12'))).toEqual([
      'Meter "API calls" measured 12 from 2026-01-01T00:00:00Z until 2026-02-01T00:00:00Z, counting every event received by 2026-02-01T02:00:05.250Z.',
      'Flat fee: 12 × 0.10 = 1.20 usd.',
      'Rounded to 2 decimals: 1.20 usd.',
    ]);
  });

  it('name the meter by its id where it has no name, and no moment that the watermark does not tell', () => {
    const plain = 'measured 12 from 2026-01-01T00:00:00Z until 2026-02-01T00:00:00Z.';
    expect(sentences(derived({}, '12', undefined, { watermark: '77' }), null)[0]).toBe(`Meter meter_1 ${plain}`);
  });

  it("show money with the currency's decimals, or with all it has", () => {
    const flat = (amount: string, currency: string) =>
      sentences(derived({ price: { billing_model: 'FLAT_FEE', currency, amount } }, '10000', undefined, { currency }));
    expect(flat('0.03125', 'usd')[1]).toBe('Flat fee: 10000 × 0.03125 = 312.50 usd.');
    expect(flat('0.1117688', 'usd').slice(1)).toEqual([
      'Flat fee: 10000 × 0.1117688 = 1117.688 usd.',
      'Rounded to 2 decimals: 1117.69 usd.',
    ]);
    expect(flat('2', 'jpy')[1]).toBe('Flat fee: 10000 × 2 = 20000 jpy.');
  });

  it('tell the tiers that were walked', () => {
    const tiers = [
      { up_to: '10', unit_amount: '1', flat_amount: '0' },
      { up_to: null, unit_amount: '0.5', flat_amount: '3' },
    ];
    expect(sentences(derived({ price: price({ tier_mode: 'SLAB', tiers }) }, '12')).slice(1, 4)).toEqual([
      'Tier 1 (up to 10): 10 × 1.00 = 10.00 usd.',
      'Tier 2 (no upper limit): 2 × 0.50 + 3.00 flat = 4.00 usd.',
      'The tiers add up to 14.00 usd.',
    ]);
    expect(sentences(derived({ price: price({ tier_mode: 'VOLUME', tiers }) }, '12'))[1]).toBe(
      'All of it in tier 2 (no upper limit): 12 × 0.50 + 3.00 flat = 9.00 usd.',
    );
  });

  it('tell packages and percentages by their terms', () => {
    const packages = {
      billing_model: 'PACKAGE',
      amount: '5',
      transform_quantity: { divide_by: 10, round: 'up' },
    } as const;
    expect(sentences(derived({ price: price(packages) }, '12'))[1]).toBe(
      'Packages of 10, a started one whole: 2 × 5.00 = 10.00 usd.',
    );
    const percentage = { billing_model: 'PERCENTAGE', percentage_rate: '2.5' } as const;
    expect(sentences(derived({ price: price(percentage) }, '200'))[1]).toBe('2.5 percent: 200 × 0.025 = 5.00 usd.');
  });

  it('tell what the entitlement included', () => {
    expect(sentences(derived({}, '12', '10')).slice(1, 4)).toEqual([
      'Included is 10 per billing period.',
      'From 2026-01-01T00:00:00Z until 2026-02-01T00:00:00Z usage went from 0 to 12: 2 is billable.',
      '10 of the usage is included, 2 is billed.',
    ]);
    expect(sentences(derived({}, '12', null))[1]).toContain('unlimited');
  });

  it('tell why and by which fraction a fixed charge was reduced', () => {
    const endDate = '2026-01-11T00:00:00.000Z';
    const fixed = { priceType: 'FIXED', meterId: null, endDate, quantity: '3' } as const;
    const told = sentences(derived({ ...fixed, price: price({ billing_model: 'FLAT_FEE', amount: '31' }) }));
    expect(told[0]).toBe('Fixed charge for a quantity of 3 from 2026-01-01T00:00:00Z until 2026-01-11T00:00:00Z.');
    expect(told[2]).toContain('the item was active for only this part of its charge period');
    expect(told[2]).toContain('Billed for 10 of 31 days from 2026-01-01T00:00:00Z until 2026-02-01T00:00:00Z');
    expect(told[2]).toContain('93.00 × 864000000 / 2678400000 = 30.00 usd');
  });

  it('say when nothing was used', () => {
    expect(sentences(derived({}, '0'))[1]).toBe('A quantity of 0 costs 0.00 usd.');
  });

  it('add what was taken off afterwards, and only that', () => {
    const line = { currency: 'usd', amount: '10', derivation: null, lateUsage: null, meterName: null, coupons: [] };
    const taken = { lineItemDiscount: '2.50', invoiceLevelDiscount: '0', prepaidCreditsApplied: '0.00' };
    const told = explainLine({ ...line, ...taken });
    expect(told.map((step) => step.kind)).toEqual(['sum', 'discount']);
    expect(told[0]?.sentence).toBe('The amount of 10.00 usd was given, not computed.');
    expect(told.map((step) => step.amount)).toEqual(['10', '-2.50']);
  });

  it('name the coupons of the line with what each was computed on', () => {
    const coupons = [
      { name: 'Spring', percentage: '10', originalPrice: '20', discountedAmount: '2' },
      { name: 'Welcome', percentage: null, originalPrice: '20', discountedAmount: '5' },
    ];
    const line = { currency: 'usd', amount: '20', derivation: null, lateUsage: null, meterName: null, coupons };
    const taken = { lineItemDiscount: '7', invoiceLevelDiscount: '1', prepaidCreditsApplied: '3' };
    expect(explainLine({ ...line, ...taken }).slice(1)).toEqual([
      { kind: 'discount', sentence: 'Coupon "Spring": 10 % of 20.00 usd is 2.00 usd off.', amount: '-2' },
      { kind: 'discount', sentence: 'Coupon "Welcome": 5.00 usd off 20.00 usd.', amount: '-5' },
      {
        kind: 'discount',
        sentence: "Its share of the invoice's coupons, by what is left of each line, is 1.00 usd.",
        amount: '-1',
      },
      { kind: 'credit', sentence: 'Prepaid credits pay 3.00 usd of it.', amount: '-3' },
    ]);
  });
});

describe('late usage', () => {
  const none = { lineItemDiscount: '0', invoiceLevelDiscount: '0', prepaidCreditsApplied: '0' };
  const told = (eventCount: number, quantity: string, voidedCount = 0) =>
    explainLine({
      currency: 'usd',
      amount: '1',
      ...none,
      coupons: [],
      derivation: null,
      meterName: null,
      lateUsage: { eventCount, voidedCount, quantity },
    })
      .filter((step) => step.kind.startsWith('late_'))
      .map((step) => step.sentence);

  it('is told where there is some', () => {
    expect(told(0, '0')).toEqual([]);
    expect(told(1, '3')).toEqual(['1 event arrived after this invoice was final (quantity 3); it is not billed.']);
    expect(told(0, '-1', 1)).toEqual([
      '1 event of this line was voided after this invoice was final (quantity -1); the invoice stays as it is.',
    ]);
    expect(told(1, '2', 3)).toEqual([
      '1 event arrived after this invoice was final (quantity 2, both together); it is not billed.',
      '3 events of this line were voided after this invoice was final (quantity 2, both together); the invoice stays as it is.',
    ]);
    expect(told(2, '-0.5')).toEqual([
      '2 events arrived after this invoice was final (quantity -0.5); they are not billed.',
    ]);
  });
});

describe('the invoice', () => {
  const zero = '0';
  const stored: StoredInvoice & StoredDates = {
    currency: 'usd',
    subtotal: '31.2',
    totalDiscount: zero,
    totalPrepaidCreditsApplied: zero,
    taxedCreditsApplied: zero,
    totalTax: zero,
    total: '31.2',
    adjustmentAmount: zero,
    amountDue: '31.2',
    amountPaid: zero,
    amountRemaining: '31.2',
    overpaidAmount: zero,
    refundedAmount: zero,
    taxes: [],
    noTaxReason: 'no_tax_rates',
    lineCount: 2,
    invoiceNumber: null,
    isNumberGiven: false,
    invoiceStatus: 'DRAFT',
    periodStart: january.start,
    periodEnd: january.end,
    lastComputedAt: january.end,
    issueDate: null,
    finalizedAt: null,
    dueDate: null,
    paidAt: null,
    voidedAt: null,
  };

  it('tells its totals in the order of the pipeline, with the stored values', () => {
    const steps = explainTotals(stored);
    expect(steps.map((step) => step.step)).toEqual([
      'subtotal',
      'total_discount',
      'total_prepaid_credits_applied',
      'total_tax',
      'total',
      'amount_due',
      'amount_paid',
      'amount_remaining',
    ]);
    expect(steps[0]).toMatchObject({ amount: '31.2', sentence: 'The 2 lines add up to 31.20 usd.' });
    expect(steps[4]?.sentence).toBe('The total is the subtotal: 31.20 usd.');
    expect(steps[5]?.sentence).toBe('To be paid: 31.20 usd.');
  });

  it('tells the total by what took part in it, and that a sum below zero is not carried over', () => {
    const sentence = (changes: Partial<StoredInvoice>) => explainTotals({ ...stored, ...changes })[4]?.sentence;
    const tax = { name: 'VAT', percentage: '10', taxableAmount: '20', taxAmount: '2' };
    const taxes = [
      { ...tax, taxBehavior: 'exclusive' as const },
      { ...tax, taxBehavior: 'inclusive' as const },
      { ...tax, taxAmount: '0', taxBehavior: 'exclusive' as const },
    ];
    const discounted = { totalDiscount: '11.2', totalPrepaidCreditsApplied: '5', taxes, total: '17' };
    expect(sentence(discounted)).toBe('The total is 31.20 − 11.20 − 5.00 + 2.00 = 17.00 usd.');
    expect(sentence({ subtotal: '-3', total: '0' })).toBe(
      'The sum is below zero, which is not carried over: the total is 0.00 usd.',
    );
  });

  it('tells each tax with what it was computed on, or why there is none', () => {
    const row = { name: 'VAT', percentage: '19', taxableAmount: '100', taxAmount: '19' };
    const taxed = { ...stored, totalTax: '22', noTaxReason: null };
    const sentence = (invoice: StoredInvoice) => explainTotals(invoice)[3]?.sentence;
    expect(sentence(stored)).toBe('No tax: no rate is linked to the subscription for this period.');
    expect(sentence({ ...stored, noTaxReason: 'customer_exempt' })).toBe('No tax: the customer is exempt.');
    const taxes = [
      { ...row, taxBehavior: 'exclusive' as const },
      { ...row, name: 'Local', percentage: '3', taxAmount: '3', taxBehavior: 'inclusive' as const },
    ];
    expect(sentence({ ...taxed, taxes })).toBe(
      'Taxes on what remains after coupons are 22.00 usd: VAT, 19 % of 100.00 usd, is 19.00 usd (added); Local, 3 % of 100.00 usd, is 3.00 usd (contained in the prices).',
    );
  });

  it('tells refunds and overpayment only where there are some', () => {
    const steps = explainTotals({ ...stored, overpaidAmount: '1', refundedAmount: '2' }).map((step) => step.step);
    expect(steps.slice(-2)).toEqual(['overpaid_amount', 'refunded_amount']);
  });

  it('says why a draft has no number', () => {
    expect(explainNumber(stored)).toContain('when it is finalized; this one is DRAFT');
    expect(explainNumber({ ...stored, invoiceNumber: 'INV-1' })).toContain('INV-1 is the next number');
    expect(explainNumber({ ...stored, invoiceNumber: 'X-1', isNumberGiven: true })).toContain('X-1 was given');
  });

  it('tells only the dates it has', () => {
    expect(explainDates(stored).map((step) => step.date)).toEqual(['period_start', 'period_end', 'last_computed_at']);
  });
});
