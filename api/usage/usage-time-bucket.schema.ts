import { z } from 'zod';
import type { AnalyticsItem } from '../../services/usage/analytics-item.ts';
import { decimalOutput } from '../scalars.schema.ts';

/** Which time buckets a window touches; usage outside of all is at the line's own price and has no bucket. spec: §7.6 */
export const pointBuckets = z.array(
  z.object({ bucket_id: z.string().nullable(), price_id: z.string() }).meta({ id: 'PointBucket' }),
);

const timeOfDay = z.object({ hour: z.int(), minute: z.int() });

/** What each time of the day used and came to, and last, without a bucket, all others together. spec: catalogue-and-metering §7.6 */
export const bucketSummaries = z.array(
  z
    .object({
      bucket_id: z.string().nullable(),
      subscription_line_item_id: z.string(),
      price_id: z.string(),
      start: timeOfDay.nullable(),
      end: timeOfDay.nullable(),
      commitment_type: z.string().nullable(),
      commitment_value: decimalOutput().nullable(),
      total_usage: decimalOutput(),
      base_charge: decimalOutput(),
      computed_utilized: decimalOutput(),
      computed_overage: decimalOutput(),
      computed_true_up: decimalOutput(),
    })
    .meta({ id: 'BucketSummary' }),
);

/** Null for a line without time buckets, and where something takes its usage apart. */
export function viewBucketSummaries({ line, committed }: AnalyticsItem): z.output<typeof bucketSummaries> | null {
  if (!committed || committed.timeBuckets.length === 0) return null;
  return committed.timeBuckets.map(({ bucketId, usage, base, utilized, overage, trueUp }) => {
    const bucket = storedBucket(line, bucketId);
    return {
      bucket_id: bucketId,
      subscription_line_item_id: line.item.id,
      price_id: bucket?.price_id ?? line.price.id,
      start: bucket?.start ?? null,
      end: bucket?.end ?? null,
      commitment_type: bucket?.commitment_type ?? null,
      commitment_value: bucket?.commitment_value ?? null,
      total_usage: usage,
      base_charge: base,
      computed_utilized: utilized,
      computed_overage: overage,
      computed_true_up: trueUp,
    };
  });
}

/** Null like the summaries of the item. */
export function viewPointBuckets(
  { line, committed }: AnalyticsItem,
  index: number,
): z.output<typeof pointBuckets> | null {
  if (!committed || committed.timeBuckets.length === 0) return null;
  const ids = committed.points?.[index]?.bucketIds ?? [];
  return ids.map((id) => ({ bucket_id: id, price_id: storedBucket(line, id)?.price_id ?? line.price.id }));
}

function storedBucket({ item }: AnalyticsItem['line'], id: string | null) {
  return id === null ? null : ((item.commitmentTimeBuckets ?? []).find((bucket) => bucket.id === id) ?? null);
}
