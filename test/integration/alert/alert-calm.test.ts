import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signalUsageWatch } from '../../../activities/alert/usage-watch.ts';
import { alertTypes } from '../../../billing/alert/alert-state.ts';
import { advanceTo, clockedCustomer, created, testPlatform } from '../../support/billing.ts';
import { grantFixture } from '../wallet/grant.fixture.ts';
import { alertFixture } from './alert.fixture.ts';

const platform = await testPlatform();
const { api, base, temporal } = platform;
const { call, enable, watched, setting, logged, wallet, topUp, debit, told } = alertFixture(platform);
const { metered, subscribed, use } = grantFixture(api);
const owner = new pg.Client({ connectionString: base.ownerUrl });
beforeAll(() => owner.connect());
afterAll(() => owner.end());

const critical = (threshold: string, more: object = {}) => ({
  alert_settings: { alert_enabled: true, critical: { threshold }, ...more },
});

/** A customer in real time with a subscription of 2 a unit, and a wallet of 100 that alarms at 60. */
async function inRealTime() {
  const on = await metered();
  const externalId = `calm-${randomUUID()}`;
  const { id: customerId } = await created(api, '/customers', { external_id: externalId, name: externalId });
  const terms = { plan_id: on.planId, currency: 'usd', billing_period: 'MONTHLY', collection_method: 'send_invoice' };
  await created(api, '/subscriptions', { customer_id: customerId, ...terms });
  const { id } = await wallet(customerId, critical('60'));
  await topUp(id, '100');
  const spend = async (n: number) => {
    const event = { event_name: on.eventName, external_customer_id: externalId, event_id: randomUUID() };
    await created(api, '/events/bulk', { events: [{ ...event, properties: { n } }] });
    return event.event_id;
  };
  return { id, externalId, spend };
}

const becomes = (what: () => Promise<unknown>, expected: unknown) =>
  expect.poll(what, { timeout: 20_000, interval: 100 }).toEqual(expected);

/**
 * Lets time pass for what a customer's alerts wait for, and has them looked at until something is as expected: a look that was
 * under way meanwhile keeps when it wants to be back only when it ends.
 */
async function pass(externalId: string, seconds: number, what: () => Promise<unknown>, expected: unknown) {
  await owner.query(`update alert_stream set calmer_since = calmer_since - make_interval(secs => $1)`, [seconds]);
  await owner.query(`update ongoing_balance set told_at = told_at - make_interval(secs => $1)`, [seconds]);
  const lookedAt = async () => {
    await owner.query(
      `with own as (select number from usage.subject where external_id = $1), look as (
         update usage.look set again_at = now() from own where subject = own.number and again_at > now())
       update usage.mark set due_at = now() from own where subject = own.number`,
      [externalId],
    );
    await signalUsageWatch(temporal.client, base.scope);
    return what();
  };
  await becomes(lookedAt, expected);
}

test('finding 18: there are eight types of alert, and those of a budget are two', async () => {
  expect(alertTypes).toHaveLength(8);
  for (const alert_type of alertTypes) {
    expect((await call('POST', '/alerts/search', { alert_type })).status, alert_type).toBe(200);
  }
  expect(alertTypes).toEqual(expect.arrayContaining(['entitlement_grant_threshold', 'entitlement_grant_exhausted']));
  expect((await call('POST', '/alerts/search', { alert_type: 'entitlement_grant' })).status).toBe(400);
});

test('finding 19: thresholds of a budget are ratios of it, and a percentage of one is refused', async () => {
  const value = { alert_enabled: true, critical: { threshold: '0.8', condition: 'above' } };
  const put = (more: object) => call('PUT', '/settings/entitlement_alert_config', { value: { ...value, ...more } });
  expect(await put({ alert_threshold_type: 'percentage' })).toMatchObject({
    status: 400,
    body: { code: 'validation_error' },
  });
  expect((await put({})).status).toBe(200);
  await call('DELETE', '/settings/entitlement_alert_config');
});

