import { aggregateValue } from './aggregate.ts';
import { type AggregationType, compileMeter, type MeterDefinition } from './meter.ts';
import { decimalOfScaled, weightedDecimals } from './quantity.ts';
import { microsecondsOf, utcInstant } from './timestamp.ts';

/** An ingested copy of an event. Copies with one id are one event: the one ingested first. */
export interface EventCopy {
  readonly id: string;
  readonly timestamp: string;
  readonly ingestedAt: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** How events in memory are evaluated; `weighedOver` as in a usage question. */
export interface Evaluation {
  readonly aggregation: MeterDefinition['aggregation'] & { readonly type: string; readonly multiplier?: string | null };
  readonly filters: MeterDefinition['filters'];
  readonly from: string;
  readonly to: string;
  readonly weighedOver?: { readonly from: string; readonly to: string };
}

/**
 * The usage of `copies` over `[from, to)`, without a database: what a store must answer had it ingested them in the order
 * of `ingestedAt`, equal ones in the order given. A store's own programs are tested against it.
 * spec: catalogue-and-metering §7.1, §6.3
 */
export function evaluateUsage(
  copies: readonly EventCopy[],
  evaluation: Evaluation,
): { value: string; eventCount: number } {
  const meter = compileMeter({ number: 0, version: 0, event_name: '', ...evaluation });
  const from = instant(evaluation.from);
  const to = instant(evaluation.to);
  const distinct = new Set<string>();
  let [count, sum, weightedSum] = [0, 0n, 0n];
  let greatest: bigint | null = null;
  let latest: { copy: EventCopy; quantity: bigint } | null = null;
  for (const copy of effectiveCopies(copies)) {
    const timestamp = instant(copy.timestamp);
    const contribution = timestamp >= from && timestamp < to ? meter.contribution(copy.properties) : null;
    if (contribution === null) continue;
    const { quantity } = contribution;
    count += 1;
    sum += quantity;
    weightedSum += quantity * microsecondsOf(timestamp);
    if (greatest === null || quantity > greatest) greatest = quantity;
    if (latest === null || isLater(copy, latest.copy)) latest = { copy, quantity };
    if (contribution.distinct !== null) distinct.add(contribution.distinct);
  }
  const sums = {
    count,
    sum: decimalOfScaled(sum),
    weightedSum: decimalOfScaled(weightedSum, weightedDecimals),
    greatest: greatest === null ? null : decimalOfScaled(greatest),
    latest: latest === null ? null : decimalOfScaled(latest.quantity),
    distinctCount: distinct.size,
  };
  const rule = {
    type: evaluation.aggregation.type as AggregationType,
    multiplier: evaluation.aggregation.multiplier ?? null,
    from: instant(evaluation.weighedOver?.from ?? evaluation.from),
    to: instant(evaluation.weighedOver?.to ?? evaluation.to),
  };
  return { value: aggregateValue(sums, rule), eventCount: count };
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
  return Buffer.compare(Buffer.from(copy.id), Buffer.from(other.id)) > 0;
}

function instant(text: string): string {
  const utc = utcInstant(text);
  if (utc === null) throw new Error(`not an instant: ${text}`);
  return utc;
}
