import type { PriceTerms } from '../../../billing/price/price-terms.ts';
import type { Price } from '../../../db/entities/catalogue/price.ts';
import type { Transaction } from '../../../db/transaction.ts';
import type { PriceColumns } from './price.ts';
import { priceUnitsById } from './price-unit.ts';

/** The members of a price's row that decide its cost. */
type RatedColumns = Pick<
  PriceColumns,
  | 'billingModel'
  | 'currency'
  | 'amount'
  | 'tierMode'
  | 'tiers'
  | 'transformQuantity'
  | 'percentageRate'
  | 'priceUnit'
  | 'priceUnitId'
  | 'priceUnitAmount'
  | 'priceUnitTiers'
>;

/**
 * What decides the cost of a price's row, in the words of the rules: of a CUSTOM price the terms in its custom currency with
 * `rate`, the one in force now, whatever the fiat amounts on the row were made with. spec: catalogue-and-metering §4.3, §4.5
 */
export function ratedTerms(price: RatedColumns, rate: string | null): PriceTerms {
  const custom = price.priceUnitId && rate !== null;
  return {
    billing_model: price.billingModel as PriceTerms['billing_model'],
    currency: price.currency,
    amount: (custom ? price.priceUnitAmount : price.amount) ?? null,
    tier_mode: (price.tierMode ?? null) as 'VOLUME' | 'SLAB' | null,
    tiers: (custom ? price.priceUnitTiers : price.tiers) ?? null,
    transform_quantity: price.transformQuantity ?? null,
    percentage_rate: price.percentageRate ?? null,
    ...(custom ? { price_unit: { id: price.priceUnitId!, code: price.priceUnit!, rate } } : {}),
  };
}

/** The terms of prices as an invoice computed now would have them, by price id. spec: catalogue-and-metering §4.5 */
export async function currentTermsOf(tx: Transaction, prices: readonly Price[]): Promise<Map<string, PriceTerms>> {
  const units = await priceUnitsById(
    tx,
    prices.map((price) => price.priceUnitId),
  );
  const rateOf = (price: Price) => units.get(price.priceUnitId ?? '')?.conversionRate ?? price.conversionRate ?? null;
  return new Map(prices.map((price) => [price.id, ratedTerms(price, rateOf(price))]));
}

/** The terms of one price, stored or not, as an invoice computed now would have them. */
export async function currentTerms(tx: Transaction, price: PriceColumns): Promise<PriceTerms> {
  const unit = (await priceUnitsById(tx, [price.priceUnitId])).get(price.priceUnitId ?? '');
  return ratedTerms(price, unit?.conversionRate ?? price.conversionRate ?? null);
}
