import type { MeterGrants } from '../allowance/grant.ts';
import { type GrantFolding, grantFolding, type MeasuredGrant } from '../allowance/grant-usage.ts';
import { type Decimal, decimalString, sum, zero } from '../money/money.ts';
import type { DerivedGrants, DerivedUsage } from '../price/derivation.ts';
import { pricerOf } from '../price/price.ts';
import type { PriceTerms } from '../price/price-terms.ts';
import { costInCurrency } from '../price/price-unit.ts';
import { earlier, type Interval, later, nextBoundary } from '../time/calendar.ts';
import type {
  ChargeItem,
  ChargePlanInput,
  GrantCycle,
  PlannedGrants,
  PlannedUsage,
  UsageAnswer,
} from './charge-input.ts';
import type { CycleGrants } from './charge-terms.ts';
import { grantTenures } from './grant-tenure.ts';
import { cutPeriodStart } from './intermediate-invoice.ts';
import type { Service } from './service.ts';

/** Up to this many windows are listed, so that a line stays a small document. */
const listedWindows = 2000;
const walkBound = 10_000;

const countedTypes = ['COUNT', 'SUM', 'SUM_WITH_MULTIPLIER'];

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

/** How the events of a line's billing periods are measured while they are read. spec: catalogue-and-metering §9.2, §9.3 */
export function foldingOf(
  { grants, cycles, timezone }: Omit<PlannedGrants, 'folding'>,
  billed: Interval,
  price: PriceTerms,
): GrantFolding {
  const rated = pricerOf(price);
  const costOf = (quantity: Decimal): Decimal => costInCurrency(rated(quantity).cost, price);
  const tenures = cycles.flatMap((cycle) => grantTenures(grants, cycle));
  return grantFolding({ tenures, billed, timezone, costOf });
}

/**
 * What of a usage part is billed: units over its budgets, for the normal price, or money over them. The part's own usage, the
 * windows and what was over them go into the derivation. spec: catalogue-and-metering §9.3
 */
export function measureGranted(
  { grants: { grants, folding }, meterId, from, to }: PlannedUsage & { grants: PlannedGrants },
  answer: UsageAnswer,
): GrantedQuantity {
  const measured = (answer.granted ?? folding(null)).measured();
  const over = sum(measured.cycles.map(({ billable }) => billable));
  const raw = measured.ownUsage;
  const isMoney = grants.measure === 'amount';
  const billable = isMoney ? zero : over;
  const windows = measured.cycles.flatMap((cycle) => cycle.windows);
  return {
    billable,
    adjusted: raw.minus(billable),
    money: isMoney ? over : null,
    usage: { meterId, from, to, quantity: decimalString(raw), watermark: answer.watermark ?? null, bucketing: null },
    derived: derivedGrants(grants, windows, over),
    cycles: measured.cycles.map(({ cycle, grants: held, windows: own }) => ({
      cycle,
      measure: grants.measure,
      entitlementIds: held.configurations.map(({ entitlementId }) => entitlementId),
      windows: own,
    })),
  };
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
