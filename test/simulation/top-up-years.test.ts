import { expect, test } from 'vitest';
import { type Decimal, decimal, zero } from '../../billing/money/money.ts';
import { decideAutoTopup, type LastAutoTopup, termsOf, timesOf } from '../../billing/wallet/auto-topup-decision.ts';
import {
  type AutoTopupLimits,
  backOffMs,
  type CountedAttempt,
  declinesUntilPause,
  localMonth,
  monthAmount,
  monthLimitOf,
  mostTimes,
  reachedWindows,
} from '../../billing/wallet/auto-topup-limits.ts';
import { autoTopupStanding, type StandingFacts } from '../../billing/wallet/auto-topup-standing.ts';
import { type Random, seededRandom } from '../faults/random.ts';
import { type NaiveTerms, NaiveTopUps } from './naive-top-up.ts';

const seed = 20_261_125;
const wallets = 1_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const first = Date.parse('2026-01-01T00:00:00.000Z');
const iso = (ms: number) => new Date(ms).toISOString();
/** Credits of so many billionths. */
const creditsOf = (billionths: bigint) => decimal(`${billionths}e-9`);
const billionthsOf = (credits: string) => BigInt(decimal(credits).times(1_000_000_000).toFixed(0));
const billion = 1_000_000_000n;

const usual: AutoTopupLimits = {
  declined_per_day: 4,
  declined_per_30_days: 15,
  succeeded_per_day: 24,
  most_times_amount: 10,
  monthly_amount: { usd: '3000' },
};
const strict: AutoTopupLimits = {
  declined_per_day: 2,
  declined_per_30_days: 5,
  succeeded_per_day: 2,
  most_times_amount: 3,
  monthly_amount: { usd: '700.123456789' },
};

interface Attempt extends CountedAttempt {
  openedMs: number;
  endedMs: number;
  times: number;
}

/** Use of one wallet, and behaviour of its card. */
interface Habit {
  cooldownHours: number | null;
  coversShortfall: boolean;
  spendsUpTo: number;
  declinesPercent: number;
  limits: AutoTopupLimits;
}

function randomHabit(random: Random): Habit {
  return {
    cooldownHours: random.oneOf([null, null, 2, 6]),
    coversShortfall: random.whole(2) === 0,
    spendsUpTo: random.oneOf([2, 20, 200]),
    declinesPercent: random.oneOf([0, 0, 5, 60, 100]),
    limits: random.oneOf([usual, usual, usual, strict]),
  };
}

/** Credits below a number, to the ninth decimal. */
const randomBillionths = (random: Random, below: number) =>
  BigInt(random.whole(below)) * billion + BigInt(random.whole(Number(billion)));

/** Terms that a customer may change at any time. */
const randomAmounts = (random: Random) => ({
  amount: billion + randomBillionths(random, 100),
  threshold: randomBillionths(random, 50),
});

function naiveTerms({ cooldownHours, coversShortfall, limits }: Habit): Omit<NaiveTerms, 'amount' | 'threshold'> {
  return {
    ...{ cooldownHours, coversShortfall, mostTimes: limits.most_times_amount },
    monthly: billionthsOf(limits.monthly_amount.usd!),
    declinedPerDay: limits.declined_per_day,
    declinedPer30Days: limits.declined_per_30_days,
    succeededPerDay: limits.succeeded_per_day,
  };
}

/**
 * A year of a wallet: it spends at random moments, each of which looks at it as a change of its balance does, and now and then its terms are
 * changed. At every moment the product and the naive model charge the same and have the same balance, to the ninth decimal.
 */
