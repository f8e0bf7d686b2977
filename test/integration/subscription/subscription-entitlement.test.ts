import { randomUUID } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import {
  advanceTo,
  clockedCustomer,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  testPlatform,
} from '../../support/billing.ts';
import { addonWith, attach } from '../catalogue/addon.fixture.ts';

const { api } = await testPlatform();
let count = 0;

async function feature(fields: object = {}) {
  count += 1;
  const meter = {
    name: 'Calls',
    event_name: `call-${count}`,
    aggregation: { type: 'COUNT' },
    reset_usage: 'BILLING_PERIOD',
  };
  const made = { name: `Feature ${count}`, type: 'metered', meter, ...fields };
  const body = made.type === 'metered' ? made : { ...made, meter: undefined };
  return { ...(await created<{ id: string; meter_id: string }>(api, '/features', body)), eventName: `call-${count}` };
}

/** A plan at 1 a call after `usage_limit` calls, and the entitlement that says so. */
async function limitedPlan(fields: object = {}) {
  const calls = await feature();
  const plan = await created(api, '/plans', { name: `Plan ${++count}` });
  await created(api, '/prices', {
    plan_id: plan.id,
    type: 'USAGE',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    invoice_cadence: 'ARREAR',
    currency: 'usd',
    amount: '1',
    meter_id: calls.meter_id,
    start_date: '2020-01-01T00:00:00Z',
  });
  const entitlement = await grant({ plan_id: plan.id }, calls.id, { usage_limit: 2, ...fields });
  return { planId: plan.id, calls, entitlement };
}

const grant = (owner: object, featureId: string, fields: object = {}) =>
  created<{ id: string }>(api, '/entitlements', {
    ...owner,
    feature_id: featureId,
    feature_type: 'metered',
    ...fields,
  });
const ofAddon = (id: string) => ({ entity_type: 'ADDON', entity_id: id });
const ofSubscription = (id: string) => ({ entity_type: 'SUBSCRIPTION', entity_id: id });

