import { z } from 'zod';
import type { AnalyticsAmounts } from '../../billing/line/usage-analytics.ts';
import { reportedUsage } from '../../billing/line/usage-analytics.ts';
import { badField } from '../../db/rows/record.ts';
import type { AnalyticsItem } from '../../services/usage/analytics-item.ts';
import {
  addonIdOf,
  itemName,
  planIdOf,
  type UsageAnalytics,
  type UsageAnalyticsRequest,
} from '../../services/usage/usage-analytics.ts';
import { addonRecord, viewAddonRecord } from '../catalogue/addon-record.schema.ts';
import { feature, viewFeature } from '../catalogue/feature.schema.ts';
import { group, viewGroup } from '../catalogue/group.schema.ts';
import { meter, viewMeter, windowSizes } from '../catalogue/meter.schema.ts';
import { planRecord, viewPlanRecord } from '../catalogue/plan-record.schema.ts';
import { price, viewPrice } from '../catalogue/price.schema.ts';
import { jsonNumber } from '../decimal.ts';
import { decimalOutput, idListInput, timestampInput } from '../scalars.schema.ts';
import { commitmentInfoOutput } from '../subscription/subscription-commitment.schema.ts';
import { lineItem, viewLineItem } from '../subscription/subscription-view.schema.ts';
import { bucketSummaries, pointBuckets, viewBucketSummaries, viewPointBuckets } from './usage-time-bucket.schema.ts';

const propertyKey = /^properties\.([A-Za-z0-9_.]+)$/;
const groupings = ['source', 'feature_id', 'meter_id'];
/** What usage may be grouped by. spec: catalogue-and-metering §7.6 */
export const groupKey = z
  .string()
  .max(255)
  .refine((name) => groupings.includes(name) || propertyKey.test(name), {
    message: `must be one of ${groupings.join(', ')} or properties.<name> of letters, digits, _ and .`,
  });

/** What may be shown whole beside an item. spec: catalogue-and-metering §7.6 expand */
export const analyticsExpansions = [
  'price',
  'meter',
  'feature',
  'subscription_line_item',
  'plan',
  'addon',
  'source',
] as const;

export const propertyFiltersInput = z.record(z.string().min(1), z.array(z.string()).max(1000));

/** What analytics of usage have in common. */
export const analyticsFields = {
  external_customer_id: z.string().min(1, 'is required').max(255),
  feature_ids: idListInput().nullish(),
  sources: z.array(z.string().max(1000)).max(1000).nullish(),
  start_time: timestampInput().nullish(),
  end_time: timestampInput().nullish(),
  group_by: z.array(groupKey).max(10).nullish(),
  window_size: z.enum(windowSizes).nullish(),
  expand: z.array(z.enum(analyticsExpansions)).max(20).nullish(),
  property_filters: propertyFiltersInput.nullish(),
  include_children: z.boolean().nullish(),
  breakdown_bucket: z
    .boolean()
    .nullish()
    .describe('Takes usage apart by the time buckets of commitments; needs window_size and a line that has them.'),
};

/** spec: catalogue-and-metering §7.6 */
export const usageAnalyticsBody = z.object(analyticsFields).meta({
  id: 'GetUsageAnalyticsRequest',
  examples: [{ external_customer_id: 'acme', group_by: ['properties.region'], window_size: 'DAY' }],
});
/** The same of the customer of a portal session. spec: platform §11 */
export const portalAnalyticsBody = z
  .object(analyticsFields)
  .omit({ external_customer_id: true, include_children: true, breakdown_bucket: true })
  .nullish();
type UsageAnalyticsBody = z.output<typeof usageAnalyticsBody>;

