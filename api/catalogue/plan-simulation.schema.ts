import { z } from 'zod';
import { decimalString } from '../../billing/money/money.ts';
import { byGain, type Comparison, comparison } from '../../billing/subscription/plan-simulation.ts';
import type { BilledLine } from '../../services/charging/subscription-charge.ts';
import type {
  SimulatedPeriod,
  SimulatedSubscription,
  SimulationRequest,
} from '../../services/subscription/simulation/plan-simulate.ts';
import type { BoundSimulation } from '../../services/subscription/simulation/plan-simulate-bound.ts';
import { previewDigestOutput, repeatedDigestInput } from '../preview-digest.schema.ts';
import { decimalOutput, timestampInput, timestampOutput } from '../scalars.schema.ts';

const ids = z.array(z.string().min(1).max(255)).min(1).max(1000).nullish();

export const simulatePlanBody = z
  .object({
    customer_ids: ids.describe('Of these customers every subscription, or those on `current_plan_id`.'),
    external_customer_ids: ids.describe('The same, by your ids.'),
    current_plan_id: z
      .string()
      .min(1)
      .max(255)
      .nullish()
      .describe('Only subscriptions on this plan; without customers, of everybody who has one.'),
    start_time: timestampInput(),
    end_time: timestampInput().describe('Billing periods count that ended after `start_time` and until `end_time`.'),
    include_lines: z.boolean().nullish().describe('Answers every line of both sides with its derivation.'),
    preview_digest: repeatedDigestInput,
  })
  .superRefine((body, context) => {
    const issue = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
    if (!body.customer_ids && !body.external_customer_ids && !body.current_plan_id)
      issue('customer_ids', 'is required; or send external_customer_ids or current_plan_id');
    if (body.end_time <= body.start_time) issue('end_time', 'must be after start_time');
  })
  .meta({
    examples: [
      { current_plan_id: 'plan_01JCXYZ', start_time: '2026-01-01T00:00:00Z', end_time: '2026-04-01T00:00:00Z' },
    ],
  });

export function simulationRequestOf(planId: string, body: z.output<typeof simulatePlanBody>): SimulationRequest {
  return {
    planId,
    customerIds: body.customer_ids ?? null,
    externalCustomerIds: body.external_customer_ids ?? null,
    currentPlanId: body.current_plan_id ?? null,
    start: body.start_time,
    end: body.end_time,
    withLines: body.include_lines ?? false,
  };
}

const compared = {
  current: decimalOutput(),
  simulated: decimalOutput(),
  difference: decimalOutput().describe('simulated − current.'),
};
const outcome = z.enum(['winner', 'loser', 'unchanged']).describe('A winner would have paid less.');

const line = z.object({
  price_id: z.string(),
  display_name: z.string(),
  price_type: z.enum(['FIXED', 'USAGE']),
  quantity: decimalOutput(),
  adjusted_entitlement_quantity: decimalOutput().nullable(),
  amount: decimalOutput(),
  period_start: timestampOutput(),
  period_end: timestampOutput(),
  derivation: z.record(z.string(), z.unknown()),
});

const period = z.object({
  start: timestampOutput(),
  end: timestampOutput(),
  ...compared,
  lines: z
    .object({ current: z.array(line), simulated: z.array(line) })
    .nullable()
    .describe('With `include_lines`; else null.'),
});

const simulatedCustomer = z
  .object({
    customer_id: z.string(),
    external_customer_id: z.string(),
    name: z.string(),
    currency: z.string(),
    ...compared,
    outcome,
    subscriptions: z.array(
      z.object({ subscription_id: z.string(), plan_id: z.string(), ...compared, periods: z.array(period) }),
    ),
  })
  .meta({ id: 'SimulatedCustomer' });

const side = z.object({ customers: z.int(), difference: decimalOutput() });

