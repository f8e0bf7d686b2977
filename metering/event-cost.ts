import { nanoUnits, usageCost } from '../billing/line/usage-analytics.ts';
import { Price } from '../db/entities/catalogue/price.ts';
import type { Transaction } from '../db/transaction.ts';
import { currentTermsOf } from '../services/catalogue/price/price-terms.ts';
import type { UsageStore } from './usage-store.ts';

/**
 * What each event costs by itself, in billionths of a US dollar, in the order of the ids: its quantity under every line that
 * charges for it, priced from the bottom of the tiers. 0 for an id that no event has, for an event that nothing charges for,
 * and for charges in another currency. As many statements for many ids as for one. spec: catalogue-and-metering §6.1
 */
export async function eventCostsNanoUsd(
  tx: Transaction,
  store: UsageStore,
  ids: readonly string[],
): Promise<{ id: string; costNanoUsd: string }[]> {
  const charged = await store.charged(tx, tx.scope, [...new Set(ids)]);
  const priceIds = [...new Set(charged.map(({ priceId }) => priceId))];
  const prices = await tx.em.find(Price, {
    environmentId: tx.scope.environmentId,
    id: { $in: priceIds },
    currency: 'usd',
  });
  const priceOf = await currentTermsOf(tx, prices);
  const chargesOf = Map.groupBy(charged, ({ id }) => id);
  return ids.map((id) => {
    const costs = (chargesOf.get(id) ?? []).flatMap(({ priceId, quantity }) => {
      const terms = priceOf.get(priceId);
      return terms ? [usageCost(terms, { usage: quantity, buckets: null })] : [];
    });
    return { id, costNanoUsd: nanoUnits(costs) };
  });
}
