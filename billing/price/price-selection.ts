import { refuse } from '../refusal.ts';
import { type ChargeCadence, cadenceRelation } from '../time/cadence.ts';

export interface SelectablePrice extends ChargeCadence {
  id: string;
}

/**
 * Which of a plan's prices a new subscription gets. Candidates are already the published prices in its currency, not ended and
 * not subscription-scoped. Without a list: those of equal cadence and one-time ones. With a list: exactly these, where also a
 * shorter cadence that divides the subscription's is accepted; an unknown, longer or non-dividing one and a duplicate are
 * refused, all of them named in `details.offending`, each once, in the order listed. The answer keeps the plan's order.
 * spec: subscriptions-and-invoicing §2.3.2
 */
export function selectPrices<P extends SelectablePrice>(
  subscription: ChargeCadence,
  candidates: readonly P[],
  includePriceIds?: readonly string[] | null,
): P[] {
  const attachable = (price: P, relations: string[]): boolean =>
    relations.includes(cadenceRelation(price, subscription));
  if (!includePriceIds) return candidates.filter((price) => attachable(price, ['equal', 'onetime']));
  const byId = new Map(candidates.map((price) => [price.id, price]));
  const named = Map.groupBy(includePriceIds, (id) => id);
  const isRefused = (id: string): boolean => {
    const price = byId.get(id);
    return named.get(id)!.length > 1 || !price || !attachable(price, ['equal', 'onetime', 'shorter']);
  };
  const ids = [...named.keys()].filter(isRefused);
  if (ids.length > 0) {
    throw refuse(
      'validation_error',
      `include_price_ids names prices that cannot be attached: ${ids.join(', ')}; each must be a price of the plan in the subscription's currency, named once, whose billing period divides the subscription's`,
      { fields: { include_price_ids: `cannot be attached: ${ids.join(', ')}` }, offending: ids },
    );
  }
  return candidates.filter((price) => named.has(price.id));
}

/**
 * Trial days a subscription inherits: the one trial_period of its recurring FIXED plan prices; different ones are refused.
 * spec: subscriptions-and-invoicing §1.2 trial_period_days
 */
export function inheritedTrialDays(
  prices: readonly { type: 'FIXED' | 'USAGE'; billingPeriod: string; trialPeriodDays: number }[],
): number {
  const lengths = new Set(
    prices
      .filter((price) => price.type === 'FIXED' && price.billingPeriod !== 'ONETIME')
      .map((price) => price.trialPeriodDays),
  );
  if (lengths.size > 1) {
    const given = [...lengths].sort((a, b) => a - b).join(', ');
    throw refuse('validation_error', `the plan's prices have trials of ${given} days: send trial_period_days`, {
      fields: { trial_period_days: "required, because the plan's prices have different trials" },
    });
  }
  return [...lengths][0] ?? 0;
}