test('alert-first-ok: that is enough when it is first looked at is told to nobody', async () => {
  const { id: customerId } = await created(api, '/customers', { external_id: randomUUID(), name: 'Content' });
  const { id } = await wallet(customerId, { ...critical('10'), initial_credits_to_load: '150' });
  await debit(id, '20');
  await watched();
  expect(await logged(id)).toEqual([]);
  const names = ['credit_balance', 'ongoing_balance'].flatMap((what) => [`${what}.dropped`, `${what}.recovered`]);
  expect(await told(id, ...names.map((name) => `wallet.${name}`))).toEqual([]);
  expect((await call('GET', `/wallets/${id}`)).body.alert_state).toBe('ok');
});

test('finding 39: without a setting of its own a wallet has the default of the environment again', async () => {
  const { id: customerId } = await created(api, '/customers', { external_id: randomUUID(), name: 'Default' });
  const { id } = await wallet(customerId, critical('5'));
  await topUp(id, '20');
  await enable('wallet_balance_alert_config', {
    alert_enabled: true,
    critical: { threshold: '50', condition: 'below' },
  });
  await watched();
  expect(await logged(id)).toEqual([]);
  const { items } = await created<{ items: { id: string }[] }>(api, '/alerts/setting/search', { entity_id: id });
  expect((await call('DELETE', `/alerts/setting/${items[0]!.id}`)).status).toBe(204);
  await watched();
  expect((await call('GET', `/wallets/${id}`)).body.alert_state).toBe('in_alarm');
  await call('DELETE', '/settings/wallet_balance_alert_config');
  await watched();
  expect((await logged(id, 'low_ongoing_balance')).map(([state]) => state)).toEqual(['in_alarm', 'ok']);
  expect(await told(id, 'wallet.ongoing_balance.recovered')).toEqual([]);
});

test('finding 40: credits that are bought raise the percentage of what there is, and a new period begins it anew', async () => {
  const on = await metered();
  const { customerId, clockId } = await subscribed(on);
  const { id } = await wallet(customerId, critical('50', { alert_threshold_type: 'percentage' }));
  await topUp(id, '100');
  await debit(id, '60');
  expect(await logged(id, 'low_credit_balance')).toEqual([['in_alarm', '40']]);
  // 140 of the 200 that were given.
  await topUp(id, '100');
  expect(await logged(id, 'low_credit_balance')).toEqual([
    ['in_alarm', '40'],
    ['ok', '70'],
  ]);
  await advanceTo(api, clockId, '2026-05-02T00:00:00Z');
  await topUp(id, '10');
  await debit(id, '50');
  // 100 of the 10 that were given in this period.
  await watched();
  expect((await logged(id, 'low_credit_balance')).length).toBe(2);
});

