import { type Decimal, decimal, least, sum } from '../money/money.ts';
import type { Interval } from '../time/calendar.ts';
import { dateOf, epochMs, instantAt, instantText, localMidnight, localTime, monthsLater } from '../time/local-time.ts';

/** The setting `auto_topup_limits`, in its own spelling. */
export interface AutoTopupLimits {
  declined_per_day: number;
  declined_per_30_days: number;
  succeeded_per_day: number;
  /** Largest multiple of the amount that a single charge may have. */
  most_times_amount: number;
  /** By currency, in lower case; a currency that is not named has none. */
  monthly_amount: Readonly<Record<string, string>>;
}

/** An attempt as the limits count it: open until it has an outcome. */
export interface CountedAttempt {
  openedAt: string;
  outcome: string | null;
  amount: string;
}

export type LimitReason =
  | 'declined_per_day'
  | 'declined_per_30_days'
  | 'succeeded_per_day'
  | 'monthly_amount'
  | 'card_declined_per_day'
  | 'card_declined_per_30_days'
  | 'card_succeeded_per_day';

export interface ReachedLimit {
  reason: LimitReason;
  until: string;
}

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const backOffHours = [1, 2, 4];

/** Declines in a row after which nothing is charged until a person or a new card says so. design: money-in §1 */
export const declinesUntilPause = 4;

/** Pause after so many declines in a row, from the end of the last; 0 after none. design: money-in §1 */
export function backOffMs(consecutiveDeclines: number): number {
  if (consecutiveDeclines < 1) return 0;
  return (backOffHours[Math.min(consecutiveDeclines, backOffHours.length) - 1] ?? 0) * hourMs;
}

const hardWords = /stolen|lost|fraud|closed|pick[ _-]?up|restricted|revok/;

/** A decline after which the same card is never charged by itself again: stolen, lost, fraud, a closed account. */
export function isHardDecline(reason: string | null, declineClass: string | null = null): boolean {
  return declineClass === 'never' || hardWords.test((reason ?? '').toLowerCase());
}

/**
 * Limits that attempts of a wallet, or of a card, have reached at `now`, each with the instant from which it allows one more. Windows are
 * (now − w, now]; an open attempt counts as declined and as succeeded. design: money-in-wallets findings 8, 9
 */
export function reachedWindows(
  attempts: readonly CountedAttempt[],
  limits: AutoTopupLimits,
  now: string,
  owner: '' | 'card_' = '',
): ReachedLimit[] {
  const openOr = (test: (outcome: string) => boolean) =>
    attempts.filter(({ outcome }) => outcome === null || test(outcome)).map(({ openedAt }) => openedAt);
  const declined = openOr((outcome) => outcome !== 'succeeded');
  const succeeded = openOr((outcome) => outcome === 'succeeded');
  const windows = [
    { name: 'declined_per_day', instants: declined, limit: limits.declined_per_day, ms: dayMs },
    { name: 'declined_per_30_days', instants: declined, limit: limits.declined_per_30_days, ms: 30 * dayMs },
    { name: 'succeeded_per_day', instants: succeeded, limit: limits.succeeded_per_day, ms: dayMs },
  ] as const;
  return windows.flatMap(({ name, instants, limit, ms }) => {
    const from = new Date(Date.parse(now) - ms).toISOString();
    const inside = instants.filter((at) => at > from && at <= now).sort();
    const last = inside[inside.length - limit];
    return last === undefined
      ? []
      : [{ reason: `${owner}${name}` as LimitReason, until: new Date(Date.parse(last) + ms).toISOString() }];
  });
}

/** Number of attempts counted in a window, whatever became of them. */
export function attemptsWithin(attempts: readonly CountedAttempt[], now: string, days: number): number {
  const from = new Date(Date.parse(now) - days * dayMs).toISOString();
  return attempts.filter(({ openedAt }) => openedAt > from && openedAt <= now).length;
}

/** The calendar month of an instant in a zone, from its first instant to that of the next. */
export function localMonth(instant: string, timezone: string): Interval {
  const { year, month } = dateOf(localTime(epochMs(instant), timezone));
  const first = { year, month, day: 1 };
  return {
    start: instantText(instantAt(localMidnight(first), timezone)),
    end: instantText(instantAt(localMidnight(monthsLater(first, 1, 1)), timezone)),
  };
}

/** Amount of a month's attempts: those that succeeded and those still open; one that failed gives its amount back. */
export function monthAmount(attempts: readonly CountedAttempt[], month: Interval): Decimal {
  return sum(
    attempts
      .filter(
        ({ openedAt, outcome }) =>
          openedAt >= month.start && openedAt < month.end && (outcome === null || outcome === 'succeeded'),
      )
      .map(({ amount }) => decimal(amount)),
  );
}

/**
 * Largest multiple of an amount that the limits, and a mandate for so much at once, still allow in one charge; 0 where the month's rest or
 * the mandate is below one. `costOf` says what so many cost, tax included. design: money-in-wallets findings 6, 27, 37
 */
export function mostTimes(
  costOf: (times: number) => Decimal,
  limits: AutoTopupLimits,
  { spent, monthLimit }: { spent: Decimal; monthLimit: string | null },
  mandate: string | null = null,
): number {
  const bounds = [
    ...(monthLimit === null ? [] : [decimal(monthLimit).minus(spent)]),
    ...(mandate === null ? [] : [decimal(mandate)]),
  ];
  if (bounds.length === 0 || costOf(1).isZero()) return limits.most_times_amount;
  const rest = bounds.reduce(least);
  let times = 0;
  while (times < limits.most_times_amount && costOf(times + 1).lessThanOrEqualTo(rest)) times += 1;
  return times;
}

/** The monthly amount of a currency; null where it has no limit. */
export function monthLimitOf(limits: AutoTopupLimits, currency: string): string | null {
  return limits.monthly_amount[currency.toLowerCase()] ?? null;
}
