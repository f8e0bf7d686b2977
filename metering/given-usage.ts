import type { UsageAnswer } from '../billing/line/charge.ts';
import { windowBounds } from '../billing/time/window.ts';
import { badField } from '../db/rows/record.ts';
import type { GivenUsage, GivenValue, MeasuringMeter, UsageMeasurer } from '../services/usage-measurer.ts';
import { aggregateValue, type UsageSums } from './aggregate.ts';
import type { AggregationType } from './meter.ts';
import { decimalOfScaled, quantityDecimals, scaledInteger, weightedDecimals } from './quantity.ts';
import { microsecondsOf } from './timestamp.ts';

interface MeasuredValue extends GivenValue {
  quantity: bigint;
}

interface Rule {
  type: AggregationType;
  multiplier: string | null;
  from: string;
  to: string;
}

/** Aggregates whose windows make up the whole, and how; the others need the values themselves. spec: catalogue-and-metering §7.2 */
const wholeOfWindows: Partial<Record<string, AggregationType>> = {
  COUNT: 'SUM',
  SUM: 'SUM',
  SUM_WITH_MULTIPLIER: 'SUM',
  WEIGHTED_SUM: 'SUM',
  MAX: 'MAX',
  LATEST: 'LATEST',
};

/**
 * What a meter would answer if the values were its events, or over windows it has measured one by one; with a bucket size a
 * row for each bucket and group, and their sum. Throws `validation_error` for a value that is no decimal or lies outside the
 * period, for windows that do not make up a whole (averages, distinct values), and for a WEIGHTED_SUM without a period.
 * spec: catalogue-and-metering §7.1, §7.2
 */
export const measureGiven: UsageMeasurer = (meter, usage) => {
  const period = periodOf(meter, usage);
  const rule = { type: typeOf(meter, usage), multiplier: meter.multiplier, from: period.start, to: period.end };
  const values = measured(usage, rule.type);
  if (meter.bucketSize === null) return { answer: { quantity: aggregateOf(values, rule) }, period };
  return { answer: bucketed(values, meter.bucketSize, rule, usage), period };
};

function periodOf(meter: MeasuringMeter, usage: GivenUsage): { start: string; end: string } {
  const field = usage.kind === 'values' ? 'usage' : 'windows';
  const { period } = usage;
  if (period === null) {
    if (meter.type === 'WEIGHTED_SUM' && usage.kind === 'values')
      throw badField('period_start', 'and period_end are required for a meter that weighs its values by time');
    const instants = usage.values.map(({ at }) => at).sort();
    return { start: instants[0]!, end: new Date(Date.parse(instants.at(-1)!) + 1).toISOString() };
  }
  const outside = usage.values.findIndex(({ at }) => at < period.start || at >= period.end);
  if (outside === -1) return period;
  const name = usage.kind === 'values' ? 'timestamp' : 'start';
  throw badField(`${field}[${outside}].${name}`, 'must not be before period_start, and must be before period_end');
}

function typeOf(meter: MeasuringMeter, { kind, values }: GivenUsage): AggregationType {
  if (kind === 'values') return meter.type as AggregationType;
  const type = wholeOfWindows[meter.type] ?? (values.length === 1 ? 'SUM' : null);
  if (type) return type;
  const problem = `do not make up the whole for a meter that measures ${meter.type}; send quantity, or the values themselves as usage`;
  throw badField('windows', problem);
}

function measured({ kind, values }: GivenUsage, type: AggregationType): MeasuredValue[] {
  const field = kind === 'values' ? 'usage' : 'windows';
  return values.map((given, index) => {
    if (type === 'COUNT') return { ...given, quantity: 0n };
    if (given.value === null)
      throw badField(`${field}[${index}].value`, `is required for a meter that measures ${type}`);
    const quantity = type === 'COUNT_UNIQUE' ? 0n : scaledInteger(given.value, quantityDecimals);
    if (quantity === null) throw badField(`${field}[${index}].value`, 'must be a decimal, as a string or a number');
    return { ...given, quantity };
  });
}

function bucketed(values: readonly MeasuredValue[], windowSize: string, rule: Rule, usage: GivenUsage): UsageAnswer {
  const { timezone, billingAnchor } = usage;
  const startOf = (timestamp: string) => windowBounds({ timestamp, windowSize, timezone, billingAnchor }).start;
  const rows = [...Map.groupBy(values, ({ at, group }) => `${startOf(at)} ${group}`)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, some]) => {
      const [start = ''] = key.split(' ', 1);
      return { start, group: key.slice(start.length + 1), value: aggregateOf(some, rule) };
    });
  const sum = rows.reduce((all, { value }) => all + (scaledInteger(value, quantityDecimals) ?? 0n), 0n);
  return { quantity: decimalOfScaled(sum), buckets: rows };
}

function aggregateOf(values: readonly MeasuredValue[], rule: Rule): string {
  return aggregateValue(sumsOf(values), rule);
}

function sumsOf(values: readonly MeasuredValue[]): UsageSums {
  let sum = 0n;
  let weightedSum = 0n;
  let greatest = values[0]?.quantity ?? 0n;
  let latest = values[0];
  for (const value of values) {
    sum += value.quantity;
    weightedSum += value.quantity * microsecondsOf(value.at);
    if (value.quantity > greatest) greatest = value.quantity;
    if (value.at >= (latest?.at ?? '')) latest = value;
  }
  return {
    count: values.length,
    sum: decimalOfScaled(sum),
    weightedSum: decimalOfScaled(weightedSum, weightedDecimals),
    greatest: decimalOfScaled(greatest),
    latest: decimalOfScaled(latest?.quantity ?? 0n),
    distinctCount: new Set(values.map(({ value }) => value)).size,
  };
}
