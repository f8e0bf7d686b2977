import { describe, expect, it, test } from 'vitest';
import {
  type CommitmentChange,
  changedCommitment,
  changesCommitment,
  type StandingCommitment,
} from '../../../../billing/commitment/commitment-change.ts';

const clock = (hour: number) => ({ hour, minute: 0 });
const bucket = (id: string, start: number) => ({
  id,
  priceId: `price_${id}`,
  type: 'amount' as const,
  value: '5',
  overageFactor: '2',
  trueUp: true,
  start: clock(start),
  end: clock(start + 1),
});
const standing: StandingCommitment = {
  type: 'amount',
  value: '100',
  overageFactor: '1.5',
  trueUp: true,
  windowed: true,
  duration: null,
  timeBuckets: [bucket('a', 8), bucket('b', 9)],
};
const changed = (change: CommitmentChange, on: StandingCommitment | null = standing) =>
  changedCommitment(on, change, 'line_item');

describe('a change of a commitment (subscriptions-and-invoicing §1.9 PUT)', () => {
  test('what is not sent stays, buckets with their ids and prices too', () => {
    expect(changed({ value: '200', type: 'amount' })).toMatchObject({
      ...{ type: 'amount', value: '200', overageFactor: '1.5', trueUp: true, windowed: true },
      timeBuckets: [{ kept: { id: 'a', priceId: 'price_a' } }, { kept: { id: 'b', priceId: 'price_b' } }],
    });
    expect(changed({ trueUp: false })).toMatchObject({ value: '100', trueUp: false });
  });

  test('another type comes with its value', () => {
    expect(changed({ type: 'quantity', value: '7' })).toMatchObject({ type: 'quantity', value: '7' });
    expect(() => changed({ type: 'quantity' })).toThrow('commitment_quantity');
    expect(changed({ type: 'amount' })).toMatchObject({ type: 'amount', value: '100' });
  });

  test('buckets are replaced as a whole: one that is named keeps its id, and its price unless another is sent', () => {
    const { id: _, priceId: __, ...fresh } = bucket('c', 20);
    const { priceId: ___, ...named } = bucket('a', 10);
    const timeBuckets = [
      { ...named, value: '6', terms: null },
      { ...named, id: 'b', terms: { amount: '3' } },
      { ...fresh, id: null, terms: { amount: '4' } },
    ];
    expect(changed({ timeBuckets })?.timeBuckets).toMatchObject([
      { value: '6', start: clock(10), kept: { id: 'a', priceId: 'price_a' } },
      { terms: { amount: '3' }, kept: { id: 'b', priceId: null } },
      { terms: { amount: '4' } },
    ]);
    expect(() => changed({ timeBuckets: [{ ...fresh, id: 'z', terms: null }] })).toThrow('time bucket z');
    expect(() => changed({ timeBuckets: [{ ...fresh, id: null, terms: null }] })).toThrow('[0].price');
  });

  test('an amount of 0 without buckets commits to nothing', () => {
    expect(changed({ value: '0', type: 'amount', timeBuckets: [], overageFactor: '2' })).toBeNull();
    expect(changed({ value: '0', type: 'amount' })).toMatchObject({ type: null, value: null });
  });

  it('refuses terms without anything they are the terms of', () => {
    for (const [change, field] of [
      [{ overageFactor: '2' }, 'commitment_overage_factor'],
      [{ trueUp: true }, 'commitment_true_up_enabled'],
      [{ windowed: true }, 'commitment_windowed'],
      [{ duration: 'ANNUAL' }, 'commitment_duration'],
      [{ type: 'amount' }, 'commitment_type'],
    ] as const) {
      expect(() => changed(change, null)).toThrow(field);
    }
  });

  test('empty members say nothing to an item that is committed to nothing', () => {
    const empty = { trueUp: false, windowed: false, value: '0', timeBuckets: [] };
    expect(changesCommitment(empty, false)).toBe(false);
    expect(changesCommitment(empty, true)).toBe(true);
    expect(changesCommitment({ value: '3' }, false)).toBe(true);
  });
});
