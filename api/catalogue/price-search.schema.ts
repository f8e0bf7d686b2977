import { z } from 'zod';
import type { PriceFilters } from '../../services/catalogue/catalogue-lists.ts';
import { listQuery, searchBody } from '../list.ts';
import { booleanQuery, idListInput, idListQuery, timestampInput } from '../scalars.schema.ts';
import { billingPeriods, priceEntityTypes } from './price-input.schema.ts';

const expand = ['meters', 'priceunit', 'plan', 'addons', 'groups'];
const id = z.string().max(255);
const periods = z.array(z.enum(billingPeriods));
const entityType = z.enum(priceEntityTypes);

export const priceSearch = searchBody(
  {
    price_ids: idListInput().nullish(),
    plan_ids: idListInput().nullish(),
    entity_type: entityType.nullish(),
    entity_ids: idListInput().nullish(),
    meter_ids: idListInput().nullish(),
    billing_periods: periods.nullish(),
    subscription_id: id.nullish(),
    parent_price_id: id.nullish(),
    lookup_keys: idListInput().nullish(),
    start_date_lt: timestampInput().nullish(),
    allow_expired_prices: z.boolean().nullish(),
  },
  expand,
);

export const priceListQuery = listQuery(
  {
    price_ids: idListQuery().optional(),
    plan_ids: idListQuery().optional(),
    entity_type: entityType.optional(),
    entity_ids: idListQuery().optional(),
    meter_ids: idListQuery().optional(),
    billing_periods: idListQuery().pipe(periods).optional(),
    subscription_id: id.optional(),
    parent_price_id: id.optional(),
    lookup_keys: idListQuery().optional(),
    start_date_lt: timestampInput().optional(),
    allow_expired_prices: booleanQuery().optional(),
  },
  expand,
);

export type PriceSearch = z.output<typeof priceSearch> | z.output<typeof priceListQuery>;

export function priceFilters(search: PriceSearch): PriceFilters {
  return {
    priceIds: search?.price_ids,
    planIds: search?.plan_ids,
    entityType: search?.entity_type,
    entityIds: search?.entity_ids,
    meterIds: search?.meter_ids,
    billingPeriods: search?.billing_periods,
    subscriptionId: search?.subscription_id,
    parentPriceId: search?.parent_price_id,
    lookupKeys: search?.lookup_keys,
    startDateBefore: search?.start_date_lt,
    allowExpiredPrices: search?.allow_expired_prices,
  };
}
