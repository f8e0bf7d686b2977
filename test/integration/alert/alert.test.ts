import { describe, expect, test } from 'vitest';
import { advanceTo, clockedCustomer, created, testPlatform } from '../../support/billing.ts';
import { grantFixture } from '../wallet/grant.fixture.ts';
import { alertFixture } from './alert.fixture.ts';

const platform = await testPlatform();
const { api } = platform;
const { call, watched, setting, enable, logged, wallet, topUp, debit, told } = alertFixture(platform);
const { metered, subscribed, use } = grantFixture(api);

let people = 0;
async function person(): Promise<string> {
  people += 1;
  return (await created(api, '/customers', { external_id: `alert-${people}`, name: 'Customer' })).id;
}
const levels = { critical: { threshold: '10' }, warning: { threshold: '50' }, info: { threshold: '100' } };
const dropped = 'wallet.credit_balance.dropped';
const recovered = 'wallet.credit_balance.recovered';

describe('alert settings', () => {
  test('that of a wallet and its alert_settings are one fact, whichever is written', async () => {
    const { id } = await wallet(await person(), {
      alert_settings: { alert_enabled: true, critical: { threshold: '5' } },
    });
    const found = await created<{ items: { id: string }[] }>(api, '/alerts/setting/search', { entity_id: id });
    expect(found.items).toMatchObject([
      {
        entity_type: 'wallet',
        entity_id: id,
        parent_entity_id: null,
        enabled: true,
        config: {
          alert_enabled: true,
          alert_threshold_type: 'absolute',
          critical: { threshold: '5', condition: 'below' },
          warning: null,
          info: null,
        },
      },
    ]);
    const settingId = found.items[0]!.id;
    const config = { alert_enabled: true, alert_threshold_type: 'percentage', critical: { threshold: '20' } };
    await call('PUT', `/alerts/setting/${settingId}`, { config });
    expect((await call('GET', `/wallets/${id}`)).body.alert_settings).toMatchObject({
      alert_threshold_type: 'percentage',
      critical: { threshold: '20', condition: 'below' },
    });
    // A client that does not know the threshold type reads, changes and writes: the type stays, and what does not fit it is refused.
    const put = (threshold: string) =>
      call('PUT', `/wallets/${id}`, { alert_settings: { alert_enabled: true, critical: { threshold } } });
    expect(await put('250')).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect((await put('30')).body.alert_settings).toMatchObject({ alert_threshold_type: 'percentage' });
    expect((await call('GET', `/alerts/setting/${settingId}`)).body.config.critical.threshold).toBe('30');
    expect((await call('DELETE', `/alerts/setting/${settingId}`)).status).toBe(204);
    expect((await call('GET', `/wallets/${id}`)).body.alert_settings).toBeNull();
    expect((await call('GET', `/alerts/setting/${settingId}`)).body.status).toBe('archived');
    expect((await call('PUT', `/alerts/setting/${settingId}`, { config })).body.code).toBe('invalid_operation');
  });

  test('need an entity that exists, and a line item its own subscription', async () => {
    const on = await metered();
    const [a, b] = [await subscribed(on), await subscribed(on)];
    const item = (await call('GET', `/subscriptions/${a.id}`)).body.line_items[0].id;
    const config = { alert_enabled: true, critical: { threshold: '10' } };
    const post = async (entity: object) => {
      const { status, body } = await call('POST', '/alerts/setting', { ...entity, config });
      return [status, status === 201 ? body.parent_entity_type : body.code];
    };
    const lineItem = { entity_type: 'subscription_line_item', entity_id: item };
    expect(await post({ entity_type: 'wallet', entity_id: 'wallet_none' })).toEqual([404, 'not_found']);
    expect(await post({ entity_type: 'invoice', entity_id: 'inv_1' })).toEqual([400, 'validation_error']);
    expect(await post(lineItem)).toEqual([400, 'validation_error']);
    expect(await post({ ...lineItem, parent_entity_id: b.id })).toEqual([400, 'validation_error']);
    expect(await post({ ...lineItem, parent_entity_id: 'subs_none' })).toEqual([404, 'not_found']);
    expect(await post({ ...lineItem, parent_entity_id: a.id })).toEqual([201, 'subscription']);
    expect(await post({ ...lineItem, parent_entity_id: a.id })).toEqual([409, 'already_exists']);
    expect(await post({ entity_type: 'subscription', entity_id: a.id })).toEqual([201, null]);
  });
});

