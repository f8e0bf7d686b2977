import { decidePriceSync, targetSequence } from '../../../billing/price/price-sync.ts';
import { type Adapters, type Given, instant } from '../adapter.ts';

function planPriceSync(given: Given): unknown {
  const prices = given.prices.map((price: Given) => ({
    id: price.id,
    parentPriceId: price.parent_price_id ?? null,
    type: price.type,
    // As currencies are stored.
    currency: price.currency.toLowerCase(),
    billingPeriod: price.billing_period,
    billingPeriodCount: price.billing_period_count,
    endDate: price.end_date ? instant(price.end_date) : null,
    sequence: price.sequence,
  }));
  const decision = decidePriceSync({
    subscription: {
      currency: given.subscription.currency.toLowerCase(),
      billingPeriod: given.subscription.billing_period,
      billingPeriodCount: given.subscription.billing_period_count,
      startDate: instant(given.subscription.start_date),
      endDate: null,
      syncedPriceSequence: given.subscription.synced_price_sequence,
    },
    prices,
    lineItems: given.line_items.map((item: Given, index: number) => ({
      id: `item ${index}`,
      priceId: item.price_id,
      startDate: instant(item.start_date),
      endDate: item.end_date ? instant(item.end_date) : null,
    })),
    overriddenRootIds: new Set(given.overridden_root_price_ids),
    targetSequence: targetSequence(prices),
  });
  return {
    create_price_ids: decision.createPriceIds,
    terminate: decision.terminate.map(({ priceId, endDate }) => ({ price_id: priceId, end_date: endDate })),
    synced_price_sequence: decision.syncedPriceSequence,
  };
}

export const priceSyncAdapters: Adapters = { plan_price_sync: planPriceSync };