function lived(random: Random, habit: Habit): { attempts: Attempt[]; left: Decimal } {
  const cooldownMs = habit.cooldownHours === null ? null : habit.cooldownHours * hourMs;
  const termsNow = ({ threshold, amount }: ReturnType<typeof randomAmounts>) => {
    const [low, bought] = [creditsOf(threshold).toFixed(), creditsOf(amount).toFixed()];
    return termsOf({ enabled: true, threshold: low, amount: bought, invoicing: false, cooldownMs });
  };
  let amounts = randomAmounts(random);
  let terms = termsNow(amounts);
  const fixed = naiveTerms(habit);
  const attempts: Attempt[] = [];
  const naive = new NaiveTopUps(amounts.amount);
  let left = creditsOf(amounts.amount);
  let declines = 0;
  let isPaused = false;
  for (let now = first; now < first + 365 * dayMs; now += 1 + random.whole(random.oneOf([hourMs, 40 * hourMs]))) {
    const spent = randomBillionths(random, habit.spendsUpTo);
    left = left.minus(creditsOf(spent));
    naive.balance -= spent;
    if (random.whole(100) === 0) {
      amounts = randomAmounts(random);
      terms = termsNow(amounts);
    }
    // A person looks after a paused wallet once in a while, too eagerly.
    if (isPaused && random.whole(20) === 0) {
      [isPaused, declines] = [false, 0];
      naive.resume();
    }
    const opened = openedAt(now, { attempts, terms, left, declines, isPaused, habit });
    const expected = naive.timesAt(now, { ...fixed, ...amounts });
    if ((opened?.times ?? 0) !== expected || !left.equals(creditsOf(naive.balance)))
      throw new Error(
        `${iso(now)}: ${opened?.times ?? 0} times with ${left} left, and ${expected} times with ${creditsOf(naive.balance)} left: ${JSON.stringify(habit)}`,
      );
    if (!opened) continue;
    const succeeds = random.whole(100) >= habit.declinesPercent;
    const endedMs = now + random.whole(hourMs);
    attempts.push({ ...opened, endedMs, outcome: succeeds ? 'succeeded' : 'declined' });
    naive.enter({ openedMs: now, endedMs, paid: amounts.amount * BigInt(opened.times), succeeded: succeeds });
    declines = succeeds ? 0 : declines + 1;
    isPaused ||= declines >= declinesUntilPause;
    if (succeeds) left = left.plus(terms.amount.times(opened.times));
    now = endedMs;
  }
  return { attempts, left };
}

interface Moment {
  attempts: readonly Attempt[];
  terms: ReturnType<typeof termsOf>;
  left: Decimal;
  declines: number;
  isPaused: boolean;
  habit: Habit;
}

function openedAt(nowMs: number, moment: Moment): Omit<Attempt, 'endedMs'> | null {
  const { attempts, terms, left, declines, isPaused } = moment;
  const { limits, coversShortfall } = moment.habit;
  // A wallet whose balance is above its threshold is not looked at.
  if (left.greaterThan(terms.threshold)) return null;
  const now = iso(nowMs);
  const month = localMonth(now, 'UTC');
  const recent = attempts.filter(({ openedMs }) => openedMs > nowMs - 32 * dayMs);
  const spent = monthAmount(recent, month);
  const most = mostTimes((times) => terms.amount.times(times), limits, {
    spent,
    monthLimit: monthLimitOf(limits, 'usd'),
  });
  const latest = attempts.at(-1);
  const last: LastAutoTopup | null = latest
    ? {
        isPending: false,
        createdAt: latest.openedAt,
        failedAt: latest.outcome === 'succeeded' ? null : iso(latest.endedMs),
        waitAfterFailureMs: backOffMs(declines),
      }
    : null;
  const reached = most < 1 ? [{ reason: 'monthly_amount' as const, until: month.end }] : [];
  const facts: StandingFacts = {
    ...{
      now,
      walletStatus: 'active',
      isTenantSuspended: false,
      terms,
      collection: 'charge',
      hasMethod: true,
      open: null,
    },
    ...{ invoiceLifetimeDays: 7, pause: isPaused ? 'declines' : null, consecutiveDeclines: declines, last },
    limits: [...reachedWindows(recent, limits, now), ...reached],
    ...{
      pendingPurchase: null,
      isUnused: false,
      isBelowMinimum: false,
      isBelowGatewayMinimum: false,
      isAboveMandate: false,
      evaluateAt: null,
    },
  };
  if (autoTopupStanding(facts).state !== 'armed') return null;
  const balances = { realTimeCreditBalance: left, spendable: left };
  const rest = { topupConversionRate: '1', minimum: null, isOffSession: true, hasCheckoutSession: false };
  const decided = decideAutoTopup({ ...facts, ...balances, ...rest, hasUnpaidInvoice: false });
  if (decided.action === 'skip') return null;
  const times = timesOf({ balance: left, terms, most, coversShortfall }, () => zero);
  if (times === null) return null;
  return { openedAt: now, openedMs: nowMs, outcome: null, amount: terms.amount.times(times).toFixed(), times };
}