test('finding 54: a percentage is of what came since the instant at which the period began, on that day and on later ones', async () => {
  const { planId } = await metered();
  const { clockId, customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T06:00:00Z' });
  const { id } = await wallet(customerId, critical('50', { alert_threshold_type: 'percentage' }));
  await topUp(id, '100');
  await advanceTo(api, clockId, '2026-04-01T12:00:00Z');
  await created(api, '/subscriptions', {
    ...{ customer_id: customerId, plan_id: planId, currency: 'usd', billing_period: 'MONTHLY' },
    ...{ start_date: '2026-04-01T12:00:00Z', collection_method: 'send_invoice' },
  });
  await topUp(id, '10');
  await advanceTo(api, clockId, '2026-04-03T00:00:00Z');
  await topUp(id, '40');
  // 30 of the 50 that came in the period are left, and then 20; the 100 of its first morning are none of them.
  await debit(id, '120');
  expect(await logged(id, 'low_credit_balance')).toEqual([]);
  await debit(id, '10');
  expect(await logged(id, 'low_credit_balance')).toEqual([['in_alarm', '40']]);
});

test('finding 44: values are strings, and the two numbers of a wallet’s alert are numbers', async () => {
  const on = await metered();
  const { customerId, externalId, clockId } = await subscribed(on);
  const { id } = await wallet(customerId, critical('99'));
  await topUp(id, '100');
  await setting({ entity_type: 'feature', entity_id: on.featureId }, { critical: { threshold: '99' } });
  await use(on, externalId, ['04-02T00:00:00', 1]);
  await advanceTo(api, clockId, '2026-04-03T00:00:00Z');
  await watched();
  const { items } = await created<{ items: { alert_info: { value_at_time: unknown } }[] }>(api, '/alerts/search', {
    customer_id: customerId,
  });
  expect(new Set(items.map(({ alert_info }) => alert_info.value_at_time))).toEqual(new Set(['98']));
  const [drop] = await told(id, 'wallet.ongoing_balance.dropped');
  expect(drop.alert).toMatchObject({ current_balance: 98, credit_balance: 98 });
  const ofFeatures = await told(on.featureId, 'feature.wallet_balance.alert');
  const ofFeature = ofFeatures.find(({ wallet_id }) => wallet_id === id);
  expect(ofFeature).toMatchObject({ current_balance: '98', alert: { credit_balance: '98' } });
});

test('finding 48: a client that does not know the type of a threshold leaves a percentage a percentage', async () => {
  const { id: customerId } = await created(api, '/customers', { external_id: randomUUID(), name: 'Older client' });
  const { id } = await wallet(customerId, critical('20', { alert_threshold_type: 'percentage' }));
  const put = (threshold: string) => call('PUT', `/wallets/${id}`, critical(threshold));
  expect((await put('30')).body.alert_settings).toMatchObject({ alert_threshold_type: 'percentage' });
  expect(await put('250')).toMatchObject({ status: 400, body: { code: 'validation_error' } });
});

// Last, for what they wait for keeps the watch from ending.
describe('finding 16', () => {
  test('alert-flap: a balance around a threshold alarms once: that it is calmer is believed when it has lasted a minute', async () => {
    const { id, externalId, spend } = await inRealTime();
    const states = async () => (await logged(id, 'low_ongoing_balance')).map(([state]) => state);
    const calmer = async () =>
      (
        await owner.query(
          `select calmer_state from alert_stream where entity_id = $1 and alert_type = 'low_ongoing_balance'`,
          [id],
        )
      ).rows[0]?.calmer_state;
    const eventId = await spend(21);
    await becomes(states, ['in_alarm']);
    expect((await call('POST', `/events/${eventId}/void`, { reason: 'sent twice' })).status).toBe(200);
    await becomes(calmer, 'ok');
    await spend(21);
    await becomes(calmer, null);
    expect(await states()).toEqual(['in_alarm']);
    const again = await spend(1);
    await call('POST', `/events/${again}/void`, { reason: 'sent twice' });
    // A credit is believed at once.
    await topUp(id, '100');
    await becomes(states, ['in_alarm', 'ok']);
    expect((await told(id, 'wallet.ongoing_balance.recovered')).length).toBe(1);
    const last = await spend(60);
    await becomes(states, ['in_alarm', 'ok', 'in_alarm']);
    await call('POST', `/events/${last}/void`, { reason: 'sent twice' });
    await becomes(calmer, 'ok');
    await pass(externalId, 61, states, ['in_alarm', 'ok', 'in_alarm', 'ok']);
  });

  test('a balance that keeps moving is told once in 330 seconds, and at once after an entry of its ledger', async () => {
    const { id, externalId, spend } = await inRealTime();
    const updates = async () =>
      (await told(id, 'wallet.ongoing_balance.updated')).map(({ alert }) => alert.current_balance);
    const kept = async () =>
      (await owner.query('select balance::float8 from ongoing_balance where wallet_id = $1', [id])).rows[0]?.balance;
    await becomes(kept, 100);
    const before = (await updates()).length;
    const waits = async () =>
      (
        await owner.query(
          `select l.again_at > now() as waits from usage.look l join usage.subject s on s.number = l.subject
           where s.external_id = $1`,
          [externalId],
        )
      ).rows[0]?.waits ?? false;
    // As much as brings a look at once, and no alarm.
    await spend(19);
    await becomes(waits, true);
    await spend(0.5);
    expect((await updates()).length).toBe(before);
    const since = async () => (await updates()).slice(before);
    await pass(externalId, 331, since, [61]);
    await debit(id, '0.5');
    await becomes(since, [61, 60.5]);
  });
});
