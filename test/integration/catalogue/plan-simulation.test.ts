import { beforeAll, describe, expect, test } from 'vitest';
import { createSandbox } from '../../../services/platform/tenant.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  testPlatform,
} from '../../support/billing.ts';
import { rowCounts } from '../api/bad-input.fixture.ts';

const { api, base } = await testPlatform();
const begin = '2026-01-15T00:00:00Z';
const quarter = { start_time: '2026-01-15T00:00:00Z', end_time: '2026-04-15T00:00:00Z' };

interface Simulation {
  totals: Record<string, unknown>[];
  customers: SimulatedCustomer[];
  not_simulated: { customer_id: string; subscription_id: string | null; reason: string }[];
}
interface SimulatedCustomer {
  customer_id: string;
  external_customer_id: string;
  currency: string;
  current: string;
  simulated: string;
  difference: string;
  outcome: string;
  subscriptions: {
    periods: { start: string; end: string; current: string; simulated: string; lines: Lines | null }[];
  }[];
}
interface Lines {
  current: Line[];
  simulated: Line[];
}
interface Line {
  price_id: string;
  quantity: string;
  amount: string;
  adjusted_entitlement_quantity: string | null;
  period_start: string;
  derivation: { parts: { steps: unknown[] }[] };
}

/** 30 a month in advance, 0.10 a call. */
const plan = await monthlyPlan(api);
/** A draft whose prices begin today, months after the window: 12 a month, 20 calls free, 0.25 for each of the others. */
const draft = await created(api, '/plans', { name: 'Draft' });
const features = await api<{ items: { id: string; meter_id: string }[] }>('GET', '/features?limit=1000');
const calls = features.body.items.find((feature) => feature.meter_id === plan.meterId)!;
const common = { plan_id: draft.id, billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', currency: 'usd' };
const perCall = { ...common, type: 'USAGE', invoice_cadence: 'ARREAR', meter_id: plan.meterId, amount: '0.25' };
const fee = await created(api, '/prices', { ...common, type: 'FIXED', invoice_cadence: 'ADVANCE', amount: '12' });
const call = await created(api, '/prices', perCall);
await created(api, '/entitlements', {
  plan_id: draft.id,
  feature_id: calls.id,
  feature_type: 'metered',
  usage_limit: 20,
  usage_reset_period: 'MONTHLY',
});

const clockId = (await created(api, '/test-clocks', { frozen_time: begin })).id;
async function customer(callsOfMonths: number[], plans = [plan.planId], zone?: string) {
  const owner = await clockedCustomer(api, { frozenTime: begin, clockId, ...(zone ? { timezone: zone } : {}) });
  const subscriptions = [];
  for (const plan_id of plans) subscriptions.push(await subscribe(api, { customer_id: owner.customerId, plan_id }));
  const events = callsOfMonths.flatMap((count, month) =>
    Array.from({ length: count }, (_, index) => ({
      event_id: `${owner.externalId}-${month}-${index}`,
      event_name: plan.eventName,
      external_customer_id: owner.externalId,
      timestamp: `2026-0${month + 1}-20T12:00:00Z`,
    })),
  );
  if (events.length > 0) await created(api, '/events/bulk', { events });
  return { ...owner, subscriptionId: subscriptions[0]?.id ?? '' };
}

const light = await customer([5, 5, 5]);
const heavy = await customer([300, 10, 400], [plan.planId], 'America/New_York');
const idle = await customer([]);
const stranger = await customer([7], []);

beforeAll(() => advanceTo(api, clockId, '2026-04-16T00:00:00Z'), 120_000);

async function simulate(body: object, planId = draft.id): Promise<Simulation> {
  const answer = await api<Simulation>('POST', `/plans/${planId}/simulate`, { ...quarter, ...body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

describe('a draft plan', () => {
  test('is compared with what everybody on the other plan pays, by hand', async () => {
    const { customers, totals, not_simulated } = await simulate({ current_plan_id: plan.planId });
    // 3 × 30 + 0.10 a call against 3 × 12 + 0.25 for each call beyond 20 in a month.
    expect(
      customers.map(({ customer_id, current, simulated, difference, outcome }) => [
        customer_id,
        current,
        simulated,
        difference,
        outcome,
      ]),
    ).toEqual([
      [light.customerId, '91.5', '36', '-55.5', 'winner'],
      [idle.customerId, '90', '36', '-54', 'winner'],
      [heavy.customerId, '161', '201', '40', 'loser'],
    ]);
    expect(totals).toEqual([
      {
        currency: 'usd',
        customers: 3,
        periods: 9,
        current: '342.5',
        simulated: '273',
        difference: '-69.5',
        winners: { customers: 2, difference: '-109.5' },
        losers: { customers: 1, difference: '40' },
        unchanged: 0,
      },
    ]);
    expect(not_simulated).toEqual([]);
  });

  test('shows each line with its derivation on request', async () => {
    const { customers } = await simulate({ external_customer_ids: [heavy.externalId], include_lines: true });
    const [first] = customers[0]!.subscriptions[0]!.periods;
    expect(first).toMatchObject({ start: '2026-01-15T00:00:00.000Z', current: '60', simulated: '82' });
    expect(first!.lines!.simulated.map(({ price_id, quantity, amount }) => [price_id, quantity, amount])).toEqual([
      [fee.id, '1', '12'],
      [call.id, '280', '70'],
    ]);
    const [, usage] = first!.lines!.simulated;
    expect(usage).toMatchObject({ adjusted_entitlement_quantity: '20' });
    expect(usage!.derivation.parts[0]!.steps).toHaveLength(1);
    const quiet = await simulate({ customer_ids: [light.customerId] });
    expect(quiet.customers[0]!.subscriptions[0]!.periods[0]!.lines).toBeNull();
  });

  test('takes the price in force of those that supersede each other', async () => {
    const changing = await created(api, '/plans', { name: 'Changing' });
    const price = await created(api, '/prices', { ...perCall, plan_id: changing.id });
    await api('PUT', `/prices/${price.id}`, { amount: '1' });
    const { customers } = await simulate({ customer_ids: [light.customerId] }, changing.id);
    expect(customers[0]).toMatchObject({ current: '91.5', simulated: '15' });
  });
});

describe('the plan they have', () => {
  test('makes no difference, and both sides are the lines of the invoices', async () => {
    const { customers, totals } = await simulate({ current_plan_id: plan.planId, include_lines: true }, plan.planId);
    expect(totals[0]).toMatchObject({ current: '342.5', simulated: '342.5', difference: '0', unchanged: 3 });
    for (const subscriber of [light, heavy, idle]) {
      const invoices = await invoicesOf(api, subscriber.subscriptionId);
      const issued = invoices
        .flatMap((invoice) => invoice.line_items)
        .filter((line) => line.period_end <= '2026-04-15T00:00:00.000Z')
        .map((line) => [line.period_start, line.quantity, line.amount])
        .sort();
      const { subscriptions } = customers.find((each) => each.customer_id === subscriber.customerId)!;
      for (const side of ['current', 'simulated'] as const) {
        const lines = subscriptions.flatMap(({ periods }) => periods.flatMap((period) => period.lines![side]));
        expect(lines.map((line) => [line.period_start, line.quantity, line.amount]).sort()).toEqual(issued);
      }
    }
  });
});

describe('the window', () => {
  test('counts the periods that ended in it', async () => {
    const one = {
      customer_ids: [light.customerId],
      start_time: '2026-02-15T00:00:00Z',
      end_time: '2026-03-15T00:00:00Z',
    };
    const { customers } = await simulate(one);
    expect(customers[0]!.subscriptions[0]!.periods.map(({ start }) => start)).toEqual(['2026-02-15T00:00:00.000Z']);
    const none = await simulate({ ...one, end_time: '2026-03-14T00:00:00Z' });
    expect(none.customers).toEqual([]);
    expect(none.not_simulated[0]!.reason).toContain('no billing period');
  });

  test("does not reach beyond the customer's present", async () => {
    const { customers } = await simulate({ customer_ids: [light.customerId], end_time: '2030-01-01T00:00:00Z' });
    expect(customers[0]!.subscriptions[0]!.periods).toHaveLength(3);
  });
});

test('who cannot be compared is told with the reason', async () => {
  const euros = await created(api, '/plans', { name: 'Euros' });
  await created(api, '/prices', { ...perCall, plan_id: euros.id, currency: 'eur' });
  const { customers, not_simulated } = await simulate(
    { customer_ids: [stranger.customerId, light.customerId] },
    euros.id,
  );
  expect(customers).toEqual([]);
  expect(not_simulated).toEqual([
    expect.objectContaining({
      customer_id: stranger.customerId,
      subscription_id: null,
      reason: expect.stringContaining('no subscription'),
    }),
    expect.objectContaining({
      customer_id: light.customerId,
      subscription_id: light.subscriptionId,
      reason: expect.stringContaining('no price in usd'),
    }),
  ]);
});

test('nothing is written', async () => {
  const before = await rowCounts(base);
  await simulate({ current_plan_id: plan.planId, include_lines: true });
  expect(await rowCounts(base)).toBe(before);
});

describe('refusals', () => {
  // biome-ignore format: a table, a case a line
  test.each([
    ['nobody', draft.id, {}, 400, 'customer_ids'],
    ['an empty list', draft.id, { customer_ids: [] }, 400, 'customer_ids'],
    ['an unknown customer', draft.id, { customer_ids: ['cust_none'] }, 404, 'cust_none'],
    ['an unknown external customer', draft.id, { external_customer_ids: ['nobody'] }, 404, 'nobody'],
    ['an unknown current plan', draft.id, { current_plan_id: 'plan_none' }, 404, 'plan_none'],
    ['an unknown plan', 'plan_none', { current_plan_id: plan.planId }, 404, 'plan_none'],
    ['no window', draft.id, { current_plan_id: plan.planId, start_time: undefined }, 400, 'start_time'],
    ['a window backwards', draft.id, { current_plan_id: plan.planId, end_time: quarter.start_time }, 400, 'end_time'],
    ['too many customers', draft.id, { customer_ids: Array.from({ length: 1001 }, (_, index) => `c${index}`) }, 400, 'customer_ids'],
  ] as [string, string, object, number, string][])('%s', async (_name, planId, body, status, word) => {
    const answer = await api<{ message: string }>('POST', `/plans/${planId}/simulate`, { ...quarter, ...body });
    expect(answer.status).toBe(status);
    expect(answer.body.message).toContain(word);
  });

  test('customers and plans of another tenant are not there', async () => {
    const other = await createSandbox(base.database, { tenantName: 'Other' });
    const headers = { 'x-api-key': other.apiKey };
    const own = await api<{ id: string }>('POST', '/plans', { name: 'Own' }, headers);
    const body = { ...quarter, customer_ids: [light.customerId] };
    expect((await api('POST', `/plans/${own.body.id}/simulate`, body, headers)).status).toBe(404);
    expect((await api('POST', `/plans/${draft.id}/simulate`, body, headers)).status).toBe(404);
  });
});
