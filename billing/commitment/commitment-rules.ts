import { decimal } from '../money/money.ts';
import { refuse } from '../refusal.ts';
import type { BillingPeriod } from '../time/calendar.ts';
import { checkDuration, isCumulative } from './commitment-duration.ts';
import { minutesOfDay } from './commitment-window.ts';

/** A time of the day with its own commitment, as asked for. Decimals as strings. spec: subscriptions-and-invoicing §2.7.5 */
export interface NewTimeBucket {
  type: 'amount' | 'quantity';
  value: string;
  overageFactor: string;
  trueUp: boolean;
  start: ClockTime;
  end: ClockTime;
  /** Pricing members as the store of prices takes them, over those of the line's price. */
  terms: object;
  /** When its price holds: from this instant (null or absent: always) until that one, [from, to). */
  from?: string | null;
  to?: string | null;
  /** Members of its price that repeat the line's; absent where none was sent. */
  repeats?: { priceUnit: string | null; filterValues: Record<string, string[]> | null };
  /** Of one that is there already: its id stays, and its price where that is named. */
  kept?: { id: string; priceId: string | null };
}

export interface ClockTime {
  hour: number;
  minute: number;
}

/** The commitment of a line item, as asked for. Decimals as strings. spec: subscriptions-and-invoicing §1.2, §1.9 */
export interface NewItemCommitment {
  /** Null: only its time buckets commit it. */
  type: 'amount' | 'quantity' | null;
  value: string | null;
  overageFactor: string;
  trueUp: boolean;
  windowed: boolean;
  duration: BillingPeriod | null;
  timeBuckets: NewTimeBucket[];
}

/** What a commitment must fit. */
export interface CommittedItem {
  priceType: 'FIXED' | 'USAGE';
  /** The price's bucket size, else the meter's. */
  bucketSize: string | null;
  /** How often the item is charged. */
  billingPeriod: BillingPeriod | 'ONETIME';
  billingPeriodCount: number;
}

const minutesOfSize: Record<string, number> = {
  MINUTE: 1,
  '15MIN': 15,
  '30MIN': 30,
  HOUR: 60,
  '3HOUR': 180,
  '6HOUR': 360,
  '12HOUR': 720,
  DAY: minutesOfDay,
};

/**
 * Refuses a commitment that its line cannot have: on a fixed price, without an amount, below 0, with a factor below 1, per
 * window without buckets, or with time buckets that do not fit. `field` is where it stands in the request.
 * spec: subscriptions-and-invoicing §2.7.3 – §2.7.5, §3 rows 17, 18
 */
export function checkItemCommitment(commitment: NewItemCommitment, item: CommittedItem, field: string): void {
  const { type, value, timeBuckets, duration } = commitment;
  if (item.priceType === 'FIXED') throw bad(field, 'is for a FIXED price; only usage can be committed');
  if (type === null && timeBuckets.length === 0)
    throw bad(field, 'needs commitment_amount, commitment_quantity or commitment_time_buckets');
  if (value !== null && decimal(value).isNegative()) throw bad(`${field}.commitment_${type}`, 'must not be negative');
  if (decimal(commitment.overageFactor).lessThan(1)) throw bad(`${field}.overage_factor`, 'must be 1 or more');
  checkDuration(item, duration, `${field}.commitment_duration`);
  if (commitment.windowed && item.bucketSize === null)
    throw bad(`${field}.is_window_commitment`, 'needs a meter or price with a bucket_size');
  if (timeBuckets.length > 0) checkTimeBuckets(commitment, item, `${field}.commitment_time_buckets`);
}

function checkTimeBuckets(commitment: NewItemCommitment, item: CommittedItem, field: string): void {
  const { timeBuckets } = commitment;
  if (!commitment.windowed) throw bad(field, 'need is_window_commitment true: they are judged window by window');
  if (isCumulative(item, commitment.duration))
    throw bad(field, 'cannot be combined with a commitment_duration of several billing periods');
  const size = minutesOfSize[item.bucketSize ?? ''];
  if (size === undefined) throw bad(field, 'need a meter with buckets of at most a day');
  for (const [index, bucket] of timeBuckets.entries()) checkTimeBucket(bucket, size, `${field}[${index}]`);
  checkOverlap(timeBuckets, field);
}

function checkTimeBucket(bucket: NewTimeBucket, size: number, field: string): void {
  if (!decimal(bucket.value).greaterThan(0)) throw bad(`${field}.commitment_value`, 'must be greater than 0');
  if (decimal(bucket.overageFactor).lessThan(1)) throw bad(`${field}.overage_factor`, 'must be 1 or more');
  const { start, length } = span(bucket);
  if (start >= minutesOfDay) throw bad(`${field}.start`, 'must be before 24:00; midnight is 00:00');
  if (end(bucket) > minutesOfDay) throw bad(`${field}.end`, 'must be at most 24:00');
  if (bucket.start.hour === bucket.end.hour && bucket.start.minute === bucket.end.minute)
    throw bad(`${field}.end`, 'must differ from start');
  if (start % size !== 0 || length % size !== 0)
    throw bad(field, `must start and end on the meter's grid of ${size} minutes`);
}

function checkOverlap(buckets: readonly NewTimeBucket[], field: string): void {
  const spans = buckets.map(span);
  const overlap = spans.some((one, index) =>
    spans.some((other, position) => {
      const distance = (other.start - one.start + minutesOfDay) % minutesOfDay;
      return position !== index && distance < one.length && meetInTime(buckets[index]!, buckets[position]!);
    }),
  );
  if (overlap) throw bad(field, 'must not overlap on the clock of a day');
}

/** False for times of the day of which the price of one ends before that of the other begins. */
function meetInTime(one: NewTimeBucket, other: NewTimeBucket): boolean {
  const precedes = (a: NewTimeBucket, b: NewTimeBucket) => a.to != null && b.from != null && a.to <= b.from;
  return !precedes(one, other) && !precedes(other, one);
}

/** Minutes after midnight and how many; an end before the start, or at it, is tomorrow's. */
function span(bucket: NewTimeBucket): { start: number; length: number } {
  const start = bucket.start.hour * 60 + bucket.start.minute;
  return { start, length: (end(bucket) - start + minutesOfDay) % minutesOfDay || minutesOfDay };
}

function end({ end: clock }: NewTimeBucket): number {
  return clock.hour * 60 + clock.minute;
}

function bad(field: string, problem: string) {
  return refuse('validation_error', `${field} ${problem}`, { fields: { [field]: problem } });
}
