import type { Random } from '../faults/random.ts';
import type { BucketSize, Cadence, Life, LineCommitment, Offer, TimeBucket, Unit } from './life.ts';
import { relationOf } from './oracle-charge.ts';
import { monthUnits, randomPrice } from './random-life.ts';

const monthsOf: Partial<Record<Unit, number>> = { MONTHLY: 1, QUARTERLY: 3, HALF_YEARLY: 6, ANNUAL: 12 };
const dayMs = 86_400_000;

/** Commits a life as a whole, or the usage of the plan it begins with line by line. */
export function randomCommitments(random: Random, life: Life): void {
  const { whole } = random;
  if (whole(100) < 45) {
    const amount = String(whole(20_000) / 100);
    const duration = durationOf(random, life.cadence);
    life.commitment = { amount, factor: factorOf(random), trueUp: whole(100) < 60, duration };
    return;
  }
  for (const offer of life.plans[0]!) if (offer.type === 'USAGE' && whole(100) < 80) commit(random, life, offer);
}

const factorOf = ({ whole, oneOf }: Random): string => oneOf(['1', '1.5', '2', String(1 + whole(200) / 100)]);

/** A whole multiple of the billing period, mostly; of days and weeks only themselves. */
function durationOf({ whole, oneOf }: Random, { unit, count }: Cadence): Unit | null {
  const months = (monthsOf[unit] ?? 0) * count;
  if (months === 0 || whole(100) < 40) return null;
  const fitting = monthUnits.filter((unit) => monthsOf[unit]! % months === 0);
  return fitting.length === 0 ? null : oneOf(fitting);
}

function commit(random: Random, life: Life, offer: Offer): void {
  const { whole, oneOf } = random;
  const charged = relationOf(offer, life.cadence) === 'finer' ? life.cadence : offer.cadence!;
  const windowed = whole(100) < 25;
  const commitment: LineCommitment = {
    ...terms(random, windowed),
    duration: windowed ? null : durationOf(random, charged),
    windowed,
    times: [],
  };
  offer.commitment = commitment;
  if (!windowed) return;
  const bucket = oneOf<BucketSize>(['DAY', 'DAY', 'DAY', '6HOUR', 'HOUR']);
  // Plans that sell the same count it alike.
  for (const other of life.plans.flat()) if (other.meter === offer.meter) other.bucket = bucket;
  if (bucket !== 'DAY' && whole(2) === 0) commitment.times = timesOf(random, life, bucket);
  // Hours are many: some months of them are enough.
  const days = { DAY: 1500, '6HOUR': 400, HOUR: 100 }[bucket];
  life.until = Math.min(life.until, life.start + (whole(days) + 30) * dayMs);
}

function terms(random: Random, windowed: boolean) {
  const { whole, oneOf } = random;
  const kind = oneOf(['amount', 'amount', 'quantity'] as const);
  const value = String(whole(windowed ? 500 : 20_000) / 100);
  return { kind, value, factor: factorOf(random), trueUp: whole(100) < 50 };
}

/** One or two times of the day on the grid of the buckets, the second perhaps over midnight. */
function timesOf(random: Random, life: Life, bucket: 'HOUR' | '6HOUR'): TimeBucket[] {
  const { whole } = random;
  const step = bucket === 'HOUR' ? 60 : 360;
  const steps = 1440 / step;
  const [a, b] = [whole(steps - 1), whole(steps - 1) + 1];
  const [from, middle] = [Math.min(a, b), Math.max(a, b) + (a === b ? 1 : 0)].map((at) => at * step) as [
    number,
    number,
  ];
  const bucketFrom = (start: number, end: number): TimeBucket => {
    const { value, ...rest } = terms(random, true);
    return {
      from: start,
      to: end,
      value: value === '0' ? '1' : value,
      ...rest,
      price: randomPrice(random, life.currency),
    };
  };
  const first = bucketFrom(from, middle);
  return from > 0 && whole(2) === 0 ? [first, bucketFrom(middle % 1440, from)] : [first];
}