/** Most attempts of a kind that any window of such a length holds, counted without the rules. */
function mostWithin(attempts: readonly Attempt[], outcome: string, ms: number): number {
  const instants = attempts.filter((each) => each.outcome === outcome).map(({ openedMs }) => openedMs);
  return Math.max(0, ...instants.map((end) => instants.filter((at) => at > end - ms && at <= end).length));
}

function dearestMonth(attempts: readonly Attempt[]): bigint {
  const paid = attempts.filter(({ outcome }) => outcome === 'succeeded');
  const months = Map.groupBy(paid, ({ openedAt }) => openedAt.slice(0, 7));
  const sums = [...months.values()].map((own) => own.reduce((sum, { amount }) => sum + billionthsOf(amount), 0n));
  return sums.reduce((most, each) => (each > most ? each : most), 0n);
}

test(`in ${wallets} wallet-years charges and balances are a naive model’s to the ninth decimal, and nothing is charged beyond limits and pauses (seed ${seed})`, () => {
  const random = seededRandom(seed);
  const seen = { attempts: 0, declined: 0, day: 0, days30: 0, good: 0, month: 0n, times: 0 };
  for (let wallet = 0; wallet < wallets; wallet += 1) {
    const habit = randomHabit(random);
    const { attempts } = lived(random, habit);
    const pauseMs = (habit.cooldownHours ?? 1) * hourMs;
    for (const [index, next] of attempts.entries()) {
      const before = attempts[index - 1];
      if (!before) continue;
      const failed = before.outcome === 'succeeded' ? 0 : before.endedMs + Math.max(hourMs, pauseMs);
      expect(next.openedMs, JSON.stringify(habit)).toBeGreaterThanOrEqual(Math.max(before.openedMs + pauseMs, failed));
    }
    const [day, days30] = [mostWithin(attempts, 'declined', dayMs), mostWithin(attempts, 'declined', 30 * dayMs)];
    const [good, month] = [mostWithin(attempts, 'succeeded', dayMs), dearestMonth(attempts)];
    const { declined_per_day, declined_per_30_days, succeeded_per_day, most_times_amount } = habit.limits;
    const kept = [day <= declined_per_day, days30 <= declined_per_30_days, good <= succeeded_per_day];
    expect([...kept, month <= naiveTerms(habit).monthly], JSON.stringify(habit)).toEqual(Array(4).fill(true));
    const times = Math.max(0, ...attempts.map((each) => each.times));
    expect(times).toBeLessThanOrEqual(habit.coversShortfall ? most_times_amount : 1);
    seen.attempts += attempts.length;
    seen.declined += attempts.filter(({ outcome }) => outcome === 'declined').length;
    const [mostDay, most30, mostGood] = [
      Math.max(seen.day, day),
      Math.max(seen.days30, days30),
      Math.max(seen.good, good),
    ];
    Object.assign(seen, { day: mostDay, days30: most30, good: mostGood });
    Object.assign(seen, { month: month > seen.month ? month : seen.month, times: Math.max(seen.times, times) });
  }
  // Years in which no limit is met would prove little.
  expect(seen).toMatchObject({ day: 4, days30: 15, times: 10 });
  expect(seen.month).toBeGreaterThan(2_900n * billion);
  expect(seen.attempts).toBeGreaterThan(20_000);
  expect(seen.declined).toBeGreaterThan(5_000);
}, 600_000);

test('the same seed is the same year', () => {
  const year = () => lived(seededRandom(7), randomHabit(seededRandom(8)));
  expect(year()).toEqual(year());
});
