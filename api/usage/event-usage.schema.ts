import { z } from 'zod';
import { refuse } from '../../billing/refusal.ts';
import { aggregationTypes } from '../../metering/meter.ts';
import type { SeriesWindows } from '../../metering/series-window.ts';
import { utcInstant } from '../../metering/timestamp.ts';
import type { UsageAnswer, UsageQuestion, UsageSeries } from '../../metering/usage-store.ts';
import { windowSizes } from '../catalogue/meter.schema.ts';
import { jsonNumber } from '../decimal.ts';
import { decimalInput, numberOutput } from '../scalars.schema.ts';

const windowSize = z.enum(windowSizes);

const common = {
  external_customer_id: z.string().nullish(),
  customer_id: z.string().nullish(),
  start_time: z.string().nullish(),
  end_time: z.string().nullish(),
  window_size: windowSize.nullish(),
  bucket_size: windowSize.nullish().describe('With MAX and SUM only: the buckets whose values are added up.'),
  filters: z.record(z.string(), z.array(z.string())).nullish(),
  billing_anchor: z.string().nullish(),
  timezone: z.string().nullish(),
};

/** A question about events of a name. spec: catalogue-and-metering §7.3 */
export const usageBody = z
  .object({
    ...common,
    event_name: z.string().min(1, 'is required'),
    aggregation_type: z
      .string()
      .transform((type) => type.toUpperCase())
      .pipe(z.enum(aggregationTypes)),
    property_name: z.string().nullish(),
    multiplier: decimalInput({ above: '0' }).nullish(),
    group_by: z
      .union([groupKey(), z.array(groupKey()).max(1)])
      .nullish()
      .describe(
        'With MAX: the greatest of each value of the property, added up. Other sums are the same with and without.',
      ),
    group_by_property: groupKey().nullish().describe('Another name of group_by.'),
  })
  .meta({ id: 'GetUsageRequest' });

/** A question about a meter. spec: catalogue-and-metering §7.4 */
export const usageByMeterBody = z
  .object({ ...common, meter_id: z.string().min(1, 'is required') })
  .meta({ id: 'GetUsageByMeterRequest' });

function groupKey() {
  return z.string().regex(/^properties\.[A-Za-z0-9_.]+$/, 'must look like properties.<name>');
}

export const usageAnswer = z
  .object({
    event_name: z.string(),
    type: z.enum(aggregationTypes),
    value: numberOutput(),
    results: z.array(z.object({ window_size: z.string(), value: numberOutput() })),
  })
  .meta({ id: 'GetUsageResponse' });

type Common = Pick<z.output<typeof usageByMeterBody>, keyof typeof common>;

const bucketedTypes: readonly string[] = ['MAX', 'SUM'];
/** Averages, last values and distinct counts of groups do not add up to anything. */
const ungroupedTypes: readonly string[] = ['AVG', 'LATEST', 'COUNT_UNIQUE'];

/** The question of a body about events of a name. Throws `validation_error`. spec: catalogue-and-metering §7.3 */
export function usageQuestion(body: z.output<typeof usageBody>): UsageQuestion {
  const type = body.property_name ? body.aggregation_type : 'COUNT';
  if (body.aggregation_type === 'SUM_WITH_MULTIPLIER' && !body.multiplier) {
    throw invalid('multiplier', 'is required with SUM_WITH_MULTIPLIER');
  }
  if (body.multiplier && body.aggregation_type !== 'SUM_WITH_MULTIPLIER') {
    throw invalid('multiplier', 'is accepted with SUM_WITH_MULTIPLIER only');
  }
  if (body.bucket_size && !bucketedTypes.includes(body.aggregation_type)) {
    throw invalid('bucket_size', 'is accepted with MAX and SUM only');
  }
  const groupBy = groupOf(body);
  if (groupBy && ungroupedTypes.includes(body.aggregation_type)) {
    throw invalid('group_by', `is not accepted with ${ungroupedTypes.join(', ')}`);
  }
  return {
    ...commonQuestion(body),
    eventName: body.event_name.trim(),
    type,
    field: body.property_name ?? null,
    bucketSize: bucketedTypes.includes(type) ? (body.bucket_size ?? null) : null,
    groupBy: type === 'MAX' ? groupBy : null,
    multiplier: type === 'SUM_WITH_MULTIPLIER' ? (body.multiplier ?? null) : null,
  };
}

/** The property a body groups by, without its prefix; dots in it are plain characters. */
function groupOf(body: z.output<typeof usageBody>): string | null {
  const [first] = [body.group_by ?? []].flat();
  return (first ?? body.group_by_property)?.replace(/^properties\./, '') ?? null;
}

/** The question of a body about a meter; its `bucket_size` has to suit the meter's. spec: catalogue-and-metering §7.4 */
export function usageQuestionByMeter(body: z.output<typeof usageByMeterBody>): UsageQuestion {
  return { ...commonQuestion(body), meterId: body.meter_id, bucketSize: body.bucket_size ?? null };
}

/** The windows a body asks for; null for none. */
export function usageWindows(body: Common): SeriesWindows | null {
  if (!body.window_size) return null;
  return { windowSize: body.window_size, timezone: body.timezone || 'UTC', billingAnchor: billingAnchorOf(body) };
}

function billingAnchorOf(body: Common): string | null {
  return body.billing_anchor ? instantField('billing_anchor', body.billing_anchor) : null;
}

function commonQuestion(body: Common) {
  const customers = body.external_customer_id
    ? { externalCustomerIds: [body.external_customer_id] }
    : body.customer_id
      ? { customerIds: [body.customer_id] }
      : {};
  return {
    key: 'whole',
    ...timeRange(body),
    ...customers,
    ...(body.filters ? { filters: body.filters } : {}),
    timezone: body.timezone || 'UTC',
    billingAnchor: billingAnchorOf(body),
  };
}

const defaultRangeMs = 7 * 24 * 3_600_000;

/** The interval of a body: the last seven days where it says nothing. Throws `validation_error` when it ends before it starts. */
export function timeRange(body: { start_time?: string | null | undefined; end_time?: string | null | undefined }): {
  from: string;
  to: string;
} {
  const to = body.end_time ? instantField('end_time', body.end_time) : micros(Date.now());
  const from = body.start_time ? instantField('start_time', body.start_time) : micros(Date.parse(to) - defaultRangeMs);
  if (to < from) throw invalid('end_time', 'must not be before start_time');
  return { from, to };
}

function micros(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}

function instantField(field: string, text: string): string {
  const instant = utcInstant(text);
  if (instant === null) throw invalid(field, 'must be an RFC 3339 time with a zone, such as 2026-01-31T00:00:00Z');
  return instant;
}

function invalid(field: string, reason: string) {
  return refuse('validation_error', `${field} ${reason}`, { fields: { [field]: reason } });
}

/** The answer with its windows; those without events are left out. spec: §7.2, §7.3 */
export function viewUsage(whole: UsageAnswer, points: UsageSeries['points']): z.output<typeof usageAnswer> {
  return {
    event_name: whole.eventName,
    type: whole.type,
    value: jsonNumber(whole.value),
    results: points.map(({ start, value }) => ({ window_size: start, value: jsonNumber(value) })),
  };
}
