import { earlier, type Interval, later, nextBoundary } from './calendar.ts';
import type {
  ChargeItem,
  ChargePlanInput,
  GrantCycle,
  PlannedGrants,
  PlannedUsage,
  UsageAnswer,
} from './charge-input.ts';
import type { Service } from './charge-window.ts';
import type { DerivedGrants, DerivedUsage } from './derivation.ts';
import type { MeterGrants } from './grant.ts';
import { grantTenures } from './grant-tenure.ts';
import { type MeasuredGrant, measureGrants, meteredValue } from './grant-usage.ts';
import { toMicrosecond } from './grant-window.ts';
import { cutPeriodStart } from './intermediate-invoice.ts';
import { type Decimal, decimal, decimalString, sum, zero } from './money.ts';
import { type PriceTerms, pricerOf } from './price.ts';
import { costInCurrency } from './price-unit.ts';

/** Up to this many windows are listed, so that a line stays a small document. */
const listedWindows = 2000;
const walkBound = 10_000;

const countedTypes = ['COUNT', 'SUM', 'SUM_WITH_MULTIPLIER'];

/** The windows that a line's budgets had in a billing period, for their records. */
export interface CycleGrants {
  cycle: Interval;
  measure: MeterGrants['measure'];
  /** Every budget that was measured, with a window or without. */
  entitlementIds: string[];
  windows: MeasuredGrant[];
}

/**
 * The budgets that decide about a line: its meter counts or adds up without buckets, its price has no tiers, and with budgets
 * of money it has no commitment. Other lines of
 * a feature with budgets are billed whole: the periodic limit is replaced, not added. spec: catalogue-and-metering §9.3
 */
export function grantsOfLine(item: ChargeItem, input: ChargePlanInput): MeterGrants | null {
  const grants = (item.meterId && input.grants?.[item.meterId]) || null;
  const isCounted = item.bucketSize === null && countedTypes.includes(item.meterType ?? '');
  if (!grants || !isCounted || item.price.billing_model === 'TIERED') return null;
  return grants.measure === 'amount' && item.commitment ? null : grants;
}

/**
 * The billing periods whose budgets a service touches; its own, or several for a line of a longer cadence. Where intermediate
 * invoices cut a period, its budgets are those of the whole of it, whichever piece is billed. spec: catalogue-and-metering §9.2,
 * subscriptions-and-invoicing §2.14.1
 */
export function grantCycles(service: Service, input: ChargePlanInput): GrantCycle[] {
  const { subscription } = input;
  const elapsed = uncutPeriod(input);
  if (elapsed && service.start >= elapsed.start) return [elapsed];
  const cadence = { ...subscription, anchor: subscription.billingAnchor };
  const cycles: GrantCycle[] = [];
  const until = elapsed ? elapsed.start : service.end;
  let start = service.start;
  for (let step = 0; step < walkBound && start < until; step += 1) {
    const end = earlier(nextBoundary({ ...cadence, periodStart: start }), until);
    cycles.push({ start, end });
    start = end;
  }
  return elapsed ? [...cycles, elapsed] : cycles;
}

function uncutPeriod({ elapsed, intermediate = [], reason }: ChargePlanInput): GrantCycle | null {
  if (!elapsed) return null;
  const start = cutPeriodStart(elapsed.start, intermediate) ?? elapsed.start;
  const fullEnd = later(elapsed.full.end, elapsed.end);
  const end = reason === 'threshold' ? fullEnd : elapsed.end;
  return end === fullEnd ? { start, end } : { start, end, fullEnd };
}

/** What budgets make of a usage part. */
export interface GrantedQuantity {
  /** Units over the budgets; 0 where they are of money. */
  billable: Decimal;
  adjusted: Decimal;
  /** Money over budgets of money, in the line's currency and unrounded. */
  money: Decimal | null;
  usage: DerivedUsage;
  derived: DerivedGrants;
  cycles: CycleGrants[];
}

/**
 * What of a usage part is billed: units over its budgets, for the normal price, or money over them. The part's own usage, the
 * windows and what was over them go into the derivation. spec: catalogue-and-metering §9.3
 */
export function measureGranted(
  planned: PlannedUsage & { grants: PlannedGrants },
  price: PriceTerms,
  answer: UsageAnswer,
): GrantedQuantity {
  const { grants, timezone } = planned.grants;
  const multiplier = answer.multiplier ?? null;
  const rated = pricerOf(price);
  const costOf = (quantity: Decimal): Decimal => costInCurrency(rated(quantity).cost, price);
  const tenures = planned.grants.cycles.flatMap((cycle) => grantTenures(grants, cycle));
  const measured = tenures.map(({ grants: held, cycle }) => {
    const billed = { start: later(planned.from, cycle.start), end: earlier(planned.to, cycle.end) };
    const question = { grants: held, cycle, timezone, multiplier, costOf };
    return { cycle, held, ...measureGrants(question, answer.events ?? [], billed) };
  });
  const over = sum(measured.map(({ billable }) => billable));
  const raw = ownUsage(planned, answer, multiplier);
  const isMoney = grants.measure === 'amount';
  const billable = isMoney ? zero : over;
  const windows = measured.flatMap((cycle) => cycle.windows);
  const { meterId, from, to } = planned;
  return {
    billable,
    adjusted: raw.minus(billable),
    money: isMoney ? over : null,
    usage: { meterId, from, to, quantity: decimalString(raw), watermark: answer.watermark ?? null, bucketing: null },
    derived: derivedGrants(grants, windows, over),
    cycles: measured.map(({ cycle, held, windows: own }) => ({
      cycle,
      measure: grants.measure,
      entitlementIds: held.configurations.map(({ entitlementId }) => entitlementId),
      windows: own,
    })),
  };
}

/** The line's own usage in its own time: what it would be billed without budgets. */
function ownUsage({ from, to }: { from: string; to: string }, answer: UsageAnswer, multiplier: string | null): Decimal {
  const [start, end] = [toMicrosecond(from), toMicrosecond(to)];
  let added = zero;
  for (const { at, value, isOwn } of answer.events ?? []) {
    if (isOwn && at >= start && at < end) added = added.plus(decimal(value));
  }
  return meteredValue(added, multiplier);
}

function derivedGrants(grants: MeterGrants, windows: readonly MeasuredGrant[], over: Decimal): DerivedGrants {
  return {
    mode: grants.mode,
    measure: grants.measure,
    windowCount: windows.length,
    windows: windows.length <= listedWindows ? [...windows] : null,
    billable: decimalString(over),
  };
}
