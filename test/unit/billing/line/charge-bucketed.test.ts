import { expect, it } from 'vitest';
import { priceBuckets } from '../../../../billing/line/charge-bucketed.ts';
import { decimal } from '../../../../billing/money/money.ts';

const price = { billing_model: 'FLAT_FEE' as const, currency: 'usd', amount: '0.5' };
const bucketsOf = (values: readonly number[]) =>
  values.map((value, index) => ({
    start: new Date(index * 60_000).toISOString(),
    group: '',
    value: decimal(value),
    billable: decimal(value),
  }));

it('lists up to 2 000 buckets, tells more by their values, and only counts more values than that', () => {
  const few = priceBuckets(price, bucketsOf([3, 0]));
  expect(few).toMatchObject({
    count: 2,
    byValue: null,
    listed: [
      { value: '3', cost: '1.5' },
      { value: '0', cost: '0' },
    ],
  });
  const many = priceBuckets(price, bucketsOf(Array.from({ length: 2_001 }, (_, index) => index % 2)));
  expect(many).toMatchObject({ count: 2_001, listed: null });
  expect(many.byValue).toEqual([
    { billable: '1', count: 1_000, cost: '0.5' },
    { billable: '0', count: 1_001, cost: '0' },
  ]);
  const varied = priceBuckets(price, bucketsOf(Array.from({ length: 2_001 }, (_, index) => index)));
  expect(varied).toMatchObject({ count: 2_001, listed: null, byValue: null });
  expect([few.cost, many.cost, varied.cost].map(String)).toEqual(['1.5', '500', '1000500']);
});
