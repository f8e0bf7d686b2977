import { rounded as roundedMinor } from '../support/oracles/invoice-oracle.ts';
import {
  compare,
  decimalsOf,
  type Fraction,
  fraction,
  minus,
  nothing,
  type OraclePrice,
  oracleCost,
  over,
  plain,
  plus,
  rounded,
  times,
} from '../unit/billing/rating-oracle.ts';
import type { Life, LineCommitment, SimulatedLine, TimeBucket, Unit } from './life.ts';
import type { OracleItem, Span, Timeline } from './oracle-charge.ts';
import { clockOf, nextOf, windowStart, windowsOf } from './oracle-clock.ts';

/** Commitments as the chapter tells them, in fractions; nothing of `billing/`. spec: subscriptions-and-invoicing §2.7 */
export interface Standing {
  /** Base cost of earlier invoices of the same commitment period. */
  prior: Fraction;
  last: boolean;
}

/** What a commitment makes of a cost. §2.7.3 */
interface Judged {
  amount: Fraction;
  utilized: Fraction;
  overage: Fraction;
  trueUp: Fraction;
}

/** A line before it is rounded for good: with its exact cost, and what a unit of it costs if all cost the same. */
export interface OracleLine extends SimulatedLine {
  cost?: Fraction;
  unit?: Fraction | null;
}

const scale = 10n ** 60n;

/** A sum that stays small: every amount here is a decimal that ends. */
export function total(values: readonly Fraction[]): Fraction {
  return { n: values.reduce((all, { n, d }) => all + (n * scale) / d, 0n), d: scale };
}

export const toMinor = ({ n, d }: Fraction, currency: string): bigint =>
  roundedMinor(n * 10n ** BigInt(decimalsOf(currency)), d);

const costs = new WeakMap<object, Map<string, Fraction>>();

export function costOf(price: OraclePrice, quantity: string): Fraction {
  const known = costs.get(price) ?? new Map<string, Fraction>();
  costs.set(price, known);
  const cost = known.get(quantity) ?? oracleCost(price, quantity);
  if (known.size < 1000) known.set(quantity, cost);
  return cost;
}

/** The duration is longer than the billing period. §2.7.2 */
export function isLonger(duration: Unit | null, { unit, count }: Life['cadence']): boolean {
  const months = { DAILY: 0, WEEKLY: 0, MONTHLY: 1, QUARTERLY: 3, HALF_YEARLY: 6, ANNUAL: 12 };
  if (duration === null || (duration === unit && count === 1)) return false;
  return months[unit] === 0 || months[duration] > months[unit] * count;
}

/** Commitment periods run from the start, or the trial's end, in steps of the duration. §2.7.2 */
export function commitmentPeriodAt(at: number, duration: Unit, { life, begins }: Timeline): Span {
  const clock = clockOf(begins, life.timezone);
  const cadence = { unit: duration, count: 1, anchor: begins, timezone: life.timezone, clock };
  let start = begins;
  for (let end = nextOf(start, cadence); end <= at; end = nextOf(start, cadence)) start = end;
  return { start, end: nextOf(start, cadence) };
}

function judged(cost: Fraction, committed: Fraction, terms: { factor: string; trueUp: boolean }): Judged {
  const rest = committed.n > 0n ? committed : nothing;
  if (compare(cost, rest) >= 0) {
    const overage = times(minus(cost, rest), fraction(terms.factor));
    return { amount: plus(rest, overage), utilized: rest, overage, trueUp: nothing };
  }
  if (!terms.trueUp) return { amount: cost, utilized: cost, overage: nothing, trueUp: nothing };
  return { amount: rest, utilized: cost, overage: nothing, trueUp: minus(rest, cost) };
}

const committedBy = (terms: { kind: string; value: string }, price: OraclePrice): Fraction =>
  terms.kind === 'amount' ? fraction(terms.value) : costOf(price, terms.value);

/** What was metered of an item, by bucket of its meter where it has some. */
export interface Metered {
  quantity: string;
  cost: Fraction;
  buckets: Map<number, string> | null;
}

/** catalogue-and-metering §4.4: a bucketed meter is priced bucket by bucket. */
export function metered(item: OracleItem, share: Span, { life, counts }: Timeline): Metered {
  const { meter, bucket, price } = item.offer;
  const counted = life.usage.filter(
    (event) => event.meter === meter && event.at >= share.start && event.at < share.end && counts(event),
  );
  const sumOf = (events: typeof counted) =>
    plain(events.map((event) => fraction(event.quantity)).reduce(plus, nothing), 15);
  const quantity = sumOf(counted);
  if (bucket === null) return { quantity, cost: costOf(price, quantity), buckets: null };
  const byStart = Map.groupBy(counted, ({ at }) => windowStart(at, bucket, life.timezone));
  const buckets = new Map([...byStart].map(([start, events]) => [start, sumOf(events)]));
  return { quantity, cost: total([...buckets.values()].map((value) => costOf(price, value))), buckets };
}

