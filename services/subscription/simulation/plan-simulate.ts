import { type PeriodTerms, periodTerms, termsOfPeriod } from '../../../billing/line/period-allowance.ts';
import { selectPrices } from '../../../billing/price/price-selection.ts';
import { type EndedPeriod, endedPeriods } from '../../../billing/subscription/plan-simulation.ts';
import { realNow } from '../../../db/clock.ts';
import { badField } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { meteredPartsOfPlan } from '../../catalogue/entitlement/entitlement-part.ts';
import { findPlan } from '../../catalogue/plan/plan.ts';
import type { ChargeRequest } from '../../charging/charge-request.ts';
import { type BilledLine, computeCharges } from '../../charging/subscription-charge.ts';
import type { SubscriptionRow } from '../../charging/subscription-row.ts';
import { askedOnce } from '../../usage/usage-questions.ts';
import type { UsageReader } from '../../usage-reader.ts';
import { type SimulatedPrice, simulatedItems, simulatedPrices } from './plan-simulate-terms.ts';
import { chosenSubscriptions, type SimulatedCustomer, type SimulationChoice } from './simulation-choice.ts';

export interface SimulationRequest extends SimulationChoice {
  planId: string;
  start: string;
  end: string;
  /** Answers every line with its derivation, for at most 2 000 periods. */
  withLines: boolean;
}

/** A period of a subscription with what it costs under its own terms and under the plan's. */
export interface SimulatedPeriod extends EndedPeriod {
  current: BilledLine[];
  simulated: BilledLine[];
}

export interface SimulatedSubscription {
  row: SubscriptionRow;
  customer: SimulatedCustomer;
  periods: SimulatedPeriod[];
}

export interface PlanSimulation {
  subscriptions: SimulatedSubscription[];
  /** What could not be compared, and why. */
  leftOut: { customer: SimulatedCustomer; subscriptionId: string | null; reason: string }[];
}

const maxPeriods = 10_000;
const maxPeriodsWithLines = 2_000;

/**
 * What chosen customers would have paid for the billing periods that ended in a window, had their subscriptions been on this
 * plan: its prices as they are now, whenever they begin, its allowances, and the usage that is stored, in the periods that the
 * subscriptions had. The current side is computed from the subscriptions' own terms in the same way. Nothing is written: the
 * transaction is read-only. Throws `not_found` for the plan or a customer, `validation_error` for too much at once.
 * spec: catalogue-and-metering §4.3, §8.4; own operation
 */
export async function simulatePlan(
  tx: Transaction,
  request: SimulationRequest,
  readUsage: UsageReader,
): Promise<PlanSimulation> {
  await tx.rows('set transaction read only');
  const plan = await findPlan(tx, request.planId);
  const chosen = await chosenSubscriptions(tx, request);
  const prices = await simulatedPrices(tx, plan.id, realNow());
  const included = await planTerms(tx, plan.id);
  const result: PlanSimulation = { subscriptions: [], leftOut: [...chosen.leftOut] };
  const attached = new Map<string, SimulatedPrice[]>();
  for (const { row, customer } of chosen.subscriptions) {
    const periods = endedPeriods(row, request, customer.now);
    const own = selectPrices(
      row,
      prices.filter(({ currency }) => currency === row.currency),
    );
    const reason = periods.length === 0 ? noPeriod : own.length === 0 ? noPrice(row) : null;
    if (reason) result.leftOut.push({ customer, subscriptionId: row.id, reason });
    else {
      attached.set(row.id, own);
      result.subscriptions.push({
        row,
        customer,
        periods: periods.map((period) => ({ ...period, current: [], simulated: [] })),
      });
    }
  }
  refuseTooMuch(result, request);
  await rate(tx, result.subscriptions, { attached, included, readUsage });
  return result;
}

const noPeriod = 'no billing period of the subscription ended in the window';

function noPrice({ currency, billingPeriod, billingPeriodCount }: SubscriptionRow): string {
  const every = billingPeriodCount === 1 ? billingPeriod : `${billingPeriodCount} × ${billingPeriod}`;
  return `the plan has no price in ${currency} that bills once or ${every}`;
}

function refuseTooMuch({ subscriptions }: PlanSimulation, { withLines }: SimulationRequest): void {
  const periods = subscriptions.reduce((count, subscription) => count + subscription.periods.length, 0);
  const most = withLines ? maxPeriodsWithLines : maxPeriods;
  if (periods <= most) return;
  const remedy = withLines
    ? 'choose fewer customers, a shorter window, or leave include_lines out'
    : 'choose fewer customers or a shorter window';
  throw badField('end_time', `makes ${periods} billing periods to rate, and ${most} are the most at once: ${remedy}`);
}

/** The plan's allowances and budgets that have not ended, by meter; when they begin does not matter. */
async function planTerms(tx: Transaction, planId: string): Promise<PeriodTerms> {
  const parts = await meteredPartsOfPlan(tx, tx.scope.environmentId, planId);
  return periodTerms(
    parts.map((part) => ({ ...part, startDate: null })),
    realNow(),
  );
}

interface Terms {
  attached: ReadonlyMap<string, SimulatedPrice[]>;
  included: PeriodTerms;
  readUsage: UsageReader;
}

/** Both sides of all periods at once: items, prices and usage are each read once, whatever the number of customers. */
async function rate(tx: Transaction, subscriptions: SimulatedSubscription[], terms: Terms): Promise<void> {
  const sides: { request: ChargeRequest; period: SimulatedPeriod; side: 'current' | 'simulated' }[] = [];
  for (const { row, periods } of subscriptions) {
    const items = simulatedItems(row, terms.attached.get(row.id) ?? []);
    for (const period of periods) {
      const charge = { subscription: row, reason: 'preview' as const, elapsed: period.elapsed, next: period.advance };
      const key = `${row.id} ${period.start}`;
      const current: ChargeRequest = { ...charge, key, withoutBilled: true };
      const included = termsOfPeriod(terms.included, row, period.start);
      const simulated = { ...current, key: `${key} simulated`, terms: { items, ...included } };
      sides.push({ request: current, period, side: 'current' }, { request: simulated, period, side: 'simulated' });
    }
  }
  const requests = sides.map(({ request }) => request);
  const lines = await computeCharges(tx, tx.scope, requests, askedOnce(terms.readUsage));
  for (const { request, period, side } of sides) {
    // What begins at the very end of a period belongs to the next one.
    period[side] = (lines.get(request.key) ?? []).filter(
      ({ derivation, periodStart }) => derivation.charge !== 'onetime' || periodStart < period.end,
    );
  }
}
