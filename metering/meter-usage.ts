import { refuse } from '../billing/refusal.ts';
import { windowSizes } from '../billing/time/window.ts';
import type { Meter } from '../db/entities/catalogue/meter.ts';
import { Customer } from '../db/entities/customer/customer.ts';
import { badField, missing } from '../db/rows/record.ts';
import type { Transaction } from '../db/transaction.ts';
import { metersById } from '../services/catalogue/meter.ts';
import type { AggregationType } from './meter.ts';
import { bucketPoints, seriesQuestions, windowsToAsk } from './series.ts';
import type { SeriesWindow, SeriesWindows } from './series-window.ts';
import type { UsageMeasure, UsageQuestion, UsageStore } from './usage-store.ts';

/** What meters are asked. Instants are RFC 3339 texts in UTC with six decimals. */
export interface MeterUsageRequest {
  externalCustomerId: string;
  meterIds: readonly string[];
  from: string;
  to: string;
  /** In place of the meter's own. */
  type: AggregationType;
  windowSize: string | null;
  billingAnchor: string | null;
}

export interface MeterUsage {
  meterId: string;
  type: AggregationType;
  value: string;
  eventCount: number;
  /** Windows with events, by their natural start. */
  points: { timestamp: string; value: string; eventCount: number }[];
}

/**
 * How much of each meter a customer used, aggregated as asked: all meters and windows in one statement. Windows are of the
 * customer's time zone. An external id that nobody holds has used what its events say. Throws `not_found` for an unknown meter,
 * `validation_error` where a meter has nothing to aggregate so. spec: catalogue-and-metering §7.5
 */
export async function meterUsage(
  tx: Transaction,
  store: UsageStore,
  request: MeterUsageRequest,
): Promise<MeterUsage[]> {
  const { externalCustomerId, from, to, type, windowSize, billingAnchor } = request;
  if (to < from) throw badField('end_time', 'must not be before start_time');
  const meterIds = [...new Set(request.meterIds)];
  const meters = await metersById(tx, meterIds);
  const where = { environmentId: tx.scope.environmentId, externalId: externalCustomerId, status: 'published' };
  const timezone = (await tx.em.findOne(Customer, where))?.timezone ?? 'UTC';
  const windowing = windowSize ? { windowSize, timezone, billingAnchor } : null;
  const questioned = meterIds.map((id) => {
    const meter = meters.get(id);
    if (!meter) throw missing('meter', id, 'meter_id');
    const shared = { externalCustomerIds: [externalCustomerId], from, to, timezone, billingAnchor };
    return { id, meter, whole: { ...shared, ...measureAs(meter, type), key: id } satisfies UsageQuestion };
  });
  const count = (counts: readonly UsageQuestion[]) => store.usage(tx, tx.scope, counts);
  const asked = [];
  for (const { id, meter, whole } of questioned) {
    asked.push({ id, whole, windowing, ...(await windowed(meter, whole, windowing, count)) });
  }
  const questions = asked.flatMap(({ whole, parts }) => [whole, ...parts]);
  const answers = await store.usage(tx, tx.scope, questions);
  return asked.map(({ id, windows, windowing, parts, bucketSize }) => {
    const { value, eventCount, buckets } = answers.get(id)!;
    const rows = buckets && windowing ? bucketPoints(buckets, bucketSize, { from, to }, windowing) : null;
    const valueAt = rows && new Map(rows.map((row) => [row.start, row.value]));
    const points = windows.flatMap(({ start }, index) => {
      const answer = answers.get(parts[index]?.key ?? '');
      if (!answer || answer.eventCount === 0) return [];
      return [{ timestamp: start, value: valueAt?.get(start) ?? answer.value, eventCount: answer.eventCount }];
    });
    return { meterId: id, type, value, eventCount, points };
  });
}

/**
 * The windows of a meter's points and a question for each. A bucketed meter answers by buckets where windows are smaller; its
 * values follow from the rows of the whole, and only the events of each window are asked. spec: catalogue-and-metering §7.2
 */
async function windowed(
  meter: Meter,
  whole: UsageQuestion,
  windowing: SeriesWindows | null,
  count: (questions: readonly UsageQuestion[]) => Promise<ReadonlyMap<string, { eventCount: number }>>,
) {
  const bucketSize = 'meterId' in whole ? meter.aggregation.bucket_size : null;
  if (!windowing) return { windows: [], parts: [], bucketSize };
  const isSmaller = windowSizes.indexOf(windowing.windowSize) < windowSizes.indexOf(bucketSize ?? '');
  const windowSize = (isSmaller && bucketSize) || windowing.windowSize;
  const counted: UsageQuestion = bucketSize
    ? { ...sharedOf(whole), key: whole.key, ...measureAs(meter, 'COUNT') }
    : whole;
  const holding = async (larger: readonly SeriesWindow[]) => {
    const questions = seriesQuestions(counted, larger);
    const counts = await count(questions);
    return larger.filter((_, index) => (counts.get(questions[index]?.key ?? '')?.eventCount ?? 0) > 0);
  };
  const windows = await windowsToAsk(whole, { ...windowing, windowSize }, holding);
  return { windows, parts: seriesQuestions(counted, windows), bucketSize };
}

function sharedOf({ externalCustomerIds = [], from, to }: UsageQuestion) {
  return { externalCustomerIds, from, to };
}

/** The meter itself where it aggregates so, else its events and filters under the other aggregation. */
function measureAs(meter: Meter, type: AggregationType): UsageMeasure & Pick<UsageQuestion, 'filters'> {
  const { aggregation, eventName, filters } = meter;
  if (aggregation.type === type) return { meterId: meter.id };
  const field = type === 'COUNT' ? null : aggregation.field;
  if (type !== 'COUNT' && aggregation.expression) {
    throw refuse(
      'not_implemented',
      `aggregation_type ${type} is not available for meter ${meter.id}, which aggregates an expression: ask for its own, ${aggregation.type}`,
    );
  }
  if (type !== 'COUNT' && !field) {
    throw badField('aggregation_type', `${type} needs a property, and meter ${meter.id} counts events: ask for COUNT`);
  }
  return {
    eventName,
    type,
    field,
    multiplier: type === 'SUM_WITH_MULTIPLIER' ? (aggregation.multiplier ?? '1') : null,
    filters: Object.fromEntries(filters.map(({ key, values }) => [key, values])),
  };
}