/** §2.7.3 – §2.7.5; `isDue`: what is missing may be billed now. */
export function committedLine(
  item: OracleItem & { commitment: LineCommitment },
  share: Span,
  life: Life,
  usage: Metered,
  { standing, isDue }: { standing: Standing | null; isDue: boolean },
): { amount: bigint; committed: string } {
  const { commitment, offer } = item;
  const { currency } = life;
  const whole = commitment.windowed
    ? byWindow(item, share, life, usage.buckets!)
    : judged(usage.cost, minus(committedBy(commitment, offer.price), standing?.prior ?? nothing), {
        ...commitment,
        trueUp: commitment.trueUp && (standing ? standing.last : isDue),
      });
  const shown = [whole.utilized, whole.overage, whole.trueUp].map((part) => toMinor(part, currency)).join(' ');
  return { amount: toMinor(whole.amount, currency), committed: shown };
}

const holds = ({ from, to }: TimeBucket, minute: number): boolean =>
  from < to ? minute >= from && minute < to : minute >= from || minute < to;

/** Every bucket of the meter alone; with times of the day those alone commit. §2.7.4, §2.7.5 */
function byWindow(
  { commitment, offer }: { commitment: LineCommitment; offer: OracleItem['offer'] },
  share: Span,
  life: Life,
  buckets: ReadonlyMap<number, string>,
): Judged {
  const { times: ofDay } = commitment;
  const fills = ofDay.length > 0 ? ofDay.some(({ trueUp }) => trueUp) : commitment.trueUp;
  const starts = fills ? windowsOf(share, offer.bucket!, life.timezone) : [...buckets.keys()];
  const all = starts.map((start): Judged => {
    const quantity = buckets.get(start) ?? '0';
    const minute = Math.floor(start / 60_000) % 1440;
    const time = ofDay.find((bucket) => holds(bucket, minute));
    if (time) return judged(costOf(time.price, quantity), committedBy(time, time.price), time);
    const cost = costOf(offer.price, quantity);
    if (ofDay.length > 0) return { amount: cost, utilized: nothing, overage: nothing, trueUp: nothing };
    return judged(cost, committedBy(commitment, offer.price), commitment);
  });
  return {
    amount: total(all.map(({ amount }) => amount)),
    utilized: total(all.map(({ utilized }) => utilized)),
    overage: total(all.map(({ overage }) => overage)),
    trueUp: total(all.map(({ trueUp }) => trueUp)),
  };
}

/** The walk over the usage lines of an invoice, and what is missing at its end. §2.7.1, §2.7.2 */
export function underCommitment(
  lines: readonly OracleLine[],
  terms: NonNullable<Life['commitment']>,
  { prior, last, isCumulative }: Standing & { isCumulative: boolean },
  time: Span,
  currency: string,
): OracleLine[] {
  const committed = minus(fraction(terms.amount), prior);
  let rest = committed.n > 0n ? committed : nothing;
  let isAbove = false;
  const billed: Fraction[] = [];
  const split = lines.flatMap((line): OracleLine[] => {
    const { cost } = line;
    if (!cost) return [line];
    if (compare(cost, rest) <= 0) {
      rest = minus(rest, cost);
      billed.push(isCumulative ? cost : roundedTo(cost, currency));
      return [line];
    }
    isAbove = true;
    const [within, quantity] = withinOf(line, rest, isCumulative);
    rest = nothing;
    const above = minus(cost, within);
    const overage = {
      ...line,
      item: `${line.item} overage`,
      quantity: plain(rounded(minus(fraction(line.quantity), fraction(quantity)), 15)),
      amount: toMinor(times(above, fraction(terms.factor)), currency),
    };
    return within.n > 0n ? [{ ...line, quantity, amount: toMinor(within, currency) }, overage] : [overage];
  });
  if (!terms.trueUp || !last || isAbove) return split;
  // Only what stays below the commitment leaves something open, whatever rounding lost.
  if (compare(total(lines.flatMap(({ cost }) => (cost ? [cost] : []))), committed) >= 0) return split;
  const open = minus(committed, total(billed));
  const missing = toMinor(open, currency);
  if (missing <= 0n) return split;
  return [...split, { item: 'true-up', start: time.start, end: time.end, quantity: '1', amount: missing }];
}

/** What fits, in money and quantity: whole units at one price, else money, whose line keeps the quantity. */
function withinOf({ unit, quantity }: OracleLine, rest: Fraction, isCumulative: boolean): [Fraction, string] {
  if (rest.n === 0n) return [nothing, '0'];
  if (!unit || unit.n === 0n) return [rest, quantity];
  const { n, d } = over(rest, unit);
  if (isCumulative) return [rest, plain(rounded({ n, d }, 15))];
  return [times({ n: n / d, d: 1n }, unit), String(n / d)];
}

function roundedTo(value: Fraction, currency: string): Fraction {
  return { n: toMinor(value, currency), d: 10n ** BigInt(decimalsOf(currency)) };
}
