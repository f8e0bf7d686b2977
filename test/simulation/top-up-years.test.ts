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

const seed = 20_261_125;
const wallets = 1_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const first = Date.parse('2026-01-01T00:00:00.000Z');
const iso = (ms: number) => new Date(ms).toISOString();

const limits: AutoTopupLimits = {
  declined_per_day: 4,
  declined_per_30_days: 15,
  succeeded_per_day: 24,
  most_times_amount: 10,
  monthly_amount: { usd: '3000' },
};

interface Attempt extends CountedAttempt {
  openedMs: number;
  endedMs: number;
  times: number;
}

/** Use of one wallet, and behaviour of its card. */
interface Habit {
  amount: number;
  threshold: number;
  cooldownHours: number | null;
  coversShortfall: boolean;
  spendsUpTo: number;
  declinesPercent: number;
}

function randomHabit(random: Random): Habit {
  return {
    amount: 1 + random.whole(100),
    threshold: random.whole(50),
    cooldownHours: random.oneOf([null, null, 2, 6]),
    coversShortfall: random.whole(2) === 0,
    spendsUpTo: random.oneOf([2, 20, 200]),
    declinesPercent: random.oneOf([0, 0, 5, 60, 100]),
  };
}

/** A year of a wallet: it spends at random moments, each of which looks at it as a change of its balance does. */
function lived(random: Random, habit: Habit): { attempts: Attempt[]; left: Decimal } {
  const cooldownMs = habit.cooldownHours === null ? null : habit.cooldownHours * hourMs;
  const { amount, threshold } = habit;
  const terms = termsOf({
    enabled: true,
    threshold: `${threshold}`,
    amount: `${amount}`,
    invoicing: false,
    cooldownMs,
  });
  const attempts: Attempt[] = [];
  let left = decimal(amount);
  let declines = 0;
  let isPaused = false;
  for (let now = first; now < first + 365 * dayMs; now += 1 + random.whole(random.oneOf([hourMs, 40 * hourMs]))) {
    left = left.minus(random.whole(habit.spendsUpTo));
    // A person looks after a paused wallet once in a while, too eagerly.
    if (isPaused && random.whole(20) === 0) [isPaused, declines] = [false, 0];
    const opened = openedAt(now, { attempts, terms, left, declines, isPaused, coversShortfall: habit.coversShortfall });
    if (!opened) continue;
    const succeeds = random.whole(100) >= habit.declinesPercent;
    const endedMs = now + random.whole(hourMs);
    attempts.push({ ...opened, endedMs, outcome: succeeds ? 'succeeded' : 'declined' });
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
  coversShortfall: boolean;
}

function openedAt(nowMs: number, moment: Moment): Omit<Attempt, 'endedMs'> | null {
  const { attempts, terms, left, declines, isPaused, coversShortfall } = moment;
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

function dearestMonth(attempts: readonly Attempt[]): number {
  const paid = attempts.filter(({ outcome }) => outcome === 'succeeded');
  const months = Map.groupBy(paid, ({ openedAt }) => openedAt.slice(0, 7));
  return Math.max(0, ...[...months.values()].map((own) => own.reduce((sum, { amount }) => sum + Number(amount), 0)));
}

test(`in ${wallets} wallet-years nothing is charged beyond its limits and pauses (seed ${seed})`, () => {
  const random = seededRandom(seed);
  const seen = { attempts: 0, declined: 0, day: 0, days30: 0, good: 0, month: 0, times: 0 };
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
    expect([day <= 4, days30 <= 15, good <= 24, month <= 3_000], JSON.stringify(habit)).toEqual(Array(4).fill(true));
    const times = Math.max(0, ...attempts.map((each) => each.times));
    expect(times).toBeLessThanOrEqual(habit.coversShortfall ? 10 : 1);
    seen.attempts += attempts.length;
    seen.declined += attempts.filter(({ outcome }) => outcome === 'declined').length;
    const [mostDay, most30, mostGood] = [
      Math.max(seen.day, day),
      Math.max(seen.days30, days30),
      Math.max(seen.good, good),
    ];
    Object.assign(seen, { day: mostDay, days30: most30, good: mostGood });
    Object.assign(seen, { month: Math.max(seen.month, month), times: Math.max(seen.times, times) });
  }
  // Years in which no limit is met would prove little.
  expect(seen).toMatchObject({ day: 4, days30: 15, times: 10 });
  expect(seen.month).toBeGreaterThan(2_900);
  expect(seen.attempts).toBeGreaterThan(20_000);
  expect(seen.declined).toBeGreaterThan(5_000);
}, 600_000);

test('the same seed is the same year', () => {
  const year = () => lived(seededRandom(7), randomHabit(seededRandom(8)));
  expect(year()).toEqual(year());
});
