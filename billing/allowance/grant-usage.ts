import { type Decimal, decimal, decimalString, greatest, storedDecimal, zero } from '../money/money.ts';
import type { Interval } from '../time/calendar.ts';
import type { GrantConfiguration, MeterGrants } from './grant.ts';
import { fromMicrosecond, type GrantWindows, grantWindows, type Microsecond, toMicrosecond } from './grant-window.ts';

/** One event as its meter counts it. They come in the order of (`at`, `id`). */
export interface MeteredEvent {
  /** In UTC, with microseconds. */
  at: string;
  id: string;
  /** What it adds before the meter's multiplier; below zero for a correction. */
  value: string;
  /** It meets the conditions of the price that asks. */
  isOwn: boolean;
}

/** Events of a stretch of time, all of them the line's own, added up. */
export interface MeteredStretch {
  start: Microsecond;
  /** Exclusive. */
  end: Microsecond;
  sum: string;
  /** The least of their values. */
  least: string;
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

/** A time in which the same budgets are given. */
export interface GrantTenure {
  grants: MeterGrants;
  cycle: Interval;
}

export interface GrantQuestion {
  /** Billing periods, or the parts of them by plan, each whole: windows do not depend on which part of one is billed. */
  tenures: readonly GrantTenure[];
  /** The time whose events are billed. */
  billed: Interval;
  timezone: string;
  /** The line's price of a quantity, for budgets of money. */
  costOf: (quantity: Decimal) => Decimal;
}

/** What budgets made of the events of their billing periods. */
export interface GrantMeasure {
  /** What each has of windows, and what of it is billed: units or money, unrounded. */
  cycles: (GrantTenure & { windows: MeasuredGrant[]; billable: Decimal })[];
  /** The line's own usage in the billed time: what it would be billed without budgets. */
  ownUsage: Decimal;
}

/** Takes the events of a meter one by one and keeps what follows from them: its size does not grow with their number. */
export interface GrantFold {
  add(event: MeteredEvent): void;
  /**
   * Adds the events of a stretch of time in one step, in their place among the others. Where it could make a difference that they
   * are several, adds nothing and answers false: then they are to be added one by one.
   */
  addTogether(stretch: MeteredStretch): boolean;
  measured(): GrantMeasure;
}

/** Begins to measure, for the multiplier of a SUM_WITH_MULTIPLIER meter. */
export type GrantFolding = (multiplier: string | null) => GrantFold;

/** A window and its state after the events seen so far. */
interface OpenWindow extends Interval {
  added: Decimal;
  usage: Decimal;
  overage: Decimal;
  crossedAt: Microsecond | null;
}

/**
 * Walks the events of billing periods through the budgets of their meter: the windows of each with usage and overage, and
 * what is billed of the events in the billed time that are the line's own. An event is billed what the overage grows by; of
 * parallel budgets the largest growth, so that a unit over several of them is billed once. What is billed of a period is never
 * negative. Events come in the order of (`at`, `id`). spec: catalogue-and-metering §9.2, §9.3
 */
export function grantFolding(question: GrantQuestion): GrantFolding {
  const [from, to] = [toMicrosecond(question.billed.start), toMicrosecond(question.billed.end)];
  return (multiplier) => {
    const cycles = question.tenures.map((tenure) => openCycle(tenure, question.timezone));
    let own = zero;
    return {
      add(event) {
        const isBilled = event.isOwn && event.at >= from && event.at < to;
        if (isBilled) own = own.plus(decimal(event.value));
        for (const cycle of cycles) {
          if (event.at < cycle.start || event.at >= cycle.end) continue;
          const growth = growCycle(cycle, event, question, multiplier);
          if (growth && isBilled) cycle.billable = cycle.billable.plus(growth);
        }
      },
      addTogether(stretch) {
        const isBilled = placeIn({ start: from, end: to }, stretch);
        const growths = cycles.map((cycle) => growthTogether(cycle, stretch, multiplier));
        if (decimal(stretch.least).lt(0) || isBilled === null || growths.includes(null)) return false;
        if (isBilled) own = own.plus(decimal(stretch.sum));
        for (const [index, cycle] of cycles.entries()) {
          for (const { window, after } of growths[index]!.steps) Object.assign(window, after);
          if (isBilled) cycle.billable = cycle.billable.plus(growths[index]!.growth);
        }
        return true;
      },
      measured: () => ({ cycles: cycles.map(measuredCycle), ownUsage: meteredValue(own, multiplier) }),
    };
  };
}

/** A billing period and its budgets after the events seen so far. */
interface OpenCycle {
  tenure: GrantTenure;
  start: Microsecond;
  end: Microsecond;
  budgets: { configuration: GrantConfiguration; windows: GrantWindows; states: OpenWindow[]; position: number }[];
  billable: Decimal;
}

function openCycle(tenure: GrantTenure, timezone: string): OpenCycle {
  const { grants, cycle } = tenure;
  const budgets = grants.configurations.map((configuration) => {
    const windows = grantWindows(configuration, cycle, timezone);
    return { configuration, windows, states: windows.opened.map(opened), position: 0 };
  });
  return { tenure, start: toMicrosecond(cycle.start), end: toMicrosecond(cycle.end), budgets, billable: zero };
}

/** Adds an event to every budget and gives the largest growth of an overage; null where no window holds it. */
function growCycle(
  { budgets }: OpenCycle,
  event: MeteredEvent,
  question: GrantQuestion,
  multiplier: string | null,
): Decimal | null {
  let growth: Decimal | null = null;
  for (const budget of budgets) {
    const window = windowAt(budget, event.at);
    const own = window && grow(window, event, budget.configuration, multiplier, question.costOf);
    if (own && (growth === null || own.gt(growth))) growth = own;
  }
  return growth;
}

/** True inside, false beside, null for a stretch that the interval cuts. */
function placeIn(interval: Interval, { start, end }: Interval): boolean | null {
  if (start >= interval.start && end <= interval.end) return true;
  return end <= interval.start || start >= interval.end ? false : null;
}

/** A window as a stretch leaves it. */
interface Step {
  window: OpenWindow;
  after: Pick<OpenWindow, 'added' | 'usage' | 'overage'>;
  growth: Decimal;
}

/**
 * What a stretch of values that are not negative makes of a cycle's budgets, where each has one open window over all of it and stays
 * either below its quota or at it and above. Then the growths of its events add up to the growth of all: those below grow by
 * nothing, of those above each event grows by its value; with a multiplier, whose products are rounded, only one may be above.
 * Null where that cannot be told.
 */
function growthTogether(
  { start, end, budgets }: OpenCycle,
  stretch: MeteredStretch,
  multiplier: string | null,
): { steps: Step[]; growth: Decimal } | null {
  const isInside = placeIn({ start, end }, stretch);
  if (!isInside) return isInside === null ? null : { steps: [], growth: zero };
  const steps: Step[] = [];
  for (const budget of budgets) {
    const step = stepTogether(budget, stretch, multiplier);
    if (!step) return null;
    steps.push(step);
  }
  const over = steps.filter(({ window }) => window.crossedAt !== null);
  if (over.length > 1 && (multiplier !== null || over.some(({ window }) => window.added.lt(0)))) return null;
  return { steps, growth: over[0]?.growth ?? zero };
}

function stepTogether(
  { configuration, states, position }: OpenCycle['budgets'][number],
  stretch: MeteredStretch,
  multiplier: string | null,
): Step | null {
  const window = states.findLast((state, index) => index >= position && state.start <= stretch.start);
  // Money may fall while units grow, where a price says so.
  if (!window || !placeIn(window, stretch) || configuration.measure === 'amount') return null;
  const quota = storedDecimal(configuration.quota);
  const added = window.added.plus(decimal(stretch.sum));
  const usage = meteredValue(added, multiplier);
  if (window.crossedAt === null && usage.gte(quota)) return null;
  const overage = greatest(usage.minus(quota), zero);
  return { window, after: { added, usage, overage }, growth: overage.minus(window.overage) };
}

function measuredCycle({ tenure, budgets, billable }: OpenCycle): GrantMeasure['cycles'][number] {
  const windows = budgets.flatMap(({ configuration, states }) =>
    states.map((window) => measuredGrant(configuration, window)),
  );
  return { ...tenure, windows, billable: greatest(billable, zero) };
}

/** What a meter that counts or adds up says of a sum of values. spec: catalogue-and-metering §7.1 */
export function meteredValue(added: Decimal, multiplier: string | null): Decimal {
  return greatest(storedDecimal(multiplier === null ? added : added.times(decimal(multiplier))), zero);
}

function opened(window: Interval): OpenWindow {
  return { ...window, added: zero, usage: zero, overage: zero, crossedAt: null };
}

/** The window that holds an event, which may open it. Events come in time order, so that the window only moves on. */
function windowAt(budget: OpenCycle['budgets'][number], at: Microsecond): OpenWindow | null {
  const { windows, states } = budget;
  windows.meet(at);
  while (states.length < windows.opened.length) states.push(opened(windows.opened[states.length]!));
  while (budget.position + 1 < states.length && states[budget.position + 1]!.start <= at) budget.position += 1;
  const window = states[budget.position];
  return window && window.start <= at && at < window.end ? window : null;
}

/** Adds an event and gives what the overage grew by. */
function grow(
  window: OpenWindow,
  event: MeteredEvent,
  { measure, quota: text }: GrantConfiguration,
  multiplier: string | null,
  costOf: GrantQuestion['costOf'],
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