describe('a balance', () => {
  test('is compared by every ledger operation, is told once a change, and alarms again after it was switched off', async () => {
    const { id } = await wallet(await person(), { alert_settings: { alert_enabled: true, ...levels } });
    await topUp(id, '150');
    await debit(id, '50');
    await debit(id, '10');
    await debit(id, '85');
    const states = async () =>
      (await told(id, dropped, recovered)).map(({ event_type, alert }) => [event_type, alert.state]);
    expect(await states()).toEqual([
      [dropped, 'info'],
      [dropped, 'in_alarm'],
    ]);
    await topUp(id, '200');
    await watched();
    expect(await states()).toEqual([
      [dropped, 'info'],
      [dropped, 'in_alarm'],
      [recovered, 'ok'],
    ]);
    await debit(id, '200');
    expect((await states()).length).toBe(4);
    const put = (alert_enabled: boolean) =>
      call('PUT', `/wallets/${id}`, { alert_settings: { alert_enabled, ...levels } });
    await put(false);
    expect((await logged(id, 'low_credit_balance')).at(-1)).toEqual(['ok', '5']);
    expect((await states()).length).toBe(4);
    await put(true);
    await watched();
    expect((await states()).at(-1)).toEqual([dropped, 'in_alarm']);
    expect((await call('GET', `/wallets/${id}`)).body.alert_state).toBe('in_alarm');
  });

  test('recovers at once when new settings say that it is enough', async () => {
    const { id } = await wallet(await person(), {
      alert_settings: { alert_enabled: true, critical: { threshold: '50' } },
    });
    await topUp(id, '20');
    await watched();
    const state = async () => (await call('GET', `/wallets/${id}`)).body.alert_state;
    expect(await state()).toBe('in_alarm');
    await call('PUT', `/wallets/${id}`, { alert_settings: { alert_enabled: true, critical: { threshold: '5' } } });
    await watched();
    expect(await state()).toBe('ok');
    expect((await told(id, 'wallet.ongoing_balance.recovered')).length).toBe(1);
  });

  test('finding 17: its event shows what it was when it changed, however late it is sent', async () => {
    const { id } = await wallet(await person(), {
      alert_settings: { alert_enabled: true, ...levels },
      conversion_rate: '2',
    });
    await topUp(id, '30.5');
    await debit(id, '27');
    await topUp(id, '500');
    const [first] = await told(id, dropped);
    expect(first).toMatchObject({
      event_type: dropped,
      wallet: { id, balance: '61', credit_balance: '30.5', wallet_status: 'active' },
      alert: {
        state: 'info',
        current_balance: 61,
        credit_balance: 30.5,
        alert_type: 'low_credit_balance',
        alert_settings: { critical: { threshold: '10', condition: 'below' } },
      },
    });
  });

  test('of the environment is watched by its default, unless the wallet says otherwise', async () => {
    const [plain, own] = [
      await wallet(await person()),
      await wallet(await person(), { alert_settings: { alert_enabled: false } }),
    ];
    await enable('wallet_balance_alert_config', {
      alert_enabled: true,
      critical: { threshold: '1', condition: 'below' },
    });
    await watched();
    expect((await call('GET', `/wallets/${plain.id}`)).body.alert_state).toBe('in_alarm');
    expect((await call('GET', `/wallets/${own.id}`)).body.alert_state).toBe('ok');
    await enable('wallet_balance_alert_config', { alert_enabled: false });
    await watched();
    expect((await call('GET', `/wallets/${plain.id}`)).body.alert_state).toBe('ok');
    expect((await told(plain.id, 'wallet.ongoing_balance.recovered')).length).toBe(0);
  });
});

