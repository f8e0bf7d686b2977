import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decidePriceSync,
  type PriceSyncDecision,
  type SyncedLineItem,
  type SyncedPrice,
  type SyncedSubscription,
  targetSequence,
} from '../../../../billing/price/price-sync.ts';

const price = (id: string, sequence: number, other: Partial<SyncedPrice> = {}): SyncedPrice => ({
  id,
  sequence,
  parentPriceId: null,
  type: 'USAGE',
  currency: 'usd',
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  endDate: null,
  ...other,
});
const subscription: SyncedSubscription = {
  currency: 'usd',
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  startDate: '2026-01-01T00:00:00.000Z',
  endDate: null,
  syncedPriceSequence: 5,
};
const item = (priceId: string, endDate: string | null = null): SyncedLineItem => ({
  id: `item of ${priceId}`,
  priceId,
  startDate: subscription.startDate,
  endDate,
});

function decide(
  prices: SyncedPrice[],
  lineItems: SyncedLineItem[] = [],
  other: { subscription?: Partial<SyncedSubscription>; overridden?: string[] } = {},
) {
  return decidePriceSync({
    subscription: { ...subscription, ...other.subscription },
    prices,
    lineItems,
    overriddenRootIds: new Set(other.overridden ?? []),
    targetSequence: targetSequence(prices),
  });
}

describe('a price sync of one subscription', () => {
  it.each<[string, SyncedPrice, string[]]>([
    ['a new usage price', price('p', 6), ['p']],
    ['a price it has been synced to', price('p', 5), []],
    ['a fixed price', price('p', 6, { type: 'FIXED' }), []],
    ['another currency', price('p', 6, { currency: 'eur' }), []],
    ['another period', price('p', 6, { billingPeriod: 'ANNUAL' }), []],
    ['another count of periods', price('p', 6, { billingPeriodCount: 3 }), []],
    ['a price that ended when it began', price('p', 6, { endDate: '2026-01-01T00:00:00.000Z' }), ['p']],
    ['a price that ended before it began', price('p', 6, { endDate: '2025-12-31T23:59:59.999Z' }), []],
  ])('%s', (_name, added, created) => {
    expect(decide([added]).createPriceIds).toEqual(created);
  });

  it('leaves out what the subscription has of its own, by the price and by its root', () => {
    const prices = [price('root', 6), price('next', 7, { parentPriceId: 'root' }), price('other', 8)];
    expect(decide(prices, [], { overridden: ['root'] }).createPriceIds).toEqual(['other']);
  });

  it('ends open line items with their price, none before its own start', () => {
    const prices = [
      price('a', 6, { endDate: '2026-03-01T00:00:00.000Z' }),
      price('b', 7, { endDate: '2025-03-01T00:00:00.000Z' }),
    ];
    const items = [item('a'), item('b')];
    expect(decide(prices, items).terminate.map(({ endDate }) => endDate)).toEqual([
      '2026-03-01T00:00:00.000Z',
      subscription.startDate,
    ]);
  });

  it('takes a line item that ends with its subscription for open, and one that ends by itself for ended', () => {
    const endDate = '2026-12-01T00:00:00.000Z';
    const prices = [price('a', 6, { endDate: '2026-03-01T00:00:00.000Z' })];
    const fixedTerm = { subscription: { endDate } };
    expect(decide(prices, [item('a', endDate)], fixedTerm).terminate).toHaveLength(1);
    expect(decide(prices, [item('a', '2026-06-01T00:00:00.000Z')], fixedTerm).terminate).toEqual([]);
    expect(decide(prices, [item('a', endDate)]).terminate).toEqual([]);
  });

  it('leaves a subscription alone that is not behind its plan', () => {
    const prices = [price('a', 4, { endDate: '2026-03-01T00:00:00.000Z' }), price('b', 5)];
    const nothing = { createPriceIds: [], terminate: [] };
    expect(decide(prices, [item('a')])).toEqual({ ...nothing, syncedPriceSequence: 5 });
    expect(decide([], [item('a')])).toEqual({ ...nothing, syncedPriceSequence: 5 });
  });

  it('finds nothing more to do when it is done again', () => {
    const instants = ['2025-06-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', '2026-06-01T00:00:00.000Z'];
    const prices = fc.array(
      fc.record({
        sequence: fc.integer({ min: 1, max: 20 }),
        currency: fc.constantFrom('usd', 'eur'),
        type: fc.constantFrom('USAGE' as const, 'FIXED' as const),
        endDate: fc.option(fc.constantFrom(...instants), { nil: null }),
        isAttached: fc.boolean(),
      }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(prices, (drawn) => {
        const all = drawn.map((one, index) => price(`p${index}`, one.sequence, one));
        const items = drawn.flatMap((one, index) => (one.isAttached ? [item(`p${index}`)] : []));
        const first = decide(all, items);
        const second = decide(all, applied(items, first, all), {
          subscription: { syncedPriceSequence: first.syncedPriceSequence },
        });
        expect(second).toEqual({ createPriceIds: [], terminate: [], syncedPriceSequence: first.syncedPriceSequence });
        expect(first.syncedPriceSequence).toBeGreaterThanOrEqual(subscription.syncedPriceSequence);
      }),
    );
  });
});

function applied(items: SyncedLineItem[], decision: PriceSyncDecision, prices: SyncedPrice[]): SyncedLineItem[] {
  const ends = new Map(decision.terminate.map(({ lineItemId, endDate }) => [lineItemId, endDate]));
  const created = decision.createPriceIds.map((id) => item(id, prices.find((each) => each.id === id)?.endDate ?? null));
  return [...items.map((each) => ({ ...each, endDate: ends.get(each.id) ?? each.endDate })), ...created];
}
