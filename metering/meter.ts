import { refuse } from '../billing/refusal.ts';
import { quantityOf, textForm } from './property-value.ts';

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
    readonly bucket_size?: string | null;
    readonly group_by?: string | null;
  };
  readonly filters: readonly { readonly key: string; readonly values: readonly string[] }[];
}

/** What one event adds to one meter: `distinct` only for COUNT_UNIQUE. */
export interface Contribution {
  readonly quantity: bigint;
  readonly distinct: string | null;
}

/** A meter made ready to look at many events. */
export interface CompiledMeter {
  readonly number: number;
  readonly version: number;
  readonly keepsLatest: boolean;
  /** Null when the filters leave the event out. */
  contribution(properties: Readonly<Record<string, unknown>>): Contribution | null;
}

/**
 * Throws `not_implemented` (501) for what this engine does not compute yet, naming the field. The catalogue calls it
 * before it creates a meter, so no event is ever metered wrongly. spec: catalogue-and-metering §5.2
 */
export function refuseUnsupportedAggregation(aggregation: MeterDefinition['aggregation']): void {
  for (const field of ['expression', 'bucket_size', 'group_by'] as const) {
    if (aggregation[field]) {
      throw refuse('not_implemented', `aggregation.${field} is not supported yet: leave it out`, {
        fields: { [`aggregation.${field}`]: 'is not supported yet' },
      });
    }
  }
}

/** Prepares a meter once per version. spec: catalogue-and-metering §7.1 Value semantics */
export function compileMeter(definition: MeterDefinition): CompiledMeter {
  const { type, field } = definition.aggregation;
  const filters = definition.filters.map(({ key, values }) => ({ key, values: new Set(values) }));
  const quantity = field ? (properties: Properties) => quantityOf(own(properties, field)) : () => 0n;
  const distinct =
    type === 'COUNT_UNIQUE' && field ? (properties: Properties) => textForm(own(properties, field)) : () => null;
  return {
    number: definition.number,
    version: definition.version,
    keepsLatest: type === 'LATEST',
    contribution(properties) {
      for (const { key, values } of filters) {
        const text = textForm(own(properties, key));
        if (text === null || !values.has(text)) return null;
      }
      return { quantity: quantity(properties), distinct: distinct(properties) };
    },
  };
}

type Properties = Readonly<Record<string, unknown>>;

function own(properties: Properties, key: string): unknown {
  return Object.hasOwn(properties, key) ? properties[key] : undefined;
}