/** Own operation. Amounts are those of invoice lines: before coupons, credits and taxes. */
export const planSimulation = z
  .object({
    plan_id: z.string(),
    start_time: timestampOutput(),
    end_time: timestampOutput(),
    totals: z.array(
      z.object({
        currency: z.string(),
        customers: z.int(),
        periods: z.int(),
        ...compared,
        winners: side,
        losers: side,
        unchanged: z.int(),
      }),
    ),
    customers: z.array(simulatedCustomer).describe('By currency, who would have gained most first.'),
    not_simulated: z.array(
      z.object({
        customer_id: z.string(),
        external_customer_id: z.string(),
        subscription_id: z.string().nullable(),
        reason: z.string(),
      }),
    ),
    preview_digest: previewDigestOutput,
  })
  .meta({ id: 'PlanSimulation' });

type View = z.output<typeof planSimulation>;
type CustomerView = z.output<typeof simulatedCustomer>;

export function viewPlanSimulation(request: SimulationRequest, simulation: BoundSimulation): View {
  const groups = Map.groupBy(simulation.subscriptions, ({ customer, row }) => `${customer.id} ${row.currency}`);
  const customers = [...groups.values()].map((group) => viewCustomer(group, request.withLines));
  const byCurrency = Map.groupBy(customers, (customer) => customer.currency);
  return {
    plan_id: request.planId,
    start_time: request.start,
    end_time: request.end,
    totals: [...byCurrency].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, some]) => viewTotal(some)),
    customers: customers.sort(byGain),
    not_simulated: simulation.leftOut.map(({ customer, subscriptionId, reason }) => ({
      customer_id: customer.id,
      external_customer_id: customer.externalId,
      subscription_id: subscriptionId,
      reason,
    })),
    preview_digest: simulation.previewDigest,
  };
}

function viewCustomer(group: readonly SimulatedSubscription[], withLines: boolean): CustomerView {
  const { customer, row } = group[0]!;
  const { currency } = row;
  return {
    customer_id: customer.id,
    external_customer_id: customer.externalId,
    name: customer.name,
    currency,
    ...linesCompared(
      group.flatMap(({ periods }) => periods),
      currency,
    ),
    subscriptions: group.map(({ row: { id, planId }, periods }) => {
      const { outcome: _, ...sums } = linesCompared(periods, currency);
      const views = periods.map((each) => viewPeriod(each, currency, withLines));
      return { subscription_id: id, plan_id: planId, ...sums, periods: views };
    }),
  };
}

function viewPeriod(each: SimulatedPeriod, currency: string, withLines: boolean): z.output<typeof period> {
  const { outcome: _, ...sums } = linesCompared([each], currency);
  const lines = withLines ? { current: each.current.map(viewLine), simulated: each.simulated.map(viewLine) } : null;
  return { start: each.start, end: each.end, ...sums, lines };
}

function linesCompared(periods: readonly SimulatedPeriod[], currency: string): Comparison {
  const amounts = (name: 'current' | 'simulated') => periods.flatMap((each) => each[name].map(({ amount }) => amount));
  return comparison(amounts('current'), amounts('simulated'), currency);
}

function viewLine(billed: BilledLine): z.output<typeof line> {
  return {
    price_id: billed.priceId ?? '',
    display_name: billed.displayName,
    price_type: billed.priceType,
    quantity: billed.quantity,
    adjusted_entitlement_quantity: billed.adjustedEntitlementQuantity,
    amount: decimalString(billed.amount),
    period_start: billed.periodStart,
    period_end: billed.periodEnd,
    derivation: { ...billed.derivation },
  };
}

function viewTotal(customers: readonly CustomerView[]): View['totals'][number] {
  const { currency } = customers[0]!;
  const sums = (some: readonly CustomerView[]) =>
    comparison(
      some.map(({ current }) => current),
      some.map(({ simulated }) => simulated),
      currency,
    );
  const of = (wanted: CustomerView['outcome']) => customers.filter((customer) => customer.outcome === wanted);
  const sideOf = (some: readonly CustomerView[]) => ({ customers: some.length, difference: sums(some).difference });
  const { outcome: _, ...total } = sums(customers);
  return {
    currency,
    customers: customers.length,
    periods: customers.flatMap(({ subscriptions }) => subscriptions.flatMap(({ periods }) => periods)).length,
    ...total,
    winners: sideOf(of('winner')),
    losers: sideOf(of('loser')),
    unchanged: of('unchanged').length,
  };
}
