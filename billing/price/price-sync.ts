import { later } from '../time/calendar.ts';

/** A usage price of a plan as a sync sees it. */
export interface SyncedPrice {
  id: string;
  parentPriceId: string | null;
  type: 'FIXED' | 'USAGE';
  currency: string;
  billingPeriod: string;
  billingPeriodCount: number;
  endDate: string | null;
  sequence: number;
}

/** A subscription as a sync sees it; `endDate` is its own fixed end. */
export interface SyncedSubscription {
  currency: string;
  billingPeriod: string;
  billingPeriodCount: number;
  startDate: string;
  endDate: string | null;
  syncedPriceSequence: number;
}

/** A line item of the subscription for a price of its plan. */
export interface SyncedLineItem {
  id: string;
  priceId: string;
  startDate: string;
  endDate: string | null;
}

/** What one subscription needs to be in step with its plan. */
export interface PriceSyncDecision {
  createPriceIds: string[];
  terminate: { lineItemId: string; priceId: string; endDate: string }[];
  syncedPriceSequence: number;
}

/** Subscriptions in these states take part in a price sync. spec: catalogue-and-metering §3.1 */
export const syncedStatuses = ['active', 'trialing', 'draft', 'incomplete'] as const;

/** The highest sequence among a plan's published usage prices, ended ones too; 0 without any. spec: catalogue-and-metering §3.1 */
export function targetSequence(prices: readonly Pick<SyncedPrice, 'type' | 'sequence'>[]): number {
  return prices.reduce((highest, price) => (price.type === 'USAGE' ? Math.max(highest, price.sequence) : highest), 0);
}

/**
 * What a price sync does to one subscription: line items for usage prices of its plan that it does not have, an end for those
 * whose price has one. `prices` are the plan's published prices; `overriddenRootIds` the parents of the prices that the
 * subscription has of its own. A line item that ends only because the subscription does counts as open: otherwise a
 * subscription with a fixed end would pay a superseded price and its successor.
 *
 * spec: catalogue-and-metering §3.1
 */
export function decidePriceSync(input: {
  subscription: SyncedSubscription;
  prices: readonly SyncedPrice[];
  lineItems: readonly SyncedLineItem[];
  overriddenRootIds: ReadonlySet<string>;
  targetSequence: number;
}): PriceSyncDecision {
  const { subscription, lineItems, overriddenRootIds } = input;
  const { syncedPriceSequence } = subscription;
  // Only a subscription that is behind takes part.
  if (syncedPriceSequence >= input.targetSequence) return { createPriceIds: [], terminate: [], syncedPriceSequence };
  const usagePrices = input.prices.filter((price) => price.type === 'USAGE');
  const attached = new Set(lineItems.map((item) => item.priceId));
  const wanted = usagePrices.filter(
    (price) =>
      price.sequence > syncedPriceSequence &&
      isAttachable(price, subscription) &&
      !overriddenRootIds.has(price.id) &&
      !overriddenRootIds.has(price.parentPriceId ?? price.id) &&
      !attached.has(price.id),
  );
  const endOf = new Map(usagePrices.map((price) => [price.id, price.endDate]));
  const terminate = lineItems.flatMap((item) => {
    const priceEnd = endOf.get(item.priceId) ?? null;
    if (priceEnd === null || !isOpen(item, subscription, priceEnd)) return [];
    return [{ lineItemId: item.id, priceId: item.priceId, endDate: later(item.startDate, priceEnd) }];
  });
  return {
    createPriceIds: wanted.map((price) => price.id),
    terminate,
    syncedPriceSequence: input.targetSequence,
  };
}

function isAttachable(price: SyncedPrice, subscription: SyncedSubscription): boolean {
  return (
    price.currency === subscription.currency &&
    price.billingPeriod === subscription.billingPeriod &&
    price.billingPeriodCount === subscription.billingPeriodCount &&
    (price.endDate === null || subscription.startDate <= price.endDate)
  );
}

function isOpen(item: SyncedLineItem, subscription: SyncedSubscription, priceEnd: string): boolean {
  if (item.endDate === null) return true;
  return item.endDate === subscription.endDate && priceEnd < item.endDate;
}
