import { expect, test } from 'vitest';
import { accountWithRoles } from '../../support/account.ts';
import { testApi } from '../../support/api.ts';
import { wallets } from './wallet.fixture.ts';

const platform = await testApi();
const { call, database, scope } = platform;
const { opened, topUp, free } = wallets(platform);
const hourNs = '3600000000000';

test('finding 25: a cached balance answers the wallet, as the computed one does', async () => {
  const { id } = await opened({ initial_credits_to_load: '5' });
  const paths = ['real-time', 'real-time-cached'].map((name) => `/v1/wallets/${id}/balance/${name}`);
  const [live, cached] = await Promise.all(
    paths.map((path) => call('GET', `${path}?expand=credits_available_breakdown`)),
  );
  expect(cached!.body).toMatchObject({
    id,
    wallet_status: 'active',
    real_time_credit_balance: '5',
    credits_available_breakdown: { free: '5', purchased: '0' },
  });
  expect(Object.keys(cached!.body)).toEqual(Object.keys(live!.body));
});

test('finding 45: balance_updated_at is the instant of the figures shown, on the customer’s clock', async () => {
  const frozen_time = '2026-03-01T00:00:00.000Z';
  const clock = (await call('POST', '/v1/test-clocks', { body: { frozen_time } })).body;
  const body = { external_id: 'clocked', name: 'Clocked', test_clock_id: clock.id };
  const customer = (await call('POST', '/v1/customers', { body })).body;
  const { id } = await opened({ customer_id: customer.id });
  const shown = (await call('GET', `/v1/wallets/${id}/balance/real-time`)).body;
  expect(shown.balance_updated_at).toBe(frozen_time);
  const listed = await call('GET', `/v1/customers/wallets?id=${customer.id}`);
  expect(listed.body).toMatchObject([{ id, balance_updated_at: null }]);
});

test('finding 47: a cooldown is written with its unit and answered in nanoseconds, wherever the wallet is answered', async () => {
  const terms = { enabled: false, amount: '50', threshold: '10', invoicing: true };
  const { id, auto_topup } = await opened({ auto_topup: { ...terms, cooldown: { value: 1, unit: 'hour' } } });
  expect(auto_topup.cooldown).toBe(hourNs);
  const put = (cooldown: unknown) => call('PUT', `/v1/wallets/${id}`, { body: { auto_topup: { cooldown } } });
  expect((await put({ value: 2, unit: 'hour' })).body.auto_topup.cooldown).toBe('7200000000000');
  expect((await put(hourNs)).body.auto_topup.cooldown).toBe(hourNs);
  expect((await put({ value: 365, unit: 'day' })).status).toBe(200);
  expect(await put({ value: 366, unit: 'day' })).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  const body = { modification_type: 'prepaid_to_postpaid' };
  const { new_wallet, original_wallet } = (await call('POST', `/v1/wallets/${id}/modify`, { body })).body;
  for (const wallet of [new_wallet, original_wallet]) expect(wallet.auto_topup.cooldown).toBe('31536000000000000');
});

test('finding 50: who reads changes no alert and no wallet, and who sends events sees neither', async () => {
  const { id } = await opened();
  const setting = {
    entity_type: 'wallet',
    entity_id: id,
    config: { alert_enabled: true, critical: { threshold: '1' } },
  };
  const reader = (await accountWithRoles(database, scope, ['all_reader'])).apiKey;
  const sender = (await accountWithRoles(database, scope, ['event_ingestor'], 'service_account')).apiKey;
  for (const [apiKey, read] of [
    [reader, 200],
    [sender, 403],
  ] as const) {
    expect((await call('POST', '/v1/alerts/search', { apiKey, body: {} })).status).toBe(read);
    expect((await call('GET', `/v1/wallets/${id}`, { apiKey })).status).toBe(read);
    expect((await call('POST', '/v1/alerts/setting', { apiKey, body: setting })).status).toBe(403);
    expect((await call('POST', `/v1/wallets/${id}/top-up`, { apiKey, body: free('5') })).status).toBe(403);
    for (const command of ['retry', 'pause', 'resume']) {
      expect((await call('POST', `/v1/wallets/${id}/auto-topup/${command}`, { apiKey })).status, command).toBe(403);
    }
  }
});

test('finding 38: a wallet keeps the rate that its custom currency had when it was opened', async () => {
  const unit = { name: 'Points', code: 'p38', symbol: 'P', base_currency: 'usd', conversion_rate: '0.5' };
  const made = (await call('POST', '/v1/prices/units', { body: unit })).body;
  const { id, conversion_rate } = await opened({ currency: undefined, price_unit: 'p38' });
  expect(conversion_rate).toBe('0.5');
  const changed = await call('PUT', `/v1/prices/units/${made.id}`, { body: { conversion_rate: '0.25' } });
  expect(changed.status, JSON.stringify(changed.body)).toBe(200);
  await topUp(id, free('10'));
  expect((await call('GET', `/v1/wallets/${id}`)).body).toMatchObject({
    conversion_rate: '0.5',
    balance: '5',
    credit_balance: '10',
  });
});
