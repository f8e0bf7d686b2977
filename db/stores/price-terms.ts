import type { PriceTerms } from '../../billing/price.ts';
import type { PriceColumns } from './price.ts';

/** What decides the cost of a price's row, in the words of the rules. spec: catalogue-and-metering §4.3 */
export function priceTermsOf(price: PriceColumns): PriceTerms {
  return {
    billing_model: price.billingModel as PriceTerms['billing_model'],
    currency: price.currency,
    amount: price.amount ?? null,
    tier_mode: (price.tierMode ?? null) as 'VOLUME' | 'SLAB' | null,
    tiers: price.tiers ?? null,
    transform_quantity: price.transformQuantity ?? null,
    percentage_rate: price.percentageRate ?? null,
  };
}
