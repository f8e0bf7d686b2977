import { compileExpression } from './expression.ts';
import { expressionQuantity } from './expression-value.ts';
import { groupKey, quantityOf, textForm } from './property-value.ts';

export const aggregationTypes = [
  'COUNT',
  'SUM',
  'AVG',
  'COUNT_UNIQUE',
  'LATEST',
  'SUM_WITH_MULTIPLIER',
  'MAX',
  'WEIGHTED_SUM',
] as const;
export type AggregationType = (typeof aggregationTypes)[number];

/** What the catalogue says a meter does with an event. spec: catalogue-and-metering §5.2 */
export interface MeterDefinition {
  readonly number: number;
  readonly version: number;
  readonly event_name: string;
  readonly aggregation: {
    readonly type: string;
    readonly field?: string | null;
    readonly expression?: string | null;
    readonly multiplier?: string | null;
    readonly bucket_size?: string | null;
    readonly group_by?: string | null;
  };
  readonly filters: readonly { readonly key: string; readonly values: readonly string[] }[];
}

/** What one event adds to one meter: `distinct` only for COUNT_UNIQUE; `group` is empty for a meter without groups. */
export interface Contribution {
  readonly quantity: bigint;
  readonly distinct: string | null;
  readonly group: string;
}

/** A meter made ready to look at many events. */
export interface CompiledMeter {
  readonly number: number;
  readonly version: number;
  readonly keepsLatest: boolean;
  /** An event adds one, whatever its quantity. */
  readonly countsEvents: boolean;
  /** How long a roll-up row of the meter lasts. */
  readonly rollupMinutes: number;
  /** Null when the filters leave the event out, or its expression fails for it. */
  contribution(properties: Readonly<Record<string, unknown>>): Contribution | null;
}

/**
 * How long a roll-up row of a meter lasts, in minutes: an hour without buckets; with buckets a quarter of an hour, on which
 * the local clocks of all today's time zones lie; a minute for buckets of a minute. `usage.rollup_grain` in SQL is the same.
 */
export function rollupMinutes(bucketSize: string | null | undefined): number {
  if (!bucketSize) return 60;
  return bucketSize === 'MINUTE' ? 1 : 15;
}

/** Prepares a meter once per version. Throws `validation_error` for an expression outside the language. spec: catalogue-and-metering §7.1 Value semantics */
export function compileMeter(definition: MeterDefinition): CompiledMeter {
  const { type, field, bucket_size, group_by } = definition.aggregation;
  const filters = definition.filters.map(({ key, values }) => ({ key, values: new Set(values) }));
  const quantity = quantityReader(definition.aggregation);
  const distinct =
    type === 'COUNT_UNIQUE' && field ? (properties: Properties) => textForm(own(properties, field)) : () => null;
  const group = group_by ? (properties: Properties) => groupKey(own(properties, group_by)) : () => '';
  return {
    number: definition.number,
    version: definition.version,
    keepsLatest: type === 'LATEST',
    countsEvents: type === 'COUNT' || type === 'COUNT_UNIQUE',
    rollupMinutes: rollupMinutes(bucket_size),
    contribution(properties) {
      for (const { key, values } of filters) {
        const text = textForm(own(properties, key));
        if (text === null || !values.has(text)) return null;
      }
      const measured = quantity(properties);
      if (measured === null) return null;
      return { quantity: measured, distinct: distinct(properties), group: group(properties) };
    },
  };
}

/** What a meter reads of an event: its expression, its field, or nothing. Null where the expression fails. */
function quantityReader(aggregation: MeterDefinition['aggregation']): (properties: Properties) => bigint | null {
  const { field, expression } = aggregation;
  if (expression) {
    const program = compileExpression(expression, aggregation.multiplier);
    return (properties) => expressionQuantity(program, (name) => own(properties, name));
  }
  return field ? (properties) => quantityOf(own(properties, field)) : () => 0n;
}

type Properties = Readonly<Record<string, unknown>>;

function own(properties: Properties, key: string): unknown {
  return Object.hasOwn(properties, key) ? properties[key] : undefined;
}
