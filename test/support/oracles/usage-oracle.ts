import {
  add,
  compare,
  type Fraction,
  fraction,
  greatestOf,
  over,
  parsed,
  plainText,
  rounded,
  sumOf,
  times,
} from '../fraction.ts';
import { windowStart } from '../local-clock.ts';
import { expressionResult, type KnownNumber } from './expression-oracle.ts';

/** An event as an oracle knows it: what its properties are worth was written down with them, nothing is read from JSON. */
export interface KnownEvent {
  readonly id: string;
  readonly customer: string;
  readonly atMs: number;
  readonly properties: Readonly<Record<string, KnownValue>>;
}

/** A JSON text, its number (null where it is none) and its text form (null where it has none). */
export interface KnownValue {
  readonly json: string;
  readonly number: Fraction | null;
  readonly text: string | null;
}

export interface KnownMeasure {
  readonly type: string;
  readonly field: string | null;
  readonly expression: KnownNumber | null;
  readonly multiplier: string | null;
  readonly bucketSize: string | null;
  readonly groupBy: string | null;
  readonly filters: readonly { readonly key: string; readonly values: readonly string[] }[];
}

/** A question to the oracle; `weighed` is the interval that weighs a WEIGHTED_SUM. */
export interface KnownQuestion {
  readonly from: number;
  readonly to: number;
  readonly weighed: { readonly from: number; readonly to: number };
  readonly customers: readonly string[];
  readonly timezone: string;
  readonly anchor: string | null;
}

export interface KnownRow {
  readonly start: number;
  readonly group: string;
  readonly value: string;
}

/** What usage has to be, by the words of the specification and fractions. spec: catalogue-and-metering §7.1 */
export function knownUsage(
  stream: readonly KnownEvent[],
  measure: KnownMeasure,
  question: KnownQuestion,
): { value: string; eventCount: number; rows: KnownRow[] } {
  const counted = first(stream)
    .filter((event) => event.atMs >= question.from && event.atMs < question.to)
    .filter((event) => question.customers.includes(event.customer))
    .filter((event) => measure.filters.every(({ key, values }) => holds(event.properties[key], values)))
    .flatMap((event) => {
      const quantity = quantityOf(event, measure);
      return quantity === null ? [] : [{ event, quantity }];
    });
  const rows = new Map<string, { start: number; group: string; counted: typeof counted }>();
  for (const each of counted) {
    const start = measure.bucketSize
      ? windowStart(each.event.atMs, measure.bucketSize, question.timezone, question.anchor)
      : 0;
    const group = measure.groupBy ? (each.event.properties[measure.groupBy]?.text ?? '') : '';
    const key = JSON.stringify([start, group]);
    const row = rows.get(key) ?? { start, group, counted: [] };
    row.counted.push(each);
    rows.set(key, row);
  }
  const sorted = [...rows.values()]
    .sort((a, b) => a.start - b.start || (a.group < b.group ? -1 : 1))
    .map((row) => ({ start: row.start, group: row.group, aggregate: aggregate(row.counted, measure, question) }));
  const whole = measure.bucketSize || measure.groupBy;
  return {
    value: plainText(whole ? sumOf(sorted.map((row) => row.aggregate)) : aggregate(counted, measure, question)),
    eventCount: counted.length,
    rows: sorted.map(({ start, group, aggregate: value }) => ({ start, group, value: plainText(value) })),
  };
}

/** The first stored copy of an id is the event. */
function first(stream: readonly KnownEvent[]): KnownEvent[] {
  return stream.filter((event, index) => stream.findIndex(({ id }) => id === event.id) === index);
}

function holds(value: KnownValue | undefined, values: readonly string[]): boolean {
  return value?.text !== undefined && value.text !== null && values.includes(value.text);
}

function quantityOf(event: KnownEvent, measure: KnownMeasure): Fraction | null {
  if (measure.expression) {
    const numbers = Object.fromEntries(Object.entries(event.properties).map(([name, { number }]) => [name, number]));
    return expressionResult(measure.expression, measure.multiplier, numbers);
  }
  const number = measure.field ? (event.properties[measure.field]?.number ?? null) : null;
  const isUsable =
    number !== null && compare(number, fraction(10n ** 30n)) < 0 && compare(number, fraction(-(10n ** 30n))) > 0;
  return isUsable ? rounded(number, 15) : fraction(0);
}

interface Counted {
  readonly event: KnownEvent;
  readonly quantity: Fraction;
}

function aggregate(counted: readonly Counted[], measure: KnownMeasure, question: KnownQuestion): Fraction {
  const value = rounded(exactAggregate(counted, measure, question), 15);
  return compare(value, fraction(0)) < 0 ? fraction(0) : value;
}

function exactAggregate(counted: readonly Counted[], measure: KnownMeasure, { weighed }: KnownQuestion): Fraction {
  if (counted.length === 0) return fraction(0);
  const sum = sumOf(counted.map(({ quantity }) => quantity));
  switch (measure.type) {
    case 'COUNT':
      return fraction(counted.length);
    case 'SUM':
      return sum;
    case 'AVG':
      return over(sum, fraction(counted.length));
    case 'COUNT_UNIQUE': {
      const texts = counted.map(({ event }) => event.properties[measure.field ?? '']?.text ?? null);
      return fraction(new Set(texts.filter((text) => text !== null)).size);
    }
    case 'LATEST':
      // The stream is in the order of ingestion.
      return counted.reduce((a, b) => (b.event.atMs >= a.event.atMs ? b : a)).quantity;
    case 'MAX':
      return greatestOf(counted.map(({ quantity }) => quantity));
    case 'SUM_WITH_MULTIPLIER':
      return times(sum, parsed(measure.multiplier ?? '1'));
    case 'WEIGHTED_SUM':
      return counted
        .map(({ event, quantity }) => times(quantity, fraction(weighed.to - event.atMs, weighed.to - weighed.from)))
        .reduce(add);
    default:
      throw new Error(`no aggregation ${measure.type}`);
  }
}
