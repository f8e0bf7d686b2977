import { setImmediate as othersTurn } from 'node:timers/promises';
import { digest, type PreparedEvent } from '../../event.ts';
import type { CompiledMeter } from '../../meter.ts';
import { decimalOfScaled, weightedDecimals } from '../../quantity.ts';
import { plainArray, textArray } from '../text/array-text.ts';
import type { EventContribution } from './batch-columns.ts';

/** What a batch adds to one row of the roll-ups: the sums that `appendText` makes in SQL, in units of 10⁻¹⁵ and 10⁻²¹. */
interface RollupSum {
  readonly meter: CompiledMeter;
  readonly subject: string;
  readonly bucket: string;
  readonly group: string;
  count: number;
  total: bigint;
  weighted: bigint;
  greatest: bigint;
  least: bigint;
  latest: { readonly ts: string; readonly ord: number; readonly id: string; readonly quantity: bigint } | null;
}

interface DistinctValue {
  readonly meter: CompiledMeter;
  readonly subject: string;
  readonly day: string;
  readonly text: string;
}

/** What the new events of a batch add to roll-ups and to distinct values. */
export interface BatchSums {
  readonly rollups: RollupSum[];
  readonly distinct: DistinctValue[];
}

/** The events of a batch by place. `isNew` is false for one that adds nothing, because its id was there before. */
export interface SummedEvents {
  readonly events: readonly PreparedEvent[];
  isNew(ord: number): boolean;
  subjectOf(event: PreparedEvent): string;
  timeOf(event: PreparedEvent): string;
}

/** Sums are made in slices of so many contributions, so that other work gets its turn. */
const slice = 2_000;

/** Adds up what a batch contributes, exactly. design: usage.md Tables */
export async function sumsOf(contributions: readonly EventContribution[], batch: SummedEvents): Promise<BatchSums> {
  const rollups: RollupSum[] = [];
  const sums = new Map<CompiledMeter, Map<string, Map<number | string, RollupSum>>>();
  const distinct = new Map<CompiledMeter, Map<string, DistinctValue>>();
  let timed = { ord: -1, subject: '', ts: '', ms: 0 };
  for (const [index, contribution] of contributions.entries()) {
    if (index % slice === slice - 1) await othersTurn();
    const { ord, meter, group } = contribution;
    const event = batch.events[ord];
    if (!event || !batch.isNew(ord)) continue;
    if (timed.ord !== ord) {
      const ts = batch.timeOf(event);
      timed = { ord, subject: batch.subjectOf(event), ts, ms: Date.parse(ts) };
    }
    const { subject, ts, ms } = timed;
    const rowMs = meter.rollupMinutes * 60_000;
    // Rows last a divisor of an hour, and hours of UTC begin at multiples of one.
    const bucket = Math.floor(ms / rowMs);
    const ofMeter = entryOf(sums, meter, () => new Map<string, Map<number | string, RollupSum>>());
    const ofSubject = entryOf(ofMeter, subject, () => new Map<number | string, RollupSum>());
    const sum = entryOf(ofSubject, group === '' ? bucket : `${bucket} ${group}`, () => {
      const row = emptySum(contribution, subject, new Date(bucket * rowMs).toISOString());
      rollups.push(row);
      return row;
    });
    add(sum, contribution, { ts, ms, ord, id: event.id });
    if (contribution.distinct === null) continue;
    const value = { meter, subject, day: ts.slice(0, 10), text: contribution.distinct };
    const values = entryOf(distinct, meter, () => new Map<string, DistinctValue>());
    entryOf(values, `${subject} ${value.day} ${value.text}`, () => value);
  }
  return { rollups, distinct: [...distinct.values()].flatMap((values) => [...values.values()]) };
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let entry = map.get(key);
  if (entry === undefined) {
    entry = make();
    map.set(key, entry);
  }
  return entry;
}

function emptySum({ meter, group, quantity }: EventContribution, subject: string, bucket: string): RollupSum {
  const none = { count: 0, total: 0n, weighted: 0n, latest: null };
  return { meter, subject, bucket, group, ...none, greatest: quantity, least: quantity };
}

function add(
  sum: RollupSum,
  { meter, quantity }: EventContribution,
  { ts, ms, ord, id }: { ts: string; ms: number; ord: number; id: string },
): void {
  sum.count += 1;
  if (quantity !== 0n) {
    sum.total += quantity;
    // Instants have six decimals, of which a Date holds three.
    sum.weighted += quantity * (BigInt(ms) * 1000n + BigInt(ts.slice(23, 26)));
  }
  if (quantity > sum.greatest) sum.greatest = quantity;
  else if (quantity < sum.least) sum.least = quantity;
  // Contributions come in the order of the batch: of equal times the later one is the latest.
  if (meter.keepsLatest && (sum.latest === null || ts >= sum.latest.ts)) sum.latest = { ts, ord, id, quantity };
}

/** Parameters 2 to 15 of `rollupsText`. */
export function rollupParameters(sums: readonly RollupSum[]): string[] {
  return [
    plainArray(sums.map(({ meter }) => meter.number)),
    plainArray(sums.map(({ meter }) => meter.version)),
    plainArray(sums.map(({ subject }) => subject)),
    plainArray(sums.map(({ bucket }) => bucket)),
    textArray(sums.map(({ group }) => group)),
    plainArray(sums.map(({ count }) => count)),
    plainArray(sums.map(({ total }) => decimalOfScaled(total))),
    plainArray(sums.map(({ weighted }) => decimalOfScaled(weighted, weightedDecimals))),
    plainArray(sums.map(({ greatest }) => decimalOfScaled(greatest))),
    plainArray(sums.map(({ least }) => decimalOfScaled(least))),
    plainArray(sums.map(({ latest }) => latest?.ts ?? null)),
    plainArray(sums.map(({ latest }) => latest?.ord ?? null)),
    textArray(sums.map(({ latest }) => latest?.id ?? null)),
    plainArray(sums.map(({ latest }) => (latest ? decimalOfScaled(latest.quantity) : null))),
  ];
}

/** Parameters 2 to 6 of `distinctValuesText`. */
export function distinctParameters(values: readonly DistinctValue[]): string[] {
  return [
    plainArray(values.map(({ meter }) => meter.number)),
    plainArray(values.map(({ meter }) => meter.version)),
    plainArray(values.map(({ subject }) => subject)),
    plainArray(values.map(({ day }) => day)),
    plainArray(values.map(({ text }) => digest(text))),
  ];
}
