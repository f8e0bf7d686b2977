import { expect, test } from 'vitest';
import { created, testPlatform } from '../../support/billing.ts';
import { advanceClock } from '../../support/clock.ts';
import { family } from '../subscription/hierarchy.fixture.ts';
import { fillingWallets, later } from '../wallet/auto-top-up.fixture.ts';
import { grantFixture } from '../wallet/grant.fixture.ts';
import { alertFixture } from './alert.fixture.ts';

const platform = await testPlatform();
const { api } = platform;
const { setting, enable, wallet, topUp, logged, told, call } = alertFixture(platform);
const { metered, subscribed } = grantFixture(api);

const dayMs = 86_400_000;

test('a year of daily usage on a test clock brings each alert at its day, in one advance', async () => {
  await enable('subscription_alert_config');
  const on = await metered();
  const customer = await subscribed(on);
  const { id } = await wallet(customer.customerId, {
    alert_settings: { alert_enabled: true, critical: { threshold: '100' }, warning: { threshold: '400' } },
  });
  await topUp(id, '700');
  await setting({ entity_type: 'subscription', entity_id: customer.id }, { critical: { threshold: '50' } });
  // One unit a day costs 2: the balance is 400 after the 150th of them, and a month costs 50 with its 25th.
  const start = Date.parse('2026-04-01T00:30:00Z');
  const days = Array.from({ length: 365 }, (_, day): [string, number] => [
    new Date(start + day * dayMs).toISOString().slice(5, 19),
    1,
  ]);
  const years = (index: number) => new Date(start + index * dayMs).toISOString().slice(0, 4);
  const events = days.map(([at, n], index) => ({
    event_name: on.eventName,
    external_customer_id: customer.externalId,
    event_id: `day-${index}`,
    timestamp: `${years(index)}-${at}Z`,
    properties: { n },
  }));
  await created(api, '/events/bulk', { events });
  await advanceClock(api, customer.clockId, '2027-04-01T00:00:00Z', 300_000);
  expect(await logged(id, 'low_ongoing_balance')).toEqual([
    ['warning', '400'],
    ['in_alarm', '100'],
  ]);
  const { items } = await created<{ items: { alert_status: string; alert_info: { timestamp: string } }[] }>(
    api,
    '/alerts/search',
    { customer_id: customer.customerId, limit: 1000, order: 'asc' },
  );
  const at = (index: number) => new Date(start + index * dayMs + dayMs / 48).toISOString();
  const ofWallet = items.filter(({ alert_info }) => [at(149), at(299)].includes(alert_info.timestamp));
  expect(ofWallet.map(({ alert_status }) => alert_status)).toEqual(expect.arrayContaining(['warning', 'in_alarm']));
  const spends = await told(customer.id, 'subscription.spend.threshold_reached');
  const days25 = Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2026, 3 + month, 25, 1)).toISOString());
  expect(spends.map(({ triggered_at }) => triggered_at)).toEqual(days25);
  expect((await told(id, 'wallet.ongoing_balance.dropped')).length).toBe(2);
}, 400_000);

test('usage of a child lowers the balance of whoever pays for it, and only that one is told', async () => {
  const { plan, parent, children, clockId } = await family(api, { children: 2 });
  const { id } = await wallet(parent.customerId, {
    alert_settings: { alert_enabled: true, critical: { threshold: '90' } },
  });
  await topUp(id, '100');
  const own = await Promise.all(children.map(({ customerId }) => wallet(customerId)));
  const at = '2026-01-20T10:00:00Z';
  const events = children.flatMap(({ externalId }) =>
    Array.from({ length: 60 }, (_, index) => ({
      event_name: plan.eventName,
      external_customer_id: externalId,
      event_id: `${externalId}-${index}`,
      timestamp: at,
      properties: {},
    })),
  );
  await created(api, '/events/bulk', { events });
  await advanceClock(api, clockId, '2026-01-25T00:00:00Z', 200_000);
  expect(await logged(id, 'low_ongoing_balance')).toEqual([['in_alarm', '88']]);
  const { items } = (await call('POST', '/alerts/search', { entity_id: id })).body;
  expect(items[0].alert_info.timestamp).toBe('2026-01-20T11:00:00.000Z');
  for (const each of own) expect(await logged(each.id)).toEqual([]);
}, 300_000);

test('finding 15: in one advance of a month each crossing is one top-up, in the hour of the usage that brought it', async () => {
  const { payer, walletOf, subscribed: subscribe, use, attemptsOf } = fillingWallets(platform);
  const { customerId, clockId, externalId } = await payer('succeeds');
  const plan = await subscribe(customerId);
  // At 1 a call the balance is 20 after the 80th of them, and again after each 50 more.
  const walletId = await walletOf(customerId);
  const days = Array.from({ length: 30 }, (_, day) => later(24 * day + 9.5));
  for (const at of days) await use(plan, externalId, 10, at);
  await advanceClock(api, clockId, later(24 * 30), 300_000);
  const opened = (await attemptsOf(walletId)).toReversed();
  expect(opened.map(({ opened_at }) => opened_at)).toEqual([7, 12, 17, 22, 27].map((day) => later(24 * day + 10)));
  expect(opened.every(({ outcome, credits }) => outcome === 'succeeded' && credits === '50')).toBe(true);
}, 400_000);
