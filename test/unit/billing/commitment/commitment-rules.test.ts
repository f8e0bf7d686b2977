import { describe, expect, it } from 'vitest';
import {
  checkItemCommitment,
  type NewItemCommitment,
  type NewTimeBucket,
} from '../../../../billing/commitment/commitment-rules.ts';
import { refusalOf } from '../refused.ts';

const bucket = (from: [number, number], to: [number, number], members: Partial<NewTimeBucket> = {}): NewTimeBucket => ({
  type: 'amount',
  value: '1',
  overageFactor: '1',
  trueUp: false,
  start: { hour: from[0], minute: from[1] },
  end: { hour: to[0], minute: to[1] },
  terms: {},
  ...members,
});

function check(timeBuckets: NewTimeBucket[], bucketSize: string | null, members: Partial<NewItemCommitment> = {}) {
  const commitment: NewItemCommitment = {
    type: null,
    value: null,
    overageFactor: '1',
    trueUp: false,
    windowed: true,
    duration: null,
    timeBuckets,
    ...members,
  };
  const item = { priceType: 'USAGE' as const, bucketSize, billingPeriod: 'MONTHLY' as const, billingPeriodCount: 1 };
  return refusalOf(() => checkItemCommitment(commitment, item, 'c'))?.message ?? null;
}

describe('times of the day (subscriptions-and-invoicing §2.7.5)', () => {
  it.each([
    ['over midnight', [bucket([22, 0], [4, 0])], 'HOUR'],
    ['until 24:00', [bucket([0, 0], [24, 0])], 'DAY'],
    ['side by side', [bucket([0, 0], [8, 0]), bucket([8, 0], [20, 0]), bucket([20, 0], [24, 0])], 'HOUR'],
    ['with minutes of a finer meter', [bucket([0, 15], [0, 45])], '15MIN'],
    [
      'at the same hours, one after the other',
      [bucket([1, 0], [3, 0], { to: '2026-07-01' }), bucket([1, 0], [3, 0], { from: '2026-07-01' })],
      'HOUR',
    ],
  ])('%s are accepted', (_what, buckets, size) => {
    expect(check(buckets, size)).toBeNull();
  });

  it.each([
    ['that overlap', [bucket([1, 0], [3, 0]), bucket([2, 0], [4, 0])], 'HOUR', {}, 'overlap'],
    ['that overlap over midnight', [bucket([22, 0], [4, 0]), bucket([3, 0], [5, 0])], 'HOUR', {}, 'overlap'],
    [
      'that meet at the same hours for a time',
      [bucket([1, 0], [3, 0], { to: '2026-07-02' }), bucket([1, 0], [3, 0], { from: '2026-07-01' })],
      'HOUR',
      {},
      'overlap',
    ],
    ['that are the same', [bucket([1, 0], [3, 0]), bucket([1, 0], [3, 0])], 'HOUR', {}, 'overlap'],
    ['off the grid', [bucket([1, 30], [3, 0])], 'HOUR', {}, 'grid'],
    ['of a length off the grid', [bucket([0, 0], [4, 0])], '3HOUR', {}, 'grid'],
    ['of no length', [bucket([1, 0], [1, 0])], 'HOUR', {}, 'end'],
    ['that end after 24:00', [bucket([1, 0], [24, 30])], '30MIN', {}, '24:00'],
    ['that start at 24:00', [bucket([24, 0], [1, 0])], 'HOUR', {}, '00:00'],
    ['without a value', [bucket([1, 0], [2, 0], { value: '0' })], 'HOUR', {}, 'commitment_value'],
    ['with a factor below 1', [bucket([1, 0], [2, 0], { overageFactor: '0.5' })], 'HOUR', {}, 'overage_factor'],
    ['on a meter of weeks', [bucket([1, 0], [2, 0])], 'WEEK', {}, 'at most a day'],
    ['on a meter without buckets', [bucket([1, 0], [2, 0])], null, {}, 'bucket_size'],
    ['without windows', [bucket([1, 0], [2, 0])], 'HOUR', { windowed: false }, 'is_window_commitment'],
    ['over several periods', [bucket([1, 0], [2, 0])], 'HOUR', { duration: 'ANNUAL' as const }, 'commitment_duration'],
  ])('%s are refused', (_what, buckets, size, members, names) => {
    expect(check(buckets, size, members)).toContain(names);
  });
});
