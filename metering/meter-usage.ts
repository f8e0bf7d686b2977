import { refuse } from '../billing/refusal.ts';
import { Customer } from '../db/entities/customer.ts';
import type { Meter } from '../db/entities/meter.ts';
import { badField, missing } from '../db/record.ts';
import { metersById } from '../db/stores/meter.ts';
import type { Transaction } from '../db/transaction.ts';
import type { AggregationType } from './meter.ts';
import { seriesQuestions, seriesWindows } from './series.ts';
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
  const customer = windowSize ? await tx.em.findOne(Customer, where) : null;
  const timezone = customer?.timezone ?? 'UTC';
  const windows = windowSize ? seriesWindows({ from, to }, { windowSize, timezone, billingAnchor }) : [];
  const asked = meterIds.map((id) => {
    const meter = meters.get(id);
    if (!meter) throw missing('meter', id, 'meter_id');
    const whole: UsageQuestion = {
      key: id,
      ...measureAs(meter, type),
      externalCustomerIds: [externalCustomerId],
      from,
      to,
    };
    return { id, whole, parts: seriesQuestions(whole, windows) };
  });
  const answers = await store.usage(
    tx,
    tx.scope,
    asked.flatMap(({ whole, parts }) => [whole, ...parts]),
  );
  return asked.map(({ id, parts }) => {
    const points = windows.flatMap(({ start }, index) => {
      const answer = answers.get(parts[index]?.key ?? '');
      if (!answer || answer.eventCount === 0) return [];
      return [{ timestamp: start, value: answer.value, eventCount: answer.eventCount }];
    });
    const { value, eventCount } = answers.get(id)!;
    return { meterId: id, type, value, eventCount, points };
  });
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
