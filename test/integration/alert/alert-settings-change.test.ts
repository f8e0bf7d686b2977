import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { alertRule } from '../../../activities/alert/alert-rule.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import { usageReader } from '../../../metering/usage-reader.ts';
import { measurePayer } from '../../../services/evaluation/payer-figures.ts';
import { created, testPlatform } from '../../support/billing.ts';
import { grantFixture } from '../wallet/grant.fixture.ts';
import { alertFixture } from './alert.fixture.ts';

const platform = await testPlatform();
const { api, base } = platform;
const { call, enable, watched, setting, logged, wallet, told } = alertFixture(platform);
const { metered } = grantFixture(api);
const metering = openPostgresUsageStore(base.database);
afterAll(() => metering.close());

/** Customers in real time: on a test clock a less severe state need not last. */
const person = async () => (await created(api, '/customers', { external_id: randomUUID(), name: 'Customer' })).id;

const critical = (threshold: string) => ({
  alert_settings: { alert_enabled: true, critical: { threshold } },
});

/** Measures a customer and answers what acts on the figures, as a worker does that is slow between the two. */
async function slowLook(customerId: string): Promise<() => Promise<void>> {
  const rule = alertRule(base.database);
  const found = await rule.watch(base.scope, [customerId]);
  const wanted = { wallets: true, running: found.flatMap(({ wants }) => wants.running ?? []), thresholds: [] };
  const figures = await inTransaction(base.database, base.scope, (tx) =>
    measurePayer(tx, customerId, wanted, usageReader(metering)),
  );
  return async () => {
    for (const one of found) await one.act(figures);
  };
}

const states = async (id: string, type: string) => (await logged(id, type)).map(([state]) => state);

test('a look that began before the settings of a wallet changed raises no alarm of those', async () => {
  const customerId = await person();
  const { id } = await wallet(customerId, { ...critical('50'), initial_credits_to_load: '20' });
  await watched();
  expect(await states(id, 'low_ongoing_balance')).toEqual(['in_alarm']);
  const act = await slowLook(customerId);
  expect((await call('PUT', `/wallets/${id}`, critical('5'))).status).toBe(200);
  await watched();
  await act();
  await watched();
  expect(await states(id, 'low_ongoing_balance')).toEqual(['in_alarm', 'ok']);
  expect((await told(id, 'wallet.ongoing_balance.dropped')).length).toBe(1);
  expect((await call('GET', `/wallets/${id}`)).body.alert_state).toBe('ok');
});

test('nor of a feature or a default of the environment that changed', async () => {
  const { featureId } = await metered();
  const customerId = await person();
  const { id } = await wallet(customerId, { initial_credits_to_load: '20' });
  const settingOf = await setting({ entity_type: 'feature', entity_id: featureId }, { critical: { threshold: '50' } });
  await enable('wallet_balance_alert_config', {
    alert_enabled: true,
    critical: { threshold: '50', condition: 'below' },
  });
  await watched();
  expect(await states(id, 'low_ongoing_balance')).toEqual(['in_alarm']);
  const act = await slowLook(customerId);
  await enable('wallet_balance_alert_config', { alert_enabled: false });
  const config = { alert_enabled: true, critical: { threshold: '5' } };
  expect((await call('PUT', `/alerts/setting/${settingOf.id}`, { config })).status).toBe(200);
  await watched();
  await act();
  await watched();
  expect(await states(id, 'low_ongoing_balance')).toEqual(['in_alarm', 'ok']);
  const body = { entity_id: featureId, customer_id: customerId, order: 'asc' };
  const { items } = await created<{ items: { alert_status: string }[] }>(api, '/alerts/search', body);
  expect(items.map(({ alert_status }) => alert_status)).toEqual(['in_alarm', 'ok']);
});

test('nor of spending that is allowed meanwhile', async () => {
  await enable('subscription_alert_config');
  const on = await metered();
  const customerId = await person();
  const terms = { plan_id: on.planId, currency: 'usd', billing_period: 'MONTHLY', collection_method: 'send_invoice' };
  const { id } = await created(api, '/subscriptions', { customer_id: customerId, ...terms });
  const { body } = await call('GET', `/customers/${customerId}`);
  const event = { event_name: on.eventName, external_customer_id: body.external_id, event_id: randomUUID() };
  await created(api, '/events/bulk', { events: [{ ...event, properties: { n: 25 } }] });
  const settingOf = await setting({ entity_type: 'subscription', entity_id: id }, { critical: { threshold: '40' } });
  await watched();
  expect(await states(id, 'subscription_spend')).toEqual(['in_alarm']);
  const act = await slowLook(customerId);
  const config = { alert_enabled: true, critical: { threshold: '60' } };
  expect((await call('PUT', `/alerts/setting/${settingOf.id}`, { config })).status).toBe(200);
  await watched();
  await act();
  await watched();
  expect(await states(id, 'subscription_spend')).toEqual(['in_alarm', 'ok']);
});
