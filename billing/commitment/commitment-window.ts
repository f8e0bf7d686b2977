import { type Decimal, decimal, sum, zero } from '../money/money.ts';
import { costOfQuantity } from '../price/price.ts';
import type { PriceTerms } from '../price/price-terms.ts';
import { costInCurrency } from '../price/price-unit.ts';
import { addCommitted, type CommittedAmount, commitLine, type LineCommitment, nothingCommitted } from './commitment.ts';

/** What is committed on a line or in a time bucket: money, or the cost of a quantity. Decimals as strings. */
export interface CommitmentTerms {
  type: 'amount' | 'quantity';
  value: string;
  overageFactor: string;
  trueUp: boolean;
}

/**
 * A time of the day (UTC), [start, end) in minutes, which may go over midnight, with its own price and commitment. Its price may
 * hold for a time alone, [from, to); an absent or null end is open.
 */
export interface TimeBucketTerms extends CommitmentTerms {
  id: string;
  startMinute: number;
  endMinute: number;
  from?: string | null;
  to?: string | null;
  price: PriceTerms;
}

/** A window of the meter: where it begins, and the quantity of each of its groups. */
export interface UsageWindow {
  /** The instant, and minutes after midnight UTC. */
  start: string;
  minute: number;
  quantities: readonly Decimal[];
}

export interface CommittedWindow extends CommittedAmount {
  /** The time bucket that priced it; null outside of all. */
  bucketId: string | null;
  /** Without any factor or true-up. */
  base: Decimal;
}

export const minutesOfDay = 24 * 60;

/** Exact cost of a quantity in the currency of the line. */
export function priceIn(price: PriceTerms, quantity: Decimal | string): Decimal {
  return costInCurrency(costOfQuantity(price, quantity).cost, price);
}

/** The commitment as money: the amount, or what the quantity costs. spec: subscriptions-and-invoicing §2.7.3 */
export function committedMoney(terms: CommitmentTerms, price: PriceTerms, prior = '0'): LineCommitment {
  return {
    amount: terms.type === 'amount' ? decimal(terms.value) : priceIn(price, terms.value),
    overageFactor: decimal(terms.overageFactor),
    trueUp: terms.trueUp,
    prior: decimal(prior),
  };
}

/**
 * The time bucket that prices a window, by where that begins: start inclusive, end exclusive, an end before the start is
 * tomorrow's; null outside of all, and where the price of the one that holds it is not in force. spec: §2.7.5
 */
export function timeBucketAt(
  buckets: readonly TimeBucketTerms[],
  { minute, start }: Pick<UsageWindow, 'minute' | 'start'>,
): TimeBucketTerms | null {
  const isInForce = ({ from, to }: TimeBucketTerms): boolean =>
    (from == null || from <= start) && (to == null || start < to);
  const holds = ({ startMinute, endMinute }: TimeBucketTerms): boolean =>
    startMinute < endMinute ? minute >= startMinute && minute < endMinute : minute >= startMinute || minute < endMinute;
  return buckets.find((bucket) => holds(bucket) && isInForce(bucket)) ?? null;
}

/** How windows are judged: by the commitment of the line, or, with time buckets, by those alone. */
export interface WindowTerms {
  price: PriceTerms;
  /** Null where time buckets hold the commitments. */
  line: CommitmentTerms | null;
  timeBuckets: readonly TimeBucketTerms[];
}

/**
 * A function that judges one window of a meter after the other, each alone. With time buckets a window inside one has its
 * price and commitment; outside of all it costs the base rate, which is not utilized. spec: subscriptions-and-invoicing §2.7.4, §2.7.5
 */
export function windowCommitter({ price, line, timeBuckets }: WindowTerms): (window: UsageWindow) => CommittedWindow {
  const ofLine = line && committedMoney(line, price);
  const ofBucket = new Map(timeBuckets.map((bucket) => [bucket.id, committedMoney(bucket, bucket.price)]));
  return ({ quantities, ...window }) => {
    const bucket = timeBucketAt(timeBuckets, window);
    const base = sum(quantities.map((quantity) => priceIn(bucket?.price ?? price, quantity)));
    const commitment = timeBuckets.length > 0 ? bucket && ofBucket.get(bucket.id)! : ofLine;
    const committed = commitment ? commitLine(base, commitment) : { ...nothingCommitted, amount: base };
    return { ...committed, base, bucketId: bucket?.id ?? null };
  };
}

/** Windows added up, unrounded. */
export function sumOfWindows(windows: Iterable<CommittedWindow>): CommittedAmount & { base: Decimal } {
  let total = { ...nothingCommitted, base: zero };
  for (const window of windows) total = { ...addCommitted(total, window), base: total.base.plus(window.base) };
  return total;
}
