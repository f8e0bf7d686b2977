import type { BillableBucket } from '../allowance/allowance.ts';
import { type Decimal, decimalString } from '../money/money.ts';
import type { DerivedBucket, DerivedBucketValue } from '../price/derivation.ts';
import { costOfBuckets } from '../price/price.ts';
import type { PriceTerms } from '../price/price-terms.ts';

/** Up to this many buckets are listed, so that a line stays a small document. */
const listedBuckets = 2000;

/** What buckets cost together, and the part of a derivation that tells it; of `listed` and `byValue` at most one is set. */
export interface PricedBuckets {
  cost: Decimal;
  count: number;
  listed: DerivedBucket[] | null;
  byValue: DerivedBucketValue[] | null;
}

/**
 * Prices every bucket (and group) on its own, tiers from zero and packages rounded in each; the sum is rounded once, later.
 * Up to 2 000 buckets are listed. More are told by what decides their cost: how many had which billable value, the greatest
 * first; where even the values are more than 2 000, only their number. spec: catalogue-and-metering §4.4
 */
export function priceBuckets(price: PriceTerms, buckets: readonly BillableBucket[]): PricedBuckets {
  const { cost, costs } = costOfBuckets(
    price,
    buckets.map((bucket) => bucket.billable),
  );
  const isListed = buckets.length <= listedBuckets;
  return {
    cost,
    count: buckets.length,
    listed: isListed ? buckets.map((bucket, index) => derivedBucket(bucket, costs[index]!)) : null,
    byValue: isListed ? null : countedValues(buckets, costs),
  };
}

function derivedBucket({ start, group, value, billable }: BillableBucket, cost: Decimal): DerivedBucket {
  return {
    start,
    group,
    value: decimalString(value),
    billable: decimalString(billable),
    cost: decimalString(cost),
  };
}

function countedValues(buckets: readonly BillableBucket[], costs: readonly Decimal[]): DerivedBucketValue[] | null {
  const values = new Map<string, { billable: Decimal; count: number; cost: Decimal }>();
  for (const [index, { billable }] of buckets.entries()) {
    const key = decimalString(billable);
    const known = values.get(key);
    if (known) known.count += 1;
    else if (values.size === listedBuckets) return null;
    else values.set(key, { billable, count: 1, cost: costs[index]! });
  }
  return [...values.values()]
    .sort((a, b) => b.billable.comparedTo(a.billable))
    .map(({ billable, count, cost }) => ({
      billable: decimalString(billable),
      count,
      cost: decimalString(cost),
    }));
}