describe('usage', () => {
  test('lowers the balance of its payer, of which features and percentages are told', async () => {
    const on = await metered();
    const customer = await subscribed(on);
    const { id } = await wallet(customer.customerId, {
      alert_settings: { alert_enabled: true, alert_threshold_type: 'percentage', critical: { threshold: '20' } },
    });
    await setting(
      { entity_type: 'feature', entity_id: on.featureId },
      { warning: { threshold: '60' }, critical: { threshold: '10' } },
    );
    await topUp(id, '100');
    await use(on, customer.externalId, ['04-02T00:00:00', 20]);
    await advanceTo(api, customer.clockId, '2026-04-03T00:00:00Z');
    await watched();
    expect(await logged(id)).toEqual([]);
    const ofFeature = async () =>
      (await told(on.featureId, 'feature.wallet_balance.alert')).filter(({ wallet_id }) => wallet_id === id);
    expect(await ofFeature()).toMatchObject([
      {
        alert_status: 'warning',
        wallet_id: id,
        feature_id: on.featureId,
        current_balance: '60',
        alert: { credit_balance: '60' },
      },
    ]);
    await use(on, customer.externalId, ['04-04T00:00:00', 20]);
    await advanceTo(api, customer.clockId, '2026-04-05T00:00:00Z');
    await watched();
    expect(await logged(id, 'low_ongoing_balance')).toEqual([['in_alarm', '20']]);
    const [drop] = await told(id, 'wallet.ongoing_balance.dropped');
    expect(drop).toMatchObject({
      alert: { state: 'in_alarm', current_balance: 20, credit_balance: 20 },
      wallet: { balance: '100' },
    });
    expect((await told(id, 'wallet.ongoing_balance.updated')).length).toBeGreaterThan(0);
    const { items } = await created<{ items: object[] }>(api, '/alerts/search', {
      customer_id: customer.customerId,
      expand: 'customer,wallet,feature',
      alert_type: 'feature_wallet_balance',
    });
    expect(items).toMatchObject([
      { customer: { id: customer.customerId }, wallet: { id }, feature: { id: on.featureId } },
    ]);
  });

  test('alert-period-roll: is spending, whose streams begin anew each period and recover once', async () => {
    await enable('subscription_alert_config');
    const on = await metered();
    const customer = await subscribed(on);
    const item = (await call('GET', `/subscriptions/${customer.id}`)).body.line_items[0].id;
    await setting(
      { entity_type: 'subscription', entity_id: customer.id },
      { warning: { threshold: '30' }, critical: { threshold: '50' } },
    );
    await setting(
      { entity_type: 'subscription_line_item', entity_id: item, parent_entity_id: customer.id },
      { info: { threshold: '60' } },
    );
    const reached = 'subscription.spend.threshold_reached';
    const events = async () =>
      (
        await told(
          customer.id,
          reached,
          'subscription.spend.threshold_recovered',
          'subscription.line_item_spend.threshold_reached',
        )
      ).map(({ event_type, alert_status, current_spend, threshold }) => [
        event_type,
        alert_status,
        current_spend,
        threshold,
      ]);
    await use(on, customer.externalId, ['04-02T00:00:00', 20]);
    await advanceTo(api, customer.clockId, '2026-04-03T00:00:00Z');
    await watched();
    expect(await events()).toEqual([[reached, 'warning', '40', '30']]);
    const spending = { subscription: { customer: { external_id: customer.externalId } } };
    expect(await told(customer.id, reached)).toMatchObject([{ ...spending, alert: spending }]);
    await use(on, customer.externalId, ['04-04T00:00:00', 10]);
    await advanceTo(api, customer.clockId, '2026-04-05T00:00:00Z');
    await watched();
    const itemReached = 'subscription.line_item_spend.threshold_reached';
    expect((await events()).slice(1).sort()).toEqual([
      [itemReached, 'info', '60', '60'],
      [reached, 'in_alarm', '60', '50'],
    ]);
    await advanceTo(api, customer.clockId, '2026-05-02T00:00:00Z');
    await watched();
    expect((await events()).slice(3)).toEqual([['subscription.spend.threshold_recovered', 'ok', '0', null]]);
    await use(on, customer.externalId, ['05-03T00:00:00', 15]);
    await advanceTo(api, customer.clockId, '2026-05-04T00:00:00Z');
    await watched();
    expect((await events()).slice(4)).toEqual([[reached, 'warning', '30', '30']]);
  });
});

test('alert-zero-base, finding 40: a balance without credits for a whole period has no percentage, and an alarm of it ends silently', async () => {
  const on = await metered();
  const customer = await subscribed(on);
  const { id } = await wallet(customer.customerId, {
    alert_settings: { alert_enabled: true, alert_threshold_type: 'percentage', critical: { threshold: '50' } },
  });
  await topUp(id, '10');
  await debit(id, '8');
  expect(await logged(id, 'low_credit_balance')).toEqual([['in_alarm', '20']]);
  await advanceTo(api, customer.clockId, '2026-05-02T00:00:00Z');
  await watched();
  expect(await logged(id, 'low_credit_balance')).toEqual([['in_alarm', '20']]);
  await advanceTo(api, customer.clockId, '2026-06-02T00:00:00Z');
  await watched();
  expect((await logged(id, 'low_credit_balance')).map(([state]) => state)).toEqual(['in_alarm', 'ok']);
  expect((await told(id, recovered)).length).toBe(0);
});

test('finding 39: nobody is told of the alarms of a wallet that is closed', async () => {
  const { clockId: _clock, customerId } = await clockedCustomer(api, { frozenTime: '2026-04-01T00:00:00Z' });
  const { id } = await wallet(customerId, { alert_settings: { alert_enabled: true, critical: { threshold: '50' } } });
  await topUp(id, '60');
  await debit(id, '20');
  await call('POST', `/wallets/${id}/terminate`);
  await watched();
  expect((await logged(id)).at(-1)?.[0]).toBe('ok');
  expect((await told(id, recovered, 'wallet.ongoing_balance.recovered')).length).toBe(0);
  const found = await created<{ items: object[] }>(api, '/alerts/setting/search', { entity_id: id });
  expect(found.items).toEqual([]);
});
