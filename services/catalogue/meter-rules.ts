import { decimal } from '../../billing/money/money.ts';
import type { MeterAggregation, MeterFilter } from '../../db/entities/catalogue/meter.ts';
import { badField } from '../../db/rows/record.ts';

/** A meter as a caller defines it; checked by `checkMeter` before anything is written. */
export interface NewMeter {
  name: string;
  eventName: string;
  aggregation: MeterAggregation;
  filters: MeterFilter[];
  resetUsage: string;
}

const expressionTypes = ['SUM', 'AVG', 'MAX', 'LATEST'];
/** What buckets add up to: sums and greatest values. */
export const bucketedTypes = ['SUM', 'MAX'];

/** One rule of the table: `when` it applies, the field it is about and what is wrong. The first that applies is reported. */
interface MeterRule {
  field: string;
  problem: string;
  when(meter: NewMeter): boolean;
}

const rules: readonly MeterRule[] = [
  { field: 'name', problem: 'must not be blank', when: (m) => m.name.trim() === '' },
  { field: 'event_name', problem: 'must not be blank', when: (m) => m.eventName.trim() === '' },
  {
    field: 'aggregation.field',
    problem: 'is required for every aggregation type but COUNT; name the event property to aggregate',
    when: ({ aggregation: a }) => a.type !== 'COUNT' && !a.field && !a.expression,
  },
  {
    field: 'aggregation.expression',
    problem: 'is accepted with SUM, AVG, MAX and LATEST only',
    when: ({ aggregation: a }) => !!a.expression && !expressionTypes.includes(a.type),
  },
  {
    field: 'aggregation.expression',
    problem: 'cannot be combined with aggregation.field; send one of them',
    when: ({ aggregation: a }) => !!a.expression && !!a.field,
  },
  {
    field: 'aggregation.multiplier',
    problem: 'is required for SUM_WITH_MULTIPLIER',
    when: ({ aggregation: a }) => a.type === 'SUM_WITH_MULTIPLIER' && a.multiplier === null,
  },
  {
    field: 'aggregation.multiplier',
    problem: 'is accepted with SUM_WITH_MULTIPLIER or an expression only',
    when: ({ aggregation: a }) => a.multiplier !== null && a.type !== 'SUM_WITH_MULTIPLIER' && !a.expression,
  },
  {
    field: 'aggregation.multiplier',
    problem: 'must be greater than 0',
    when: ({ aggregation: a }) => a.multiplier !== null && !decimal(a.multiplier).gt(0),
  },
  {
    field: 'aggregation.bucket_size',
    problem: 'is accepted with SUM and MAX only',
    when: ({ aggregation: a }) => a.bucket_size !== null && !bucketedTypes.includes(a.type),
  },
  {
    field: 'aggregation.group_by',
    problem: 'is accepted with MAX and a bucket_size only',
    when: ({ aggregation: a }) => !!a.group_by && (a.type !== 'MAX' || a.bucket_size === null),
  },
];

/**
 * Refuses a meter definition that breaks a rule; `path` is the wire path of the meter in the request (`meter.`), so that the
 * message names the field as the caller wrote it.
 *
 * spec: catalogue-and-metering §5.2, §13 row 32
 */
export function checkMeter(meter: NewMeter, path = ''): void {
  const broken = rules.find((rule) => rule.when(meter));
  if (broken) throw badField(path + broken.field, broken.problem);
  checkMeterFilters(meter.filters, path);
}

/** Refuses filters with a blank or repeated key, or a key without values. spec: catalogue-and-metering §5.2 */
export function checkMeterFilters(filters: readonly MeterFilter[], path = ''): void {
  const keys = new Set<string>();
  filters.forEach((filter, index) => {
    const at = `${path}filters[${index}]`;
    if (filter.key.trim() === '') throw badField(`${at}.key`, 'must not be blank');
    if (keys.has(filter.key)) throw badField(`${at}.key`, `repeats ${filter.key}; put all its values into one filter`);
    if (filter.values.length === 0) throw badField(`${at}.values`, 'needs at least one value');
    keys.add(filter.key);
  });
}

/** The union of two filter lists: values of a known key are united in order, new keys go to the end, nothing is removed. */
export function unitedFilters(stored: readonly MeterFilter[], added: readonly MeterFilter[]): MeterFilter[] {
  const united = new Map(stored.map((filter) => [filter.key, [...filter.values]]));
  for (const { key, values } of added) united.set(key, [...new Set([...(united.get(key) ?? []), ...values])]);
  return [...united].map(([key, values]) => ({ key, values }));
}
