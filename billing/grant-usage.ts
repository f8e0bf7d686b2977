import type { Interval } from './calendar.ts';
import type { GrantConfiguration, MeterGrants } from './grant.ts';
import { fromMicrosecond, grantWindows, type Microsecond, toMicrosecond } from './grant-window.ts';
import { type Decimal, decimal, decimalString, greatest, storedDecimal, zero } from './money.ts';

/** One event as its meter counts it. Lists of them are in the order of (`at`, `id`). */
export interface MeteredEvent {
  /** In UTC, with microseconds. */
  at: string;
  id: string;
  /** What it adds before the meter's multiplier; below zero for a correction. */
  value: string;
  /** It meets the conditions of the price that asks. */
  isOwn: boolean;
}

/** A budget and what became of it. Decimal strings: units, or money of the line's currency, unrounded. spec: §9.2 */
export interface MeasuredGrant {
  entitlementId: string;
  start: string;
  end: string;
  quota: string;
  usage: string;
  overage: string;
  /** The event that brought usage to the quota; null while usage is below. */
  crossedAt: string | null;
}

export interface GrantQuestion {
  grants: MeterGrants;
  /** The billing period, whole: windows do not depend on which part of it is billed. */
  cycle: Interval;
  timezone: string;
  /** Of a SUM_WITH_MULTIPLIER meter. */
  multiplier: string | null;
  /** The line's price of a quantity, for budgets of money. */
  costOf: (quantity: Decimal) => Decimal;
}

/** A window and its state after the events seen so far. */
interface OpenWindow extends Interval {
  added: Decimal;
  usage: Decimal;
  overage: Decimal;
  crossedAt: Microsecond | null;
}

/**
 * Walks the events of a billing period through the budgets of their meter: the windows of each with usage and overage, and
 * what is billed of the events in `billed` that are the line's own. An event is billed what the overage grows by; of parallel
 * budgets the largest growth, so that a unit over several of them is billed once. What is billed is never negative.
 * spec: catalogue-and-metering §9.2, §9.3
 */
export function measureGrants(
  question: GrantQuestion,
  events: readonly MeteredEvent[],
  billed: Interval = question.cycle,
): { windows: MeasuredGrant[]; billable: Decimal } {
  const { cycle, grants, timezone } = question;
  const [start, end] = [toMicrosecond(cycle.start), toMicrosecond(cycle.end)];
  const inCycle = events.filter(({ at }) => at >= start && at < end);
  const instants = inCycle.map(({ at }) => at);
  const budgets = grants.configurations.map((configuration) => ({
    configuration,
    windows: grantWindows(configuration, cycle, timezone, instants).map(opened),
    position: 0,
  }));
  const [from, to] = [toMicrosecond(billed.start), toMicrosecond(billed.end)];
  let billable = zero;
  for (const event of inCycle) {
    let growth: Decimal | null = null;
    for (const budget of budgets) {
      const window = windowAt(budget, event.at);
      const own = window && grow(window, event, budget.configuration, question);
      if (own && (growth === null || own.gt(growth))) growth = own;
    }
    if (growth && event.isOwn && event.at >= from && event.at < to) billable = billable.plus(growth);
  }
  const windows = budgets.flatMap(({ configuration, windows: own }) =>
    own.map((window) => measuredGrant(configuration, window)),
  );
  return { windows, billable: greatest(billable, zero) };
}

/** What a meter that counts or adds up says of a sum of values. spec: catalogue-and-metering §7.1 */
export function meteredValue(added: Decimal, multiplier: string | null): Decimal {
  return greatest(storedDecimal(multiplier === null ? added : added.times(decimal(multiplier))), zero);
}

function opened(window: Interval): OpenWindow {
  return { ...window, added: zero, usage: zero, overage: zero, crossedAt: null };
}

/** Events come in time order, so that the window only moves on. */
function windowAt(budget: { windows: OpenWindow[]; position: number }, at: Microsecond): OpenWindow | null {
  const { windows } = budget;
  while (budget.position + 1 < windows.length && windows[budget.position + 1]!.start <= at) budget.position += 1;
  const window = windows[budget.position];
  return window && window.start <= at && at < window.end ? window : null;
}

/** Adds an event and gives what the overage grew by. */
function grow(
  window: OpenWindow,
  event: MeteredEvent,
  { measure, quota: text }: GrantConfiguration,
  { multiplier, costOf }: GrantQuestion,
): Decimal {
  const quota = storedDecimal(text);
  window.added = window.added.plus(decimal(event.value));
  const value = meteredValue(window.added, multiplier);
  const usage = measure === 'amount' ? costOf(value) : value;
  if (usage.lt(quota)) window.crossedAt = null;
  else window.crossedAt ??= event.at;
  const overage = greatest(usage.minus(quota), zero);
  const growth = overage.minus(window.overage);
  window.usage = usage;
  window.overage = overage;
  return growth;
}

function measuredGrant({ entitlementId, quota }: GrantConfiguration, window: OpenWindow): MeasuredGrant {
  return {
    entitlementId,
    start: fromMicrosecond(window.start),
    end: fromMicrosecond(window.end),
    quota: decimalString(storedDecimal(quota)),
    usage: decimalString(window.usage),
    overage: decimalString(window.overage),
    crossedAt: window.crossedAt === null ? null : fromMicrosecond(window.crossedAt),
  };
}
