import { beforeAll, expect, test } from 'vitest';
import { clockedCustomer, created, monthlyPlan, subscribe, testPlatform } from '../../support/billing.ts';

const { api } = await testPlatform();

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
type Wire = any;

const read = async (path: string): Promise<Wire> => {
  const { status, body } = await api<Wire>('GET', path);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const ask = (path: string, body: object): Promise<Wire> => created<Wire>(api, path, body);

const eventName = `call_${Date.now().toString(36)}`;
const month = { start_time: '2026-04-01T00:00:00Z', end_time: '2026-05-01T00:00:00Z' };
let meterId: string;
let planId: string;
let clockId: string;
let customer: Wire;
let subscriptionId: string;

beforeAll(async () => {
  const meter = { name: 'Calls', event_name: eventName, aggregation: { type: 'SUM', field: 'count' } };
  ({ id: meterId } = await created<Wire>(api, '/meters', { ...meter, reset_usage: 'BILLING_PERIOD', filters: [] }));
  ({ planId } = await monthlyPlan(api));
  const payer = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z' });
  clockId = payer.clockId;
  customer = await read(`/customers/${payer.customerId}`);
  ({ id: subscriptionId } = await subscribe(api, { customer_id: customer.id, plan_id: planId }));
  const timestamp = '2026-04-01T00:00:00Z';
  const event = { event_name: eventName, external_customer_id: customer.external_id, timestamp };
  await created(api, '/events', { ...event, event_id: 'evt_first', properties: { count: 7 } });
});

test('lists show what was made', async () => {
  expect((await read('/plans')).items.map((one: Wire) => one.id)).toContain(planId);
  expect((await read('/test-clocks')).items.map((one: Wire) => one.id)).toContain(clockId);
  expect((await ask('/connections/search', {})).total).toBe(0);
  expect((await ask('/alerts/setting/search', {})).items).toEqual([]);
  expect((await read('/coupons/associations')).items).toEqual([]);
  expect((await read('/subscription-schedules')).schedules).toEqual([]);
  expect((await read('/catalogue')).plans.length).toBeGreaterThan(0);
});

test('one subscription reads the same by each of its addresses', async () => {
  const plain = await read(`/subscriptions/${subscriptionId}`);
  expect(await read(`/subscriptions/${subscriptionId}/v2`)).toMatchObject({ id: plain.id, plan_id: planId });
  const ofCustomer = await read(`/customers/external/${customer.external_id}/subscriptions`);
  expect(JSON.stringify(ofCustomer)).toContain(subscriptionId);
  const byExternal = await read(`/customers/external/${customer.external_id}/entitlements`);
  expect(byExternal).toEqual(await read(`/customers/${customer.id}/entitlements`));
});

test('a sum of usage is the same by each question', async () => {
  const whose = { external_customer_id: customer.external_id, aggregation_type: 'SUM', ...month };
  await expect
    .poll(async () => (await ask('/meter-usage/query', { ...whose, meter_id: meterId })).total_value)
    .toBe('7');
  const many = await ask('/meter-usage/analytics', { ...whose, meter_ids: [meterId] });
  expect(JSON.stringify(many)).toContain('"7"');
  expect((await read(`/events/monitoring?start_time=${month.start_time}&end_time=${month.end_time}`)).total_count).toBe(
    1,
  );
});

test('previews that change nothing leave the subscription as it is', async () => {
  const before = await read(`/subscriptions/${subscriptionId}`);
  const preview = await ask('/invoices/internal/preview', { subscription_id: subscriptionId });
  expect(preview.currency).toBe('usd');
  const trial = { type: 'trial_end', trial_end_params: { trial_end: '2026-05-01T00:00:00Z' } };
  await api('POST', `/subscriptions/${subscriptionId}/modify/preview`, trial);
  expect((await read(`/subscriptions/${subscriptionId}`)).version).toBe(before.version);
});

test('a cached balance is the balance', async () => {
  const wallet = await created<Wire>(api, '/wallets', { customer_id: customer.id, currency: 'usd' });
  const now = await read(`/wallets/${wallet.id}/balance/real-time`);
  const cached = await read(`/wallets/${wallet.id}/balance/real-time-cached`);
  expect(cached).toMatchObject({ balance: now.balance, credit_balance: now.credit_balance });
});

test('a plan change is previewed, and prices are synced, under the newer address as under the older', async () => {
  const { planId: target_plan_id } = await monthlyPlan(api);
  const change = { target_plan_id, proration_behavior: 'none' };
  const preview = await ask(`/subscriptions/${subscriptionId}/change/v2/preview`, change);
  expect(JSON.stringify(preview)).toContain(target_plan_id);
  expect((await read(`/subscriptions/${subscriptionId}`)).plan_id).toBe(planId);
  const synced = await ask(`/plans/${planId}/sync/subscriptions/v2`, {});
  expect(synced.workflow_id).toBeTruthy();
});

test('a user of the service kind is renamed', async () => {
  const user = await ask('/users', { type: 'service_account', name: 'Robot', roles: ['event_ingestor'] });
  const { body } = await api<Wire>('PUT', `/users/${user.id}`, { name: 'Second robot' });
  expect(body).toMatchObject({ id: user.id, name: 'Second robot' });
});
