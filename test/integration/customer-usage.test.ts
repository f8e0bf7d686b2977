import { beforeAll, describe, expect, test } from 'vitest';
import { advanceTo, clockedCustomer, created, monthlyPlan, subscribe, testPlatform } from '../support/billing.ts';

const { api } = await testPlatform();

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
type Wire = any;

async function read(path: string): Promise<Wire> {
  const { status, body } = await api('GET', path);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

async function refused(path: string): Promise<[number, string]> {
  const { status, body } = await api<{ code: string }>('GET', path);
  return [status, body.code];
}

/** A feature with its meter. */
async function featureOf(meterId: string): Promise<Wire> {
  const { items } = await read('/features?limit=1000');
  return read(`/features/${items.find((feature: Wire) => feature.meter_id === meterId).id}`);
}

function grant(planId: string, feature: Wire, fields: object = {}): Promise<Wire> {
  const owner = { plan_id: planId, feature_id: feature.id, feature_type: feature.type };
  return created(api, '/entitlements', { ...owner, ...fields });
}

/** A plan that can be subscribed to has a price. */
async function addFee(planId: string): Promise<void> {
  await created(api, '/prices', {
    plan_id: planId,
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ADVANCE',
    currency: 'usd',
    amount: '0',
    start_date: '2020-01-01T00:00:00Z',
  });
}

async function use(eventName: string, externalId: string, timestamps: string[]): Promise<void> {
  const events = timestamps.map((timestamp) => ({
    event_name: eventName,
    external_customer_id: externalId,
    timestamp,
    properties: {},
  }));
  await created(api, '/events/bulk', { events });
}

let plan: Awaited<ReturnType<typeof monthlyPlan>>;
let customer: Awaited<ReturnType<typeof clockedCustomer>>;
let subscriptionId: string;
let calls: Wire;
const other: Record<string, Wire> = {};

beforeAll(async () => {
  plan = await monthlyPlan(api, { fee: '0' });
  calls = await featureOf(plan.meterId);
  for (const type of ['boolean', 'static', 'config']) {
    other[type] = await created<Wire>(api, '/features', { name: `A ${type} feature`, type });
  }
  await grant(plan.planId, other.config, { config_value: { region: 'eu' } });
  await grant(plan.planId, other.boolean, { is_enabled: true });
  await grant(plan.planId, calls, { usage_limit: 40, usage_reset_period: 'MONTHLY' });
  await grant(plan.planId, other.static, { static_value: 'gold' });
  customer = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
  const subscription = await subscribe(api, { customer_id: customer.customerId, plan_id: plan.planId });
  subscriptionId = subscription.id;
  await advanceTo(api, customer.clockId, '2026-01-10T00:00:00Z');
  const used = Array.from({ length: 10 }, (_, index) => `2026-01-05T00:00:0${index}Z`);
  await use(plan.eventName, customer.externalId, [...used, '2025-12-31T23:59:59Z', '2026-01-20T00:00:00Z']);
});

describe('the usage summary', () => {
  test('shows every documented key of a metered feature', async () => {
    const summary = await read(`/customers/${customer.customerId}/usage`);
    expect(summary).toEqual({
      customer_id: customer.customerId,
      features: expect.any(Array),
      period: { start_time: '2026-01-01T00:00:00.000Z', end_time: '2026-02-01T00:00:00.000Z', period: 'MONTHLY' },
      pagination: { limit: 4, offset: 0, total: 4 },
    });
    expect(summary.features[0]).toEqual({
      feature: calls,
      total_limit: 40,
      is_unlimited: false,
      current_usage: '10',
      usage_percent: '0.25',
      is_enabled: true,
      is_soft_limit: false,
      next_usage_reset_at: '2026-02-01T00:00:00.000Z',
      sources: [
        {
          subscription_id: subscriptionId,
          entity_id: plan.planId,
          entity_type: 'plan',
          entity_name: expect.stringMatching(/^Plan /),
          entitlement_id: expect.stringMatching(/^ent_/),
          quantity: 1,
          is_enabled: true,
          usage_limit: 40,
          usage_reset_period: 'MONTHLY',
          static_value: null,
          config_value: null,
        },
      ],
    });
  });

  test('lists metered, static, boolean and config features in this order', async () => {
    const { features } = await read(`/customers/${customer.customerId}/usage`);
    expect(features.map((row: Wire) => row.feature.type)).toEqual(['metered', 'static', 'boolean', 'config']);
    expect(features[1]).toMatchObject({
      total_limit: null,
      is_unlimited: false,
      current_usage: '0',
      usage_percent: '0',
      next_usage_reset_at: null,
      sources: [{ static_value: 'gold' }],
    });
  });

  test('is the same for a customer named by id, by lookup key and by both', async () => {
    const byId = await read(`/customers/usage?customer_id=${customer.customerId}`);
    const byKey = await read(`/customers/usage?customer_lookup_key=${customer.externalId}`);
    const byBoth = `customer_id=${customer.customerId}&customer_lookup_key=${customer.externalId}`;
    expect(byId.features).toHaveLength(4);
    expect(byKey).toEqual(byId);
    expect(await read(`/customers/usage?${byBoth}`)).toEqual(byId);
  });

  test('refuses no name, two names that disagree, and unknown customers', async () => {
    expect(await refused('/customers/usage')).toEqual([400, 'validation_error']);
    const disagreeing = `customer_id=cust_other&customer_lookup_key=${customer.externalId}`;
    expect(await refused(`/customers/usage?${disagreeing}`)).toEqual([400, 'validation_error']);
    expect(await refused('/customers/usage?customer_id=cust_other')).toEqual([404, 'not_found']);
    expect(await refused('/customers/usage?customer_lookup_key=other')).toEqual([404, 'not_found']);
    expect(await refused('/customers/cust_other/usage')).toEqual([404, 'not_found']);
  });

  test('is narrowed by features, lookup keys and subscriptions, to nothing where nothing matches', async () => {
    const names = async (filter: string) => {
      const { features } = await read(`/customers/${customer.customerId}/usage?${filter}`);
      return features.map((row: Wire) => row.feature.id);
    };
    expect(await names(`feature_ids=${calls.id},${other.static.id}`)).toEqual([calls.id, other.static.id]);
    expect(await names(`feature_lookup_keys=${other.boolean.lookup_key}`)).toEqual([other.boolean.id]);
    expect(await names(`subscription_ids=${subscriptionId}`)).toHaveLength(4);
    expect(await names('feature_ids=feat_none')).toEqual([]);
    expect(await names('feature_lookup_keys=none')).toEqual([]);
    expect(await names('subscription_ids=subs_none')).toEqual([]);
  });

  test('is empty for a customer without a subscription', async () => {
    const { customerId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
    expect(await read(`/customers/${customerId}/usage`)).toEqual({
      customer_id: customerId,
      features: [],
      period: null,
      pagination: { limit: 0, offset: 0, total: 0 },
    });
  });
});

describe('reset periods', () => {
  async function summaryWith(fields: object, times: { start: string; now: string; used: string[] }): Promise<Wire> {
    const own = await monthlyPlan(api, { fee: '0' });
    await grant(own.planId, await featureOf(own.meterId), fields);
    const owner = await clockedCustomer(api, { frozenTime: times.start });
    await subscribe(api, { customer_id: owner.customerId, plan_id: own.planId, start_date: times.start });
    await use(own.eventName, owner.externalId, times.used);
    await advanceTo(api, owner.clockId, times.now);
    return (await read(`/customers/${owner.customerId}/usage`)).features[0];
  }

  const times = {
    start: '2026-01-31T09:00:00Z',
    now: '2026-03-10T12:00:00Z',
    used: ['2026-02-01T00:00:00Z', '2026-03-07T00:00:00Z', '2026-03-09T23:00:00Z', '2026-03-10T01:00:00Z'],
  };

  test('DAILY counts the local day', async () => {
    expect(await summaryWith({ usage_limit: 2, usage_reset_period: 'DAILY' }, times)).toMatchObject({
      current_usage: '1',
      usage_percent: '0.5',
      next_usage_reset_at: '2026-03-11T00:00:00.000Z',
    });
  });

  test('WEEKLY counts from the weekday of the anchor', async () => {
    expect(await summaryWith({ usage_limit: 0, usage_reset_period: 'WEEKLY' }, times)).toMatchObject({
      total_limit: 0,
      current_usage: '3',
      usage_percent: '100',
      next_usage_reset_at: '2026-03-14T00:00:00.000Z',
    });
  });

  test('NEVER counts from the start of the subscription', async () => {
    expect(await summaryWith({ usage_limit: null, usage_reset_period: 'NEVER' }, times)).toMatchObject({
      total_limit: null,
      is_unlimited: true,
      current_usage: '4',
      usage_percent: '0',
      next_usage_reset_at: null,
    });
  });

  test('none counts the current period', async () => {
    expect(await summaryWith({ usage_limit: 4 }, times)).toMatchObject({
      current_usage: '3',
      usage_percent: '0.75',
      next_usage_reset_at: '2026-03-31T09:00:00.000Z',
    });
  });
});

describe('what decides a window', () => {
  async function ownerOf(planId: string, fields: object = {}) {
    const owner = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
    const { id } = await subscribe(api, { customer_id: owner.customerId, plan_id: planId, ...fields });
    return { ...owner, id, summary: () => read(`/customers/${owner.customerId}/usage`) };
  }

  test('a running meter counts since the subscription began, over every reset', async () => {
    const { id: planId } = await created(api, '/plans', { name: 'Seats' });
    const seats = await created<Wire>(api, '/features', {
      name: 'Seats',
      type: 'metered',
      meter: { name: 'Seats', event_name: 'seat', aggregation: { type: 'COUNT' }, reset_usage: 'NEVER' },
    });
    await grant(planId, seats, { usage_limit: 10, usage_reset_period: 'MONTHLY' });
    await addFee(planId);
    const owner = await ownerOf(planId);
    await use('seat', owner.externalId, ['2026-01-02T00:00:00Z', '2026-02-02T00:00:00Z']);
    await advanceTo(api, owner.clockId, '2026-02-10T00:00:00Z');
    expect((await owner.summary()).features).toMatchObject([
      { current_usage: '2', usage_percent: '0.2', next_usage_reset_at: '2026-03-01T00:00:00.000Z' },
    ]);
  });

  test('a scheduled cancellation ends it', async () => {
    const own = await monthlyPlan(api, { fee: '0' });
    await grant(own.planId, await featureOf(own.meterId), { usage_limit: 5, usage_reset_period: 'ANNUAL' });
    const owner = await ownerOf(own.planId);
    const resetAt = async () => (await owner.summary()).features[0].next_usage_reset_at;
    expect(await resetAt()).toBe('2027-01-01T00:00:00.000Z');
    await created(api, `/subscriptions/${owner.id}/cancel`, { cancellation_type: 'end_of_period' });
    expect(await resetAt()).toBe('2026-02-01T00:00:00.000Z');
  });

  test('a trial counts by itself', async () => {
    const own = await monthlyPlan(api, { fee: '0' });
    await grant(own.planId, await featureOf(own.meterId), { usage_limit: 5 });
    const owner = await ownerOf(own.planId, { trial_period_days: 14 });
    await use(own.eventName, owner.externalId, ['2026-01-02T00:00:00Z', '2026-01-20T00:00:00Z']);
    await advanceTo(api, owner.clockId, '2026-01-10T00:00:00Z');
    const trial = { current_usage: '1', next_usage_reset_at: '2026-01-15T00:00:00.000Z' };
    expect((await owner.summary()).features).toMatchObject([trial]);
    await advanceTo(api, owner.clockId, '2026-01-25T00:00:00Z');
    const paid = { current_usage: '1', next_usage_reset_at: '2026-02-15T00:00:00.000Z' };
    expect((await owner.summary()).features).toMatchObject([paid]);
  });
});

describe('entitlements', () => {
  test('of a customer carry every documented key', async () => {
    const answer = await read(`/customers/${customer.customerId}/entitlements`);
    expect(Object.keys(answer).sort()).toEqual(['customer_id', 'features', 'subscriptions']);
    expect(answer.subscriptions).toMatchObject([{ id: subscriptionId, customer: { id: customer.customerId } }]);
    const alone = await read(`/subscriptions/${subscriptionId}`);
    expect(answer.subscriptions).toEqual([{ ...alone, latest_invoice: null, plan: null }]);
    expect(answer.features[0]).toEqual({
      feature: calls,
      entitlement: {
        is_enabled: true,
        usage_limit: 40,
        is_soft_limit: false,
        usage_reset_period: 'MONTHLY',
        static_values: [],
        config_values: [],
        aggregation_mode: 'additive',
        buckets: [],
      },
      sources: [expect.objectContaining({ subscription_id: subscriptionId, entity_type: 'plan', usage_limit: 40 })],
    });
    expect(answer.features[1].entitlement).toMatchObject({ static_values: ['gold'], usage_limit: null });
    expect(answer.features[3].entitlement).toMatchObject({ config_values: [{ region: 'eu' }] });
    expect(await read(`/customers/external/${customer.externalId}/entitlements`)).toEqual(answer);
  });

  test('of a customer are narrowed by features and subscriptions', async () => {
    const path = `/customers/${customer.customerId}/entitlements`;
    expect((await read(`${path}?feature_ids=${calls.id}`)).features).toHaveLength(1);
    expect(await read(`${path}?subscription_ids=subs_none`)).toMatchObject({ features: [], subscriptions: [] });
  });

  test('of a subscription', async () => {
    const answer = await read(`/subscriptions/${subscriptionId}/entitlements?feature_ids=${calls.id}`);
    const { features } = await read(`/customers/${customer.customerId}/entitlements`);
    expect(answer).toEqual({ subscription_id: subscriptionId, plan_id: plan.planId, features: [features[0]] });
  });

  test('add up over the subscriptions of a customer, and end with them', async () => {
    const owner = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
    const both = { customer_id: owner.customerId, plan_id: plan.planId };
    const first = await subscribe(api, both);
    await subscribe(api, both);
    await use(plan.eventName, owner.externalId, ['2026-01-02T00:00:00Z']);
    await advanceTo(api, owner.clockId, '2026-01-03T00:00:00Z');
    const path = `/customers/${owner.customerId}/usage?feature_ids=${calls.id}`;
    expect((await read(path)).features).toMatchObject([
      { total_limit: 80, current_usage: '1', usage_percent: '0.0125', sources: [{}, {}] },
    ]);
    await created(api, `/subscriptions/${first.id}/cancel`, { cancellation_type: 'immediate' });
    expect((await read(path)).features).toMatchObject([{ total_limit: 40, sources: [{}] }]);
  });

  test('of unknown owners are not found', async () => {
    expect(await refused('/customers/cust_other/entitlements')).toEqual([404, 'not_found']);
    expect(await refused('/customers/external/other/entitlements')).toEqual([404, 'not_found']);
    expect(await refused('/subscriptions/subs_other/entitlements')).toEqual([404, 'not_found']);
  });
});

describe('what hangs on a customer', () => {
  test('its subscriptions by external id', async () => {
    const list = await read(`/customers/external/${customer.externalId}/subscriptions`);
    expect(list).toMatchObject({ items: [{ id: subscriptionId }], pagination: { total: 1 } });
    expect(list.items).toEqual((await read(`/subscriptions?customer_id=${customer.customerId}`)).items);
    expect(await refused('/customers/external/other/subscriptions')).toEqual([404, 'not_found']);
  });

  test('no credit is to come', async () => {
    const none = { items: [], pagination: { limit: 0, offset: 0, total: 0 } };
    expect(await read(`/customers/${customer.customerId}/grants/upcoming`)).toEqual(none);
    expect(await read(`/subscriptions/${subscriptionId}/grants/upcoming`)).toEqual(none);
    expect(await refused('/customers/cust_other/grants/upcoming')).toEqual([404, 'not_found']);
    expect(await refused('/subscriptions/subs_other/grants/upcoming')).toEqual([404, 'not_found']);
  });
});

describe('the usage of a subscription', () => {
  let priced: Awaited<ReturnType<typeof monthlyPlan>>;
  let owner: Awaited<ReturnType<typeof clockedCustomer>>;
  let pricedId: string;

  async function usage(body: object = {}): Promise<Wire> {
    const answer = await api('POST', '/subscriptions/usage', { subscription_id: pricedId, ...body });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  }

  beforeAll(async () => {
    priced = await monthlyPlan(api, { fee: '30', perCall: '0.10' });
    await grant(priced.planId, await featureOf(priced.meterId), { usage_limit: 3 });
    owner = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
    pricedId = (await subscribe(api, { customer_id: owner.customerId, plan_id: priced.planId })).id;
    const january = Array.from({ length: 10 }, (_, index) => `2026-01-05T00:00:0${index}Z`);
    const february = Array.from({ length: 5 }, (_, index) => `2026-02-02T00:00:0${index}Z`);
    await use(priced.eventName, owner.externalId, [...january, ...february, '2026-02-20T00:00:00Z']);
    await advanceTo(api, owner.clockId, '2026-02-10T00:00:00Z');
  });

  test('of the current period is what a preview bills until now, with every documented key', async () => {
    expect(await usage()).toEqual({
      amount: 0.2,
      currency: 'usd',
      display_amount: '$0.20',
      start_time: '2026-02-01T00:00:00.000Z',
      end_time: '2026-03-01T00:00:00.000Z',
      charges: [
        {
          subscription_line_item_id: expect.any(String),
          meter_id: priced.meterId,
          meter_display_name: expect.anything(),
          price: expect.objectContaining({ amount: '0.1', type: 'USAGE' }),
          filter_values: null,
          quantity: 2,
          amount: 0.2,
          currency: 'usd',
          display_amount: '$0.20',
          is_overage: false,
          overage_factor: 1,
        },
      ],
      commitment_amount: 0,
      commitment_utilized: 0,
      overage_amount: 0,
      overage_factor: 1,
      has_overage: false,
    });
  });

  test('of its whole life is the sum of what its periods bill, each with its own allowance', async () => {
    const { amount, start_time, charges } = await usage({ lifetime_usage: true });
    expect([amount, start_time, charges[0].quantity]).toEqual([0.9, '2026-01-01T00:00:00.000Z', 9]);
    const january = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-02-01T00:00:00Z' };
    expect(await usage(january)).toMatchObject({ amount: 0.7, charges: [{ quantity: 7 }] });
  });

  test('of a window in the future costs nothing, however far it is', async () => {
    const later = { start_time: '9990-01-01T00:00:00Z', end_time: '9999-01-01T00:00:00Z' };
    expect(await usage(later)).toMatchObject({ amount: 0, charges: [] });
  });

  test('of a window before the subscription costs nothing', async () => {
    const before = { start_time: '2025-01-01T00:00:00Z', end_time: '2025-02-01T00:00:00Z' };
    expect(await usage(before)).toMatchObject({ amount: 0, display_amount: '$0.00', charges: [] });
  });

  test('refuses a window that ends before it starts, an unknown subscription and none', async () => {
    const ask = async (body: object) => {
      const answer = await api<{ code: string }>('POST', '/subscriptions/usage', body);
      return [answer.status, answer.body.code];
    };
    const inverted = { start_time: '2026-02-02T00:00:00Z', end_time: '2026-02-01T00:00:00Z' };
    expect(await ask({ subscription_id: pricedId, ...inverted })).toEqual([400, 'validation_error']);
    expect(await ask({ subscription_id: 'subs_other' })).toEqual([404, 'not_found']);
    expect(await ask({})).toEqual([400, 'validation_error']);
  });
});
