import { addCommitted, type CommittedAmount, commitLine, nothingCommitted } from '../commitment/commitment.ts';
import { bucketStarts } from '../commitment/commitment-grid.ts';
import {
  type CommittedWindow,
  committedMoney,
  type UsageWindow,
  windowCommitter,
} from '../commitment/commitment-window.ts';
import { type Decimal, decimal, decimalString, sum, zero } from '../money/money.ts';
import type { Bucketing } from '../price/derivation.ts';
import type { PriceTerms } from '../price/price-terms.ts';
import { refuse } from '../refusal.ts';
import { type Interval, nextBoundary } from '../time/calendar.ts';
import { epochMs } from '../time/local-time.ts';
import { commitmentInfo } from './charge-commitment.ts';
import type { CommitmentInfo, ItemCommitment } from './charge-terms.ts';
import { usageCost } from './usage-analytics.ts';

/** A line whose usage is looked at over an interval, and what it is committed to. */
export interface CommittedLine {
  price: PriceTerms;
  commitment: ItemCommitment;
  /** The billing period, which is how long the commitment lasts that has no duration of its own. */
  billingPeriod: ItemCommitment['duration'] & string;
  billingPeriodCount: number;
  timezone: string;
  currency: string;
  /** The grid of the meter's buckets; null without. */
  bucketing: Bucketing | null;
  interval: Interval;
  /** The customer's present. */
  now: string;
}

/** What was measured; a bucket, or each group in it, with where it begins. */
export interface LineUsage {
  readonly usage: string;
  readonly buckets: readonly { readonly start: string; readonly value: string }[] | null;
}

/** Decimal strings, exact. */
export interface CommittedCost {
  cost: string;
  utilized: string;
  overage: string;
  trueUp: string;
}

/** What one time of the day used and came to; of all others together where `bucketId` is null. */
export interface TimeBucketUsage extends CommittedCost {
  bucketId: string | null;
  usage: string;
  /** What the usage costs without factor and true-up. */
  base: string;
}

export interface LineAnalytics {
  cost: string;
  info: CommitmentInfo;
  /** What each point comes to; null where the commitment is not judged by windows. */
  points: (CommittedCost & { bucketIds: (string | null)[] })[] | null;
  /** Empty without time buckets. */
  timeBuckets: TimeBucketUsage[];
}

/** Buckets that are topped up in one answer. */
const maxEmptyBuckets = 100_000;

/**
 * What a line's usage comes to under its commitment: the rule on its cost, or on that of each bucket of the meter. The interval
 * is judged like one period of the commitment; what is missing counts where it is as long as one and over, and for buckets up to
 * the present. Buckets without usage are in the whole and in no point, which windows without events do not have.
 * Throws `validation_error` for too many of them. spec: catalogue-and-metering §7.6; subscriptions-and-invoicing §2.7.3 – §2.7.5
 */
export function committedAnalytics(line: CommittedLine, whole: LineUsage, points: readonly LineUsage[]): LineAnalytics {
  const { commitment, price } = line;
  if (!commitment.windowed || !whole.buckets) {
    const money = committedMoney(commitment, price);
    const committed = commitLine(decimal(usageCost(price, whole)), { ...money, trueUp: money.trueUp && isOver(line) });
    return { cost: decimalString(committed.amount), info: infoOf(line, committed), points: null, timeBuckets: [] };
  }
  const judge = judgeOf(line);
  const used = judge(whole.buckets);
  const judged = [...used, ...toppedUp(line, used)];
  const total = totalOf(judged);
  return {
    cost: decimalString(total.amount),
    info: infoOf(line, total),
    points: points.map(({ buckets }) => {
      const own = judge(buckets ?? []);
      return { ...costOf(totalOf(own)), bucketIds: [...new Set(own.map(({ bucketId }) => bucketId))] };
    }),
    timeBuckets: commitment.timeBuckets.length > 0 ? byTimeBucket(commitment, judged) : [],
  };
}

/** A window of the meter as it was judged, `times` over. */
interface JudgedWindow extends CommittedWindow {
  start: string;
  usage: Decimal;
  times: number;
}

