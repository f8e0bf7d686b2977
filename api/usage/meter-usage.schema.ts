import { z } from 'zod';
import type { DetailedUsage, DetailedUsageRequest } from '../../metering/detailed-usage.ts';
import { aggregationTypes } from '../../metering/meter.ts';
import type { MeterUsage, MeterUsageRequest } from '../../metering/meter-usage.ts';
import type { AnalyticsItem } from '../../services/usage/analytics-item.ts';
import { feature, viewFeature } from '../catalogue/feature.schema.ts';
import { meter, viewMeter, windowSizes } from '../catalogue/meter.schema.ts';
import { decimalOutput, idListInput, timestampInput } from '../scalars.schema.ts';
import { analyticsFields, checkBreakdown, checkInterval, groupingOf } from './usage-analytics.schema.ts';
import { bucketSummaries, pointBuckets, viewBucketSummaries, viewPointBuckets } from './usage-time-bucket.schema.ts';

const questionFields = {
  external_customer_id: z.string().min(1, 'is required').max(255),
  start_time: timestampInput(),
  end_time: timestampInput(),
  aggregation_type: z
    .string()
    .transform((type) => type.toUpperCase())
    .pipe(z.enum(aggregationTypes)),
  window_size: z.enum(windowSizes).nullish(),
  billing_anchor: timestampInput().nullish(),
};

/** spec: catalogue-and-metering §7.5 */
export const meterUsageBody = z
  .object({ ...questionFields, meter_id: z.string().min(1, 'is required').max(255) })
  .meta({ id: 'MeterUsageQueryRequest' });

export const metersUsageBody = z
  .object({ ...questionFields, meter_ids: idListInput().min(1, 'must name at least one meter') })
  .meta({ id: 'MeterUsageAnalyticsRequest' });

/** A question to one meter or several, in the words of the engine. */
export function meterUsageRequest(
  body: z.output<typeof meterUsageBody> | z.output<typeof metersUsageBody>,
): MeterUsageRequest {
  return {
    externalCustomerId: body.external_customer_id,
    meterIds: 'meter_ids' in body ? body.meter_ids : [body.meter_id],
    from: micros(body.start_time),
    to: micros(body.end_time),
    type: body.aggregation_type,
    windowSize: body.window_size ?? null,
    billingAnchor: body.billing_anchor ?? null,
  };
}

/** Milliseconds as the six decimals the engine compares. */
function micros(instant: string): string {
  return instant.replace(/\.(\d{3})Z$/, '.$1000Z');
}

const point = z.object({ timestamp: z.string(), value: decimalOutput(), event_count: z.int() });

export const meterUsageAnswer = z
  .object({
    meter_id: z.string(),
    aggregation_type: z.enum(aggregationTypes),
    total_value: decimalOutput(),
    event_count: z.int(),
    points: z.array(point),
  })
  .meta({ id: 'MeterUsageResponse' });

export const metersUsageAnswer = z.object({ items: z.array(meterUsageAnswer) }).meta({ id: 'MeterUsageListResponse' });

export function viewMeterUsage(usage: MeterUsage): z.output<typeof meterUsageAnswer> {
  return {
    meter_id: usage.meterId,
    aggregation_type: usage.type,
    total_value: usage.value,
    event_count: usage.eventCount,
    points: usage.points.map(viewPoint),
  };
}

function viewPoint({ timestamp, value, eventCount }: MeterUsage['points'][number]) {
  return { timestamp, value, event_count: eventCount };
}

export const detailedUsageBody = z
  .object({
    ...analyticsFields,
    meter_ids: idListInput().nullish(),
    billing_anchor: timestampInput().nullish(),
    expand: z
      .array(z.enum(['meter', 'feature', 'source']))
      .max(20)
      .nullish(),
  })
  .meta({ id: 'MeterUsageDetailedAnalyticsRequest' });
type DetailedUsageBody = z.output<typeof detailedUsageBody>;

/** A body in the words of the engine. Throws `validation_error`. */
export function detailedUsageRequest(body: DetailedUsageBody): DetailedUsageRequest {
  checkInterval(body);
  checkBreakdown(body);
  return {
    externalCustomerId: body.external_customer_id,
    meterIds: body.meter_ids ?? [],
    featureIds: body.feature_ids ?? [],
    startTime: body.start_time ?? null,
    endTime: body.end_time ?? null,
    sources: body.sources ?? [],
    propertyFilters: body.property_filters ?? {},
    ...groupingOf(body.group_by),
    windowSize: body.window_size ?? null,
    billingAnchor: body.billing_anchor ?? null,
    includeChildren: body.include_children ?? false,
    listSources: body.expand?.includes('source') ?? false,
  };
}

export const detailedUsageAnswer = z
  .object({
    items: z.array(
      z
        .object({
          meter_id: z.string(),
          feature_id: z.string().nullable(),
          source: z.string().nullable(),
          sources: z.array(z.string()).nullable(),
          properties: z.record(z.string(), z.string()),
          total_usage: decimalOutput(),
          max_usage: decimalOutput(),
          latest_usage: decimalOutput(),
          count_unique_usage: z.int(),
          event_count: z.int(),
          points: z.array(point.extend({ buckets: pointBuckets.nullable() })),
          bucket_summaries: bucketSummaries.nullable(),
          meter: meter.nullable(),
          feature: feature.nullable(),
        })
        .meta({ id: 'DetailedMeterUsage' }),
    ),
  })
  .meta({ id: 'DetailedMeterUsageResponse' });

/** `lines` are those of the customer where time buckets were asked for: a meter shows the buckets of all lines it measures. */
export function viewDetailedUsage(
  items: readonly DetailedUsage[],
  { expand }: DetailedUsageBody,
  lines: readonly AnalyticsItem[] = [],
): z.output<typeof detailedUsageAnswer> {
  return {
    items: items.map((item) => ({
      meter_id: item.meter.id,
      feature_id: item.feature?.id ?? null,
      source: item.source,
      sources: item.sources,
      properties: item.properties,
      total_usage: item.total,
      max_usage: item.greatest,
      latest_usage: item.latest,
      count_unique_usage: item.distinctCount,
      event_count: item.eventCount,
      ...viewTimeBuckets(item, lines),
      meter: expand?.includes('meter') ? viewMeter(item.meter) : null,
      feature: expand?.includes('feature') && item.feature ? viewFeature(item.feature, null) : null,
    })),
  };
}

function viewTimeBuckets({ meter: { id }, points }: DetailedUsage, lines: readonly AnalyticsItem[]) {
  const own = lines.filter((line) => line.line.meter.id === id);
  const summaries = own.flatMap((line) => viewBucketSummaries(line) ?? []);
  const bucketsAt = (timestamp: string) =>
    own.flatMap((line) => {
      const index = line.part.points.findIndex((each) => each.timestamp === timestamp);
      return index < 0 ? [] : (viewPointBuckets(line, index) ?? []);
    });
  const isBroken = summaries.length > 0;
  return {
    points: points.map((each) => ({ ...viewPoint(each), buckets: isBroken ? bucketsAt(each.timestamp) : null })),
    bucket_summaries: isBroken ? summaries : null,
  };
}