/** A body in the words of the store. Throws `validation_error`. */
export function usageAnalyticsRequest(body: Partial<UsageAnalyticsBody>): UsageAnalyticsRequest {
  checkInterval(body);
  checkBreakdown(body);
  const { bySource, byProperties } = groupingOf(body.group_by);
  return {
    featureIds: body.feature_ids ?? [],
    startTime: body.start_time ?? null,
    endTime: body.end_time ?? null,
    propertyFilters: body.property_filters ?? {},
    includeChildren: body.include_children ?? false,
    sources: body.sources ?? [],
    bySource,
    byProperties,
    windowSize: body.window_size ?? null,
    byTimeBucket: body.breakdown_bucket ?? false,
    listSources: body.expand?.includes('source') ?? false,
    withPlans: body.expand?.includes('plan') ?? false,
    withAddons: body.expand?.includes('addon') ?? false,
  };
}

/** A line has one feature and one meter, so only source and properties take its usage apart. */
export function groupingOf(groupBy: readonly string[] | null | undefined) {
  const names = groupBy ?? [];
  return {
    bySource: names.includes('source'),
    byProperties: [...new Set(names.flatMap((name) => propertyKey.exec(name)?.[1] ?? []))],
  };
}

/** Before anything is looked for. spec: catalogue-and-metering §7.6, §1.4 */
export function checkInterval({
  start_time,
  end_time,
}: {
  start_time?: string | null | undefined;
  end_time?: string | null | undefined;
}): void {
  if (start_time && end_time && end_time < start_time) throw badField('end_time', 'must not be before start_time');
}

/** Time buckets belong to commitments of lines. spec: catalogue-and-metering §7.6 breakdown_bucket */
export function checkBreakdown(body: { breakdown_bucket?: boolean | null | undefined; window_size?: unknown }): void {
  if (!body.breakdown_bucket || body.window_size) return;
  throw badField('breakdown_bucket', 'needs window_size: send one, such as HOUR');
}

const money = { subtotal: decimalOutput(), total_discount: decimalOutput(), total_cost: decimalOutput() };

const point = z
  .object({
    timestamp: z.string(),
    usage: decimalOutput(),
    subtotal: decimalOutput(),
    discount: decimalOutput(),
    cost: decimalOutput(),
    event_count: z.int(),
    computed_commitment_utilized_amount: decimalOutput().nullable(),
    computed_overage_amount: decimalOutput().nullable(),
    computed_true_up_amount: decimalOutput().nullable(),
    buckets: pointBuckets.nullable(),
  })
  .meta({ id: 'UsageAnalyticPoint' });

const item = z
  .object({
    feature_id: z.string().nullable(),
    name: z.string(),
    price_id: z.string(),
    meter_id: z.string(),
    sub_line_item_id: z.string(),
    subscription_id: z.string(),
    plan_id: z.string().nullable(),
    add_on_id: z.string().nullable(),
    event_name: z.string(),
    source: z.string().nullable(),
    sources: z.array(z.string()).nullable(),
    unit: z.string().nullable(),
    unit_plural: z.string().nullable(),
    aggregation_type: z.string(),
    total_usage: decimalOutput(),
    total_usage_display: z.string(),
    reporting_unit: feature.shape.reporting_unit,
    ...money,
    currency: z.string(),
    event_count: z.int(),
    properties: z.record(z.string(), z.string()),
    commitment_info: commitmentInfoOutput.nullable(),
    window_size: z.enum(windowSizes).nullable(),
    group: group.nullable(),
    points: z.array(point),
    bucket_summaries: bucketSummaries.nullable(),
    price: price.nullable(),
    meter: meter.nullable(),
    feature: feature.nullable(),
    subscription_line_item: lineItem.nullable(),
    plan: planRecord.nullable(),
    addon: addonRecord.nullable(),
  })
  .meta({ id: 'UsageAnalyticItem' });

export const usageAnalyticsAnswer = z
  .object({
    ...money,
    currency: z.string().nullable(),
    items: z.array(item),
    custom_analytics: z.array(
      z
        .object({
          id: z.string(),
          name: z.string(),
          type: z.string(),
          feature_name: z.string(),
          value: decimalOutput(),
        })
        .meta({ id: 'CustomAnalyticItem' }),
    ),
  })
  .meta({ id: 'GetUsageAnalyticsResponse' });

