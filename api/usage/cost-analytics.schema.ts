import { z } from 'zod';
import { badField } from '../../db/rows/record.ts';
import type { CostAnalytics, CostAnalyticsRequest, CostItem } from '../../services/usage/cost-analytics.ts';
import { meter, viewMeter } from '../catalogue/meter.schema.ts';
import { price, viewPrice } from '../catalogue/price.schema.ts';
import { offsetInput } from '../list.ts';
import { decimalOutput, idListInput, timestampInput, timestampOutput } from '../scalars.schema.ts';
import { checkInterval, propertyFiltersInput } from './usage-analytics.schema.ts';

/** spec: catalogue-and-metering §10.2 */
export const costAnalyticsBody = z
  .object({
    start_time: timestampInput().nullish(),
    end_time: timestampInput().nullish(),
    external_customer_id: z.string().max(255).nullish(),
    feature_ids: idListInput().nullish(),
    expand: z
      .array(z.enum(['meter', 'price']))
      .max(20)
      .nullish(),
    property_filters: propertyFiltersInput.nullish(),
    include_children: z.boolean().nullish(),
    limit: z.int().min(0).max(1000).nullish(),
    offset: offsetInput.nullish(),
  })
  .meta({ id: 'GetCostAnalyticsRequest', examples: [{ external_customer_id: 'acme', expand: ['meter', 'price'] }] });
type CostAnalyticsBody = z.output<typeof costAnalyticsBody>;

/** A body in the words of the store. Throws `validation_error` for one time without the other, or in the wrong order. */
export function costAnalyticsRequest(body: CostAnalyticsBody): CostAnalyticsRequest {
  const startTime = body.start_time ?? null;
  const endTime = body.end_time ?? null;
  if ((startTime === null) !== (endTime === null)) {
    const absent = startTime === null ? 'start_time' : 'end_time';
    throw badField(absent, 'is required with the other one: send both, or neither for the last seven days');
  }
  checkInterval(body);
  return {
    externalCustomerId: body.external_customer_id || null,
    featureIds: body.feature_ids ?? [],
    startTime,
    endTime,
    propertyFilters: body.property_filters ?? {},
    includeChildren: body.include_children ?? false,
  };
}

const costItem = z
  .object({
    costsheet_id: z.string(),
    customer_id: z.string().nullable(),
    external_customer_id: z.string().nullable(),
    meter_id: z.string(),
    meter_name: z.string(),
    price_id: z.string(),
    source: z.null(),
    properties: z.record(z.string(), z.string()),
    total_quantity: decimalOutput(),
    total_events: z.int(),
    total_cost: decimalOutput(),
    currency: z.string(),
    cost_by_period: z.array(
      z.object({ timestamp: z.string(), quantity: decimalOutput(), event_count: z.int(), cost: decimalOutput() }),
    ),
    meter: meter.nullable(),
    price: price.nullable(),
  })
  .meta({ id: 'CostAnalyticItem' });

export const costAnalyticsAnswer = z
  .object({
    cost_analytics: z.array(costItem),
    total_revenue: decimalOutput(),
    total_cost: decimalOutput(),
    margin: decimalOutput(),
    margin_percent: decimalOutput(),
    roi: decimalOutput(),
    roi_percent: decimalOutput(),
    currency: z.string().nullable(),
    start_time: timestampOutput(),
    end_time: timestampOutput(),
  })
  .meta({ id: 'GetDetailedCostAnalyticsResponse' });

/** `limit` and `offset` page the rows; the totals are of all of them. */
export function viewCostAnalytics(found: CostAnalytics, body: CostAnalyticsBody): z.output<typeof costAnalyticsAnswer> {
  const offset = body.offset ?? 0;
  const items = found.items.slice(offset, body.limit ? offset + body.limit : undefined);
  return {
    cost_analytics: items.map((item) => viewCostItem(item, found, body)),
    total_revenue: found.revenue,
    total_cost: found.cost,
    margin: found.margin,
    margin_percent: found.marginPercent,
    roi: found.roi,
    roi_percent: found.roiPercent,
    currency: found.currency,
    start_time: found.interval.start,
    end_time: found.interval.end,
  };
}

function viewCostItem(
  item: CostItem,
  { customer }: CostAnalytics,
  { expand }: CostAnalyticsBody,
): z.output<typeof costItem> {
  return {
    costsheet_id: item.costsheet.id,
    customer_id: customer?.id ?? null,
    external_customer_id: customer?.externalId ?? null,
    meter_id: item.meter.id,
    meter_name: item.meter.name,
    price_id: item.price.id,
    source: null,
    properties: {},
    total_quantity: item.quantity,
    total_events: item.eventCount,
    total_cost: item.cost,
    currency: item.price.currency,
    cost_by_period: item.periods.map(({ timestamp, quantity, eventCount, cost }) => ({
      timestamp,
      quantity,
      event_count: eventCount,
      cost,
    })),
    meter: expand?.includes('meter') ? viewMeter(item.meter) : null,
    price: expand?.includes('price') ? viewPrice(item.price) : null,
  };
}
