import { beforeAll, describe, expect, test } from 'vitest';
import { advanceTo, clockedCustomer, created, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';
import { limitedUsage, type Wire } from './customer-usage.fixture.ts';

const { api } = await testPlatform();
const { read, refused, featureOf, grant, use } = limitedUsage(api);

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