export function viewUsageAnalytics(
  analytics: UsageAnalytics,
  body: Partial<UsageAnalyticsBody>,
): z.output<typeof usageAnalyticsAnswer> {
  return {
    ...viewMoney(analytics),
    currency: analytics.currency,
    items: analytics.items.map((each) => viewItem(each, body)),
    custom_analytics: analytics.custom.map(({ targetName, ...rest }) => ({ ...rest, feature_name: targetName })),
  };
}

function viewMoney({ subtotal, discount, cost }: AnalyticsAmounts) {
  return { subtotal, total_discount: discount, total_cost: cost };
}

function viewItem(analyticsItem: AnalyticsItem, body: Partial<UsageAnalyticsBody>): z.output<typeof item> {
  const { line, part } = analyticsItem;
  const unit = line.feature?.reportingUnit ?? null;
  return {
    feature_id: line.feature?.id ?? null,
    name: itemName(line),
    price_id: line.price.id,
    meter_id: line.meter.id,
    sub_line_item_id: line.item.id,
    subscription_id: line.subscription.id,
    plan_id: planIdOf(line)[0] ?? null,
    add_on_id: addonIdOf(line)[0] ?? null,
    event_name: line.meter.eventName,
    source: part.source,
    sources: part.sources,
    unit: line.feature?.unitSingular || null,
    unit_plural: line.feature?.unitPlural || null,
    aggregation_type: line.meter.aggregation.type,
    total_usage: part.usage,
    total_usage_display: unit ? reportedUsage(part.usage, unit.conversion_rate) : '',
    reporting_unit: unit ? { ...unit, conversion_rate: jsonNumber(unit.conversion_rate) } : null,
    ...viewMoney(analyticsItem),
    currency: analyticsItem.currency,
    event_count: part.eventCount,
    properties: part.properties,
    commitment_info: analyticsItem.committed?.info ?? null,
    window_size: body.window_size ?? null,
    group: analyticsItem.group ? viewGroup(analyticsItem.group) : null,
    points: part.points.map((each, index) => viewPoint(each, analyticsItem, index, body.breakdown_bucket === true)),
    bucket_summaries: body.breakdown_bucket ? viewBucketSummaries(analyticsItem) : null,
    ...expansionsOf(analyticsItem, new Set(body.expand)),
  };
}

function viewPoint(
  { timestamp, usage, eventCount }: AnalyticsItem['part']['points'][number],
  analyticsItem: AnalyticsItem,
  index: number,
  byTimeBucket: boolean,
): z.output<typeof point> {
  const { subtotal, discount, cost } = analyticsItem.pointAmounts[index]!;
  const committed = analyticsItem.committed?.points?.[index];
  return {
    timestamp,
    usage,
    subtotal,
    discount,
    cost,
    event_count: eventCount,
    computed_commitment_utilized_amount: committed?.utilized ?? null,
    computed_overage_amount: committed?.overage ?? null,
    computed_true_up_amount: committed?.trueUp ?? null,
    buckets: byTimeBucket ? viewPointBuckets(analyticsItem, index) : null,
  };
}

function expansionsOf({ line, plan, addon, unit }: AnalyticsItem, shown: ReadonlySet<string>) {
  return {
    price: shown.has('price') ? viewPrice(line.price, { unit }) : null,
    meter: shown.has('meter') ? viewMeter(line.meter) : null,
    feature: shown.has('feature') && line.feature ? viewFeature(line.feature, null) : null,
    subscription_line_item: shown.has('subscription_line_item')
      ? viewLineItem({ row: line.item, price: line.price, unit })
      : null,
    plan: plan ? viewPlanRecord(plan) : null,
    addon: addon ? viewAddonRecord(addon) : null,
  };
}
