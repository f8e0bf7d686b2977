import type { MeteredEvent } from '../billing/allowance/grant-usage.ts';
import { decimal, decimalString, sum } from '../billing/money/money.ts';
import { compareText } from '../billing/text-order.ts';
import { windowBounds } from '../billing/time/window.ts';
import { aggregateValue } from './aggregate.ts';
import { type AggregationType, type Contribution, compileMeter, type MeterDefinition } from './meter.ts';
import { decimalOfScaled, weightedDecimals } from './quantity.ts';
import { bucketPoints, knownZone, windowAt } from './series.ts';
import type { SeriesWindows } from './series-window.ts';
import { microsecondsOf, utcInstant } from './timestamp.ts';
import type { UsageBucket } from './usage-store.ts';

/** An ingested copy of an event. Copies with one id are one event: the one ingested first. */
export interface EventCopy {
  readonly id: string;
  readonly timestamp: string;
  readonly ingestedAt: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** How events in memory are evaluated; `weighedOver`, `timezone` and `billingAnchor` as in a usage question. */
export interface Evaluation {
  readonly aggregation: MeterDefinition['aggregation'];
  readonly filters: MeterDefinition['filters'];
  readonly from: string;
  readonly to: string;
  readonly timezone?: string;
  readonly billingAnchor?: string | null;
  readonly weighedOver?: { readonly from: string; readonly to: string };
}

/** The value of a set of events, and the rows it is the sum of where the meter has buckets. */
export interface EvaluatedUsage {
  readonly value: string;
  readonly eventCount: number;
  readonly buckets: UsageBucket[] | null;
}

/** An event that counts, and what it counts. */
interface Counted extends Contribution {
  readonly copy: EventCopy;
  readonly timestamp: string;
}

/**
 * The usage of `copies` over `[from, to)`, without a database: what a store must answer had it ingested them in the order
 * of `ingestedAt`, equal ones in the order given. A store's own programs are tested against it.
 * spec: catalogue-and-metering §7.1, §6.3
 */
export function evaluateUsage(copies: readonly EventCopy[], evaluation: Evaluation): EvaluatedUsage {
  const counted = countedEvents(copies, evaluation);
  const eventCount = counted.length;
  if (!evaluation.aggregation.bucket_size)
    return { value: aggregateOf(counted, evaluation), eventCount, buckets: null };
  const buckets = bucketRows(counted, evaluation);
  return { value: decimalString(sum(buckets.map((row) => decimal(row.value)))), eventCount, buckets };
}

/** Every event that counts in `[from, to)`, by time and id, as `eachEvent` of a store answers it. spec: catalogue-and-metering §9.2 */
export function evaluateEvents(copies: readonly EventCopy[], evaluation: Evaluation): MeteredEvent[] {
  const { aggregation } = evaluation;
  return countedEvents(copies, evaluation)
    .map(({ copy, timestamp, quantity }) => ({
      at: timestamp,
      id: copy.id,
      value: aggregation.type === 'COUNT' ? '1' : decimalOfScaled(quantity),
      isOwn: true,
    }))
    .sort((a, b) => (a.at === b.at ? compareText(a.id, b.id) : a.at < b.at ? -1 : 1));
}

/** The values of the windows of `[from, to)` that have an event. spec: catalogue-and-metering §7.2 */
export function evaluateSeries(
  copies: readonly EventCopy[],
  evaluation: Evaluation,
  windows: SeriesWindows,
): { start: string; value: string }[] {
  const interval = { from: instant(evaluation.from), to: instant(evaluation.to) };
  const whole = evaluateUsage(copies, evaluation);
  const { bucket_size: bucketSize } = evaluation.aggregation;
  if (whole.buckets) return bucketPoints(whole.buckets, bucketSize ?? null, interval, windows);
  windowAt(interval.from, windows); // An unknown size is refused, events or none.
  const byWindow = Map.groupBy(
    countedEvents(copies, evaluation),
    ({ timestamp }) => windowAt(timestamp, windows).start,
  );
  return [...byWindow]
    .sort(([a], [b]) => compareText(a, b))
    .map(([start, of]) => ({ start, value: aggregateOf(of, { ...evaluation, weighedOver: interval }) }));
}

function countedEvents(copies: readonly EventCopy[], evaluation: Evaluation): Counted[] {
  const meter = compileMeter({ number: 0, version: 0, event_name: '', ...evaluation });
  const from = instant(evaluation.from);
  const to = instant(evaluation.to);
  return effectiveCopies(copies).flatMap((copy): Counted[] => {
    const timestamp = instant(copy.timestamp);
    const contribution = timestamp >= from && timestamp < to ? meter.contribution(copy.properties) : null;
    return contribution === null ? [] : [{ copy, timestamp, ...contribution }];
  });
}

/** By bucket start, then group by code point. */
function bucketRows(counted: readonly Counted[], evaluation: Evaluation): UsageBucket[] {
  const rows = new Map<string, { start: string; group: string; of: Counted[] }>();
  for (const event of counted) {
    const { start } = windowBounds({
      timestamp: event.timestamp,
      windowSize: evaluation.aggregation.bucket_size ?? '',
      timezone: knownZone(evaluation.timezone),
      billingAnchor: evaluation.billingAnchor ?? null,
    });
    const key = `${start} ${event.group}`;
    const row = rows.get(key) ?? { start, group: event.group, of: [] };
    row.of.push(event);
    rows.set(key, row);
  }
  return [...rows.values()]
    .sort((a, b) => (a.start === b.start ? compareText(a.group, b.group) : a.start < b.start ? -1 : 1))
    .map(({ start, group, of }) => ({ start, group, value: aggregateOf(of, evaluation) }));
}

function aggregateOf(counted: readonly Counted[], evaluation: Evaluation): string {
  const distinct = new Set<string>();
  let [total, weightedSum] = [0n, 0n];
  let greatest: bigint | null = null;
  let latest: Counted | null = null;
  for (const event of counted) {
    const { quantity } = event;
    total += quantity;
    weightedSum += quantity * microsecondsOf(event.timestamp);
    if (greatest === null || quantity > greatest) greatest = quantity;
    if (latest === null || isLater(event.copy, latest.copy)) latest = event;
    if (event.distinct !== null) distinct.add(event.distinct);
  }
  const sums = {
    count: counted.length,
    sum: decimalOfScaled(total),
    weightedSum: decimalOfScaled(weightedSum, weightedDecimals),
    greatest: greatest === null ? null : decimalOfScaled(greatest),
    latest: latest === null ? null : decimalOfScaled(latest.quantity),
    distinctCount: distinct.size,
  };
  return aggregateValue(sums, {
    type: evaluation.aggregation.type as AggregationType,
    multiplier: evaluation.aggregation.multiplier ?? null,
    from: instant(evaluation.weighedOver?.from ?? evaluation.from),
    to: instant(evaluation.weighedOver?.to ?? evaluation.to),
  });
}

/** The copy of each id that was stored first. */
export function effectiveCopies(copies: readonly EventCopy[]): EventCopy[] {
  const first = new Map<string, EventCopy>();
  for (const copy of copies) {
    const known = first.get(copy.id);
    if (!known || instant(copy.ingestedAt) < instant(known.ingestedAt)) first.set(copy.id, copy);
  }
  return [...first.values()];
}

/** By (timestamp, ingestion, id), ids by code point. */
function isLater(copy: EventCopy, other: EventCopy): boolean {
  const [timestamp, otherTimestamp] = [instant(copy.timestamp), instant(other.timestamp)];
  if (timestamp !== otherTimestamp) return timestamp > otherTimestamp;
  const [ingested, otherIngested] = [instant(copy.ingestedAt), instant(other.ingestedAt)];
  if (ingested !== otherIngested) return ingested > otherIngested;
  return compareText(copy.id, other.id) > 0;
}

function instant(text: string): string {
  const utc = utcInstant(text);
  if (utc === null) throw new Error(`not an instant: ${text}`);
  return utc;
}
