import { openingCollection, openingStatus } from '../../../billing/collection.ts';
import { selectPrices } from '../../../billing/price-selection.ts';
import type { Adapters, Given } from '../adapter.ts';

function priceSelection(given: Given): unknown {
  const cadence = (members: Given) => ({
    billingPeriod: members.billing_cadence === 'ONETIME' ? 'ONETIME' : members.billing_period,
    billingPeriodCount: members.billing_period_count ?? 1,
  });
  const prices = given.plan_prices.map((price: Given) => ({ id: price.id as string, ...cadence(price) }));
  const attached = selectPrices(cadence(given.subscription) as Given, prices, given.include_price_ids ?? null);
  return { attached: (attached as { id: string }[]).map(({ id }) => id) };
}

function collectionMatrix(given: Given): unknown {
  const collection = openingCollection(given.collection_method, given.payment_behavior, String(given.opening_amount));
  return {
    subscription_status: openingStatus(collection, given.payment_result === 'succeeded'),
    payment_attempted: collection.attempt,
  };
}

export const subscriptionAdapters: Adapters = {
  price_selection: priceSelection,
  collection_matrix: collectionMatrix,
};