async function subscribed(planId: string, fields: object = {}) {
  const clocked = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z' });
  const body = { customer_id: clocked.customerId, plan_id: planId, collection_method: 'send_invoice', ...fields };
  return { ...clocked, id: (await subscribe(api, body)).id };
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
const featuresOf = async (path: string) => (await api<any>('GET', `${path}/entitlements`)).body.features;

test('add-ons and the subscription add to the plan, in order, and the sum is what is billed', async () => {
  const { planId, calls, entitlement } = await limitedPlan();
  const addon = await addonWith(api, []);
  const extra = await grant(ofAddon(addon), calls.id, { usage_limit: 3 });
  const { id, customerId, clockId, externalId } = await subscribed(planId);
  const own = await grant(ofSubscription(id), calls.id, { usage_limit: 10 });
  await attach(api, id, addon);
  await attach(api, id, addon);
  const source = { subscription_id: id, quantity: 1, is_enabled: true };
  const granted = {
    feature: { id: calls.id },
    entitlement: { is_enabled: true, usage_limit: 18, aggregation_mode: 'additive', buckets: [] },
    sources: [
      { ...source, entity_type: 'plan', entity_id: planId, entitlement_id: entitlement.id, usage_limit: 2 },
      { ...source, entity_type: 'addon', entity_id: addon, entitlement_id: extra.id, usage_limit: 3 },
      { ...source, entity_type: 'addon', entity_id: addon, entitlement_id: extra.id, usage_limit: 3 },
      { ...source, entity_type: 'subscription', entity_id: id, entitlement_id: own.id, usage_limit: 10 },
    ],
  };
  expect(await featuresOf(`/subscriptions/${id}`)).toMatchObject([granted]);
  expect(await featuresOf(`/customers/${customerId}`)).toMatchObject([granted]);
  const events = Array.from({ length: 20 }, () => ({
    event_name: calls.eventName,
    external_customer_id: externalId,
    event_id: randomUUID(),
    timestamp: '2026-04-10T00:00:00Z',
  }));
  await created(api, '/events/bulk', { events });
  await advanceTo(api, clockId, '2026-05-01T03:00:00Z');
  expect((await invoicesOf(api, id)).map(({ total }) => total)).toEqual(['0', '2']);
});

test('a detached add-on grants until its end, and the period that ends with it has its allowance', async () => {
  const { planId, calls } = await limitedPlan();
  const addon = await addonWith(api, []);
  await grant(ofAddon(addon), calls.id, { usage_limit: 3 });
  const { id, clockId } = await subscribed(planId);
  const { id: association } = await attach(api, id, addon);
  await api('DELETE', '/subscriptions/addon', { addon_association_id: association });
  expect((await featuresOf(`/subscriptions/${id}`))[0].entitlement.usage_limit).toBe(5);
  await advanceTo(api, clockId, '2026-05-01T00:00:00Z');
  expect((await featuresOf(`/subscriptions/${id}`))[0].entitlement.usage_limit).toBe(2);
});

describe('an override', () => {
  it('replaces the plan part and follows the plan in what it does not set', async () => {
    const { planId, calls, entitlement } = await limitedPlan({ usage_reset_period: 'DAILY', is_soft_limit: true });
    const { id } = await subscribed(planId);
    const override = await grant(ofSubscription(id), calls.id, {
      parent_entitlement_id: entitlement.id,
      usage_limit: 50,
    });
    expect(override).toMatchObject({ parent_entitlement_id: entitlement.id, usage_reset_period: 'DAILY' });
    const [seen] = await featuresOf(`/subscriptions/${id}`);
    expect(seen).toMatchObject({
      entitlement: { usage_limit: 50, usage_reset_period: 'DAILY', is_soft_limit: true },
      sources: [{ entity_type: 'subscription', entitlement_id: override.id, usage_limit: 50 }],
    });
    await api('PUT', `/entitlements/${entitlement.id}`, { usage_reset_period: 'MONTHLY', usage_limit: 9 });
    expect((await featuresOf(`/subscriptions/${id}`))[0].entitlement).toMatchObject({
      usage_limit: 50,
      usage_reset_period: 'MONTHLY',
    });
    await api('PUT', `/entitlements/${override.id}`, { is_enabled: false });
    expect((await featuresOf(`/subscriptions/${id}`))[0].entitlement).toMatchObject({
      is_enabled: false,
      usage_limit: 0,
      usage_reset_period: null,
    });
    expect((await api('PUT', `/entitlements/${override.id}`, { usage_reset_period: 'DAILY' })).status).toBe(400);
    await api('DELETE', `/entitlements/${override.id}`);
    expect((await featuresOf(`/subscriptions/${id}`))[0].entitlement.usage_limit).toBe(9);
  });

  it('can come with the subscription', async () => {
    const { planId, calls, entitlement } = await limitedPlan();
    const tier = await feature({ type: 'static' });
    const support = await grant({ plan_id: planId }, tier.id, { feature_type: 'static', static_value: 'silver' });
    const { id } = await subscribed(planId, {
      override_entitlements: [
        { entitlement_id: entitlement.id, usage_limit: null },
        { entitlement_id: support.id, static_value: 'gold' },
      ],
    });
    expect(await featuresOf(`/subscriptions/${id}`)).toMatchObject([
      { feature: { id: calls.id }, entitlement: { usage_limit: null, is_enabled: true } },
      { feature: { id: tier.id }, entitlement: { static_values: ['gold'] } },
    ]);
    const { customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z' });
    const refused = async (override: object, fields: object = {}) => {
      const body = { customer_id: customerId, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY', ...fields };
      const answer = await api('POST', '/subscriptions', { ...body, override_entitlements: [override] });
      return [answer.status, answer.body.message];
    };
    const set = { entitlement_id: entitlement.id, usage_limit: 5 };
    const element = expect.stringContaining('override_entitlements[0].');
    expect(await refused({ ...set, entitlement_id: 'ent_none' })).toEqual([404, expect.stringContaining('ent_none')]);
    expect(await refused({ entitlement_id: entitlement.id })).toEqual([400, element]);
    expect(await refused({ ...set, usage_limit: -1 })).toEqual([400, expect.stringContaining('usage_limit')]);
    expect(await refused(set, { proration_behavior: 'create_prorations' })).toEqual([
      400,
      expect.stringContaining('override_entitlements'),
    ]);
  });

  it('is refused for what is not of the plan', async () => {
    const { planId, calls, entitlement } = await limitedPlan();
    const other = await limitedPlan();
    const { id } = await subscribed(planId);
    const refusal = async (fields: object, owner: object = ofSubscription(id)) => {
      const body = { ...owner, feature_id: calls.id, feature_type: 'metered', usage_limit: 5, ...fields };
      const answer = await api('POST', '/entitlements', body);
      return [answer.status, answer.body.message];
    };
    const parent = { parent_entitlement_id: entitlement.id };
    const word = (text: string) => expect.stringContaining(text);
    expect(await refusal({ parent_entitlement_id: 'ent_none' })).toEqual([404, word('ent_none')]);
    expect(await refusal({ parent_entitlement_id: other.entitlement.id })).toEqual([400, word(planId)]);
    expect(await refusal({ ...parent, feature_id: other.calls.id })).toEqual([400, word('parent_entitlement_id')]);
    expect(await refusal({ ...parent, usage_reset_period: 'DAILY' })).toEqual([400, word('usage_reset_period')]);
    expect(await refusal({ ...parent, usage_limit: undefined })).toEqual([400, word('is_enabled')]);
    expect(await refusal(parent, { plan_id: other.planId })).toEqual([400, word('parent_entitlement_id')]);
    expect(await refusal({}, ofSubscription('subs_none'))).toEqual([404, word('subs_none')]);
  });
});

test('configurations, switches and windows of all parts', async () => {
  const { planId } = await limitedPlan();
  const sso = await feature({ type: 'config' });
  const beta = await feature({ type: 'boolean' });
  const addon = await addonWith(api, []);
  await grant({ plan_id: planId }, sso.id, { feature_type: 'config', config_value: { providers: 1 } });
  await grant(ofAddon(addon), sso.id, { feature_type: 'config', config_value: { providers: 5 } });
  await grant({ plan_id: planId }, beta.id, { feature_type: 'boolean', is_enabled: false });
  await grant(ofAddon(addon), beta.id, {
    feature_type: 'boolean',
    is_enabled: true,
    start_date: '2026-04-10T00:00:00Z',
    end_date: '2026-04-20T00:00:00Z',
  });
  const { id, clockId } = await subscribed(planId, { addons: [{ addon_id: addon }] });
  const switched = async () => {
    const found = await featuresOf(`/subscriptions/${id}`);
    return found.find((entry: { feature: { id: string } }) => entry.feature.id === beta.id).entitlement.is_enabled;
  };
  const [config] = (await featuresOf(`/subscriptions/${id}`)).filter(
    (entry: { feature: { id: string } }) => entry.feature.id === sso.id,
  );
  expect(config.entitlement.config_values).toEqual([{ providers: 1 }, { providers: 5 }]);
  expect(await switched()).toBe(false);
  await advanceTo(api, clockId, '2026-04-10T00:00:00Z');
  expect(await switched()).toBe(true);
  await advanceTo(api, clockId, '2026-04-20T00:00:00Z');
  expect(await switched()).toBe(false);
});

test('an add-on whose allowance resets otherwise is not attached', async () => {
  const { planId, calls } = await limitedPlan();
  const daily = await addonWith(api, []);
  await grant(ofAddon(daily), calls.id, { usage_limit: 3, usage_reset_period: 'DAILY' });
  const monthly = await addonWith(api, []);
  await grant(ofAddon(monthly), calls.id, { usage_limit: 3, usage_reset_period: 'MONTHLY' });
  const { id } = await subscribed(planId);
  const refused = await api('POST', '/subscriptions/addon', { subscription_id: id, addon_id: daily });
  expect(refused).toMatchObject({
    status: 400,
    body: { code: 'validation_error', message: expect.stringContaining(calls.id) },
  });
  await attach(api, id, monthly);
});

test('a feature that is changed is shown as it is now, every time', async () => {
  const { planId, calls } = await limitedPlan();
  const { id, customerId } = await subscribed(planId);
  for (const name of ['Requests', 'Queries', 'Requests']) {
    expect((await api('PUT', `/features/${calls.id}`, { name })).status).toBe(200);
    for (const path of [`/subscriptions/${id}`, `/customers/${customerId}`]) {
      expect(await featuresOf(path)).toMatchObject([{ feature: { id: calls.id, name } }]);
    }
  }
});

test('an allowance counts only in periods it is in force in', async () => {
  const limited = await monthlyPlan(api);
  const { body: features } = await api<{ items: { id: string; meter_id: string }[] }>('GET', '/features?limit=1000');
  const feature = features.items.find(({ meter_id }) => meter_id === limited.meterId);
  await created(api, '/entitlements', {
    plan_id: limited.planId,
    feature_id: feature?.id,
    feature_type: 'metered',
    usage_limit: 1,
    end_date: '2026-02-01T00:00:00Z',
  });
  const { clockId, customerId, externalId } = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: limited.planId });
  const events = ['2026-01-05T00:00:00Z', '2026-01-06T00:00:00Z', '2026-02-05T00:00:00Z'].map((timestamp) => ({
    event_name: limited.eventName,
    external_customer_id: externalId,
    timestamp,
  }));
  await created(api, '/events/bulk', { events });
  await advanceTo(api, clockId, '2026-03-01T03:00:00Z');
  expect((await invoicesOf(api, id)).map((invoice) => invoice.total)).toEqual(['30', '30.1', '30.1']);
});
