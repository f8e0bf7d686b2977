import { describe, expect, it } from 'vitest';
import { type Allowance, billableBuckets } from '../../../../billing/allowance/allowance.ts';
import type { ChargePlanInput } from '../../../../billing/line/charge.ts';
import { decimal, decimalString } from '../../../../billing/money/money.ts';
import { at, flat, invoice, linesOf, usageItem } from '../line/charge-fixture.ts';

const limit = (usageLimit: string | null, usageResetPeriod: Allowance['usageResetPeriod'] = null): Allowance => ({
  usageLimit,
  usageResetPeriod,
});

describe('bucketed meters', () => {
  const slab = {
    billing_model: 'TIERED' as const,
    tier_mode: 'SLAB' as const,
    currency: 'usd',
    tiers: [
      { up_to: '10', unit_amount: '1' },
      { up_to: null, unit_amount: '3' },
    ],
  };
  const rows = [
    { start: at('2026-02-01T00:00Z'), group: '', value: '14' },
    { start: at('2026-02-01T01:00Z'), group: '', value: '14' },
    { start: at('2026-02-01T05:00Z'), group: '', value: '3' },
  ];
  const bill = (allowances: ChargePlanInput['allowances']) =>
    linesOf(
      invoice([usageItem('u', { bucketSize: 'HOUR', price: slab })], { allowances, next: null, reason: 'last' }),
      () => ({
        quantity: '31',
        buckets: rows,
      }),
    )[0]!;

  it('prices every bucket on its own', () => {
    const line = bill({});
    expect([line.quantity, line.amount]).toEqual(['31', '47.00']);
    expect(line.derivation.parts[0]!.buckets!.map((bucket) => bucket.cost)).toEqual(['22', '22', '3']);
  });

  it('uses the allowance up in time order', () => {
    const line = bill({ meter: limit('20') });
    expect([line.quantity, line.amount, line.adjustedEntitlementQuantity]).toEqual(['11', '11.00', '20']);
    expect(line.derivation.parts[0]!.buckets!.map((bucket) => bucket.billable)).toEqual(['0', '8', '3']);
  });

  it('bills nothing of an unlimited one', () => {
    expect(bill({ meter: limit(null) }).amount).toBe('0.00');
  });

  it('are counted, not listed, when they are thousands', () => {
    const many = Array.from({ length: 2001 }, (_, index) => ({
      start: new Date(Date.parse(at('2026-02-01')) + index * 60_000).toISOString(),
      group: '',
      value: '1',
    }));
    const item = usageItem('u', { bucketSize: 'MINUTE', price: slab });
    const [line] = linesOf(invoice([item], { next: null, reason: 'last' }), () => ({
      quantity: '2001',
      buckets: many,
    }));
    expect(line!.amount).toBe('2001.00');
    expect(line!.derivation.parts[0]).toMatchObject({ buckets: null, bucketCount: 2001, cost: '2001' });
  });

  it('take the allowance of the reset window they begin in', () => {
    const price = flat('1');
    const item = usageItem('u', { bucketSize: 'HOUR', price });
    const buckets = [
      { start: at('2026-02-01T10:00Z'), group: '', value: '7' },
      { start: at('2026-02-01T11:00Z'), group: '', value: '7' },
      { start: at('2026-02-02T10:00Z'), group: '', value: '4' },
    ];
    const allowances = { meter: limit('10', 'DAILY') };
    const [line] = linesOf(invoice([item], { allowances, next: null, reason: 'last' }), () => ({
      quantity: '18',
      buckets,
    }));
    expect([line!.quantity, line!.adjustedEntitlementQuantity]).toEqual(['4', '14']);
    expect(line!.derivation.parts[0]!.buckets!.map((bucket) => bucket.billable)).toEqual(['0', '4', '0']);
  });

  it('gives every reset window its own allowance', () => {
    const windows = [
      { start: at('2026-02-01'), end: at('2026-02-02') },
      { start: at('2026-02-02'), end: at('2026-02-03') },
    ];
    const values = [
      { start: at('2026-02-01T10:00Z'), group: '', value: '7' },
      { start: at('2026-02-02T10:00Z'), group: '', value: '7' },
    ];
    const left = billableBuckets(values, windows, [decimal(5), decimal(5)]);
    expect(left.map((bucket) => decimalString(bucket.billable))).toEqual(['2', '2']);
  });
});