function judgeOf({ price, commitment }: CommittedLine): (buckets: NonNullable<LineUsage['buckets']>) => JudgedWindow[] {
  const { timeBuckets } = commitment;
  const commit = windowCommitter({ price, line: timeBuckets.length > 0 ? null : commitment, timeBuckets });
  return (buckets) =>
    [...Map.groupBy(buckets, ({ start }) => start)].map(([start, own]) => {
      const window = windowAt(
        start,
        own.map(({ value }) => decimal(value)),
      );
      return { ...commit(window), start, usage: sum(window.quantities), times: 1 };
    });
}

/** The buckets without usage, those alike as one. */
function toppedUp(line: CommittedLine, used: readonly JudgedWindow[]): JudgedWindow[] {
  const { commitment, bucketing, interval, now, price } = line;
  const { timeBuckets } = commitment;
  const terms = timeBuckets.length > 0 ? timeBuckets : [commitment];
  const end = now < interval.end ? now : interval.end;
  if (!bucketing || end <= interval.start || !terms.some(({ trueUp }) => trueUp)) return [];
  const commit = windowCommitter({ price, line: timeBuckets.length > 0 ? null : commitment, timeBuckets });
  const starts = new Set(used.map(({ start }) => start));
  const alike = new Map<string | null, JudgedWindow>();
  let count = 0;
  for (const start of bucketStarts({ start: interval.start, end }, bucketing)) {
    if (starts.has(start)) continue;
    count += 1;
    if (count > maxEmptyBuckets) throw tooMany();
    const judged = commit(windowAt(start, []));
    const same = alike.get(judged.bucketId);
    if (same) same.times += 1;
    else alike.set(judged.bucketId, { ...judged, start, usage: zero, times: 1 });
  }
  return [...alike.values()];
}

function tooMany() {
  const problem = `holds more than ${maxEmptyBuckets} buckets of a committed line: ask for a shorter time`;
  return refuse('validation_error', `start_time ${problem}`, { fields: { start_time: problem } });
}

function windowAt(start: string, quantities: readonly Decimal[]): UsageWindow {
  return { start, minute: Math.floor(epochMs(start) / 60_000) % 1440, quantities };
}

type Total = CommittedAmount & { base: Decimal; usage: Decimal };

function totalOf(windows: readonly JudgedWindow[]): Total {
  let total: Total = { ...nothingCommitted, base: zero, usage: zero };
  for (const { times, base, usage, ...window } of windows) {
    const { amount, utilized, overage, trueUp } = window;
    const own = { amount, utilized, overage, trueUp: trueUp.times(times) };
    const all = times === 1 ? own : { ...own, amount: amount.times(times) };
    total = { ...addCommitted(total, all), base: total.base.plus(base), usage: total.usage.plus(usage) };
  }
  return total;
}

function costOf({ amount, utilized, overage, trueUp }: CommittedAmount): CommittedCost {
  return {
    cost: decimalString(amount),
    utilized: decimalString(utilized),
    overage: decimalString(overage),
    trueUp: decimalString(trueUp),
  };
}

function byTimeBucket({ timeBuckets }: ItemCommitment, windows: readonly JudgedWindow[]): TimeBucketUsage[] {
  return [...timeBuckets.map(({ id }) => id), null].map((bucketId) => {
    const total = totalOf(windows.filter((window) => window.bucketId === bucketId));
    return { bucketId, usage: decimalString(total.usage), base: decimalString(total.base), ...costOf(total) };
  });
}

/** True when the interval holds as much time as the commitment lasts, and lies in the past. */
function isOver({ commitment, billingPeriod, billingPeriodCount, timezone, interval, now }: CommittedLine): boolean {
  const end = nextBoundary({
    periodStart: interval.start,
    anchor: interval.start,
    billingPeriod: commitment.duration ?? billingPeriod,
    billingPeriodCount: commitment.duration ? 1 : billingPeriodCount,
    billingCycle: 'anniversary',
    timezone,
  });
  return end <= interval.end && interval.end <= now;
}

function infoOf({ commitment, billingPeriod, currency }: CommittedLine, committed: CommittedAmount): CommitmentInfo {
  return commitmentInfo(commitment, billingPeriod, [committed], currency);
}
