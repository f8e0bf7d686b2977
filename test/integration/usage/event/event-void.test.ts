import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { openPostgresUsageStore } from '../../../../metering/postgres/usage-store.ts';
import { createSandbox } from '../../../../services/platform/tenant.ts';
import {
  advanceTo,
  clockedCustomer,
  created,
  invoicesOf,
  monthlyPlan,
  subscribe,
  testPlatform,
} from '../../../support/billing.ts';
import { append, january, newCustomer, newMeter, usageOf } from '../../../support/metering.ts';

const { api, base } = await testPlatform();
const { database, scope } = base;
const store = openPostgresUsageStore(database);
await newCustomer(database, scope, 'acme');

const voidEvent = (id: string, reason = 'sent twice') => api('POST', `/events/${id}/void`, { reason });
const verify = () => inSqlTransaction(database, scope, (tx) => store.verify(tx, scope));

test.each([
  ['COUNT', null, '2'],
  ['SUM', 'n', '5'],
  ['AVG', 'n', '2.5'],
  ['MAX', 'n', '3'],
  ['LATEST', 'n', '3'],
  ['COUNT_UNIQUE', 'n', '2'],
] as const)('a void takes the event out of %s, and voiding again changes nothing', async (type, field, left) => {
  const eventName = `void-${type}`;
  const meter = await newMeter(database, scope, { type, field }, { eventName });
  const ids = [2, 3, 9].map(() => randomUUID());
  const at = (hour: number) => `2026-01-10T0${hour}:15:00Z`;
  await append(
    store,
    scope,
    [2, 3, 9].map((n, index) => ({
      event_id: ids[index]!,
      event_name: eventName,
      timestamp: at(index === 2 ? 1 : index),
      properties: { n },
    })),
  );
  const whole = await usageOf(database, store, scope, { meterId: meter.id });
  expect(whole).not.toBe(left);
  const first = await voidEvent(ids[2]!);
  expect(first).toMatchObject({ status: 200, body: { event_id: ids[2], reason: 'sent twice' } });
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe(left);
  // From raw rows, and in a part of the hour.
  const filtered = await usageOf(database, store, scope, { meterId: meter.id, filters: { n: ['2', '3', '9'] } });
  expect(filtered).toBe(left);
  expect((await voidEvent(ids[2]!, 'another reason')).body).toEqual(first.body);
  // Its id stays taken.
  await append(store, scope, [{ event_id: ids[2]!, event_name: eventName, timestamp: at(1), properties: { n: 9 } }]);
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe(left);
  expect(await verify()).toEqual([]);
});

test('a distinct value stays while another event of the day has it', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT_UNIQUE', field: 'user' }, { eventName: 'logins' });
  const ids = [randomUUID(), randomUUID()];
  const login = (event_id: string, hour: number) => ({
    event_id,
    event_name: 'logins',
    timestamp: `2026-01-10T0${hour}:00:00Z`,
    properties: { user: 'u' },
  });
  await append(store, scope, [login(ids[0]!, 1), login(ids[1]!, 5)]);
  await voidEvent(ids[0]!);
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('1');
  await voidEvent(ids[1]!);
  expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('0');
});

test('a voided event is shown as such and not listed', async () => {
  const id = randomUUID();
  await append(store, scope, [{ event_id: id, event_name: 'shown', timestamp: '2026-01-10T00:00:00Z' }]);
  await voidEvent(id, 'a mistake');
  expect((await api('GET', `/events/${id}`)).body).toMatchObject({
    event: { id },
    status: 'failed',
    voided_at: expect.any(String),
    void_reason: 'a mistake',
    processed_events: [],
  });
  expect((await api('GET', `/events/${id}/explain`)).body).toMatchObject({ outcome: 'voided', reason: 'voided' });
  const listed = await api('POST', '/events/query', { event_name: 'shown', start_time: '2026-01-01T00:00:00Z' });
  expect(listed.body.total_count).toBe(0);
});

test('a void of a billed event is told on the line and changes no invoice', async () => {
  const { planId, eventName } = await monthlyPlan(api);
  const customer = await clockedCustomer(api, { frozenTime: '2026-01-01T00:00:00Z' });
  const { id: subscriptionId } = await subscribe(api, {
    customer_id: customer.customerId,
    plan_id: planId,
    start_date: '2026-01-01T00:00:00Z',
  });
  const call = (event_id: string) =>
    created(api, '/events', {
      event_id,
      event_name: eventName,
      external_customer_id: customer.externalId,
      timestamp: '2026-01-10T00:00:00Z',
    });
  await call('before');
  await call('billed-1');
  await call('billed-2');
  await voidEvent('before');
  await advanceTo(api, customer.clockId, '2026-02-02T00:00:00Z');
  const invoice = (await invoicesOf(api, subscriptionId)).find((each) => each.billing_reason === 'SUBSCRIPTION_CYCLE')!;
  const usageLine = (lines: { price_type: string }[]) => lines.find((line) => line.price_type === 'USAGE');
  expect(invoice.line_items.map((line) => line.quantity)).toContain('2');

  await voidEvent('billed-1', 'never happened');
  await call('late');
  const { body: explained } = await api<{ late_usage: object; lines: { price_type: string }[] }>(
    'GET',
    `/invoices/${invoice.id}/explain`,
  );
  expect(explained.late_usage).toEqual({ event_count: 1, voided_count: 1 });
  expect(usageLine(explained.lines)).toMatchObject({
    quantity: '2',
    late_usage: { event_count: 1, voided_count: 1, quantity: '0' },
    steps: expect.arrayContaining([expect.objectContaining({ kind: 'late_correction' })]),
  });
  const { body: why } = await api('GET', '/events/billed-1/explain');
  expect(why).toMatchObject({ outcome: 'voided', reason: 'voided_after_billing' });
  expect((await api('GET', '/events/before/explain')).body).toMatchObject({ reason: 'voided' });
  expect(await invoicesOf(api, subscriptionId)).toContainEqual(invoice);
});

test('voids and ingestion at the same time leave roll-ups equal to events', async () => {
  await newMeter(database, scope, { type: 'COUNT_UNIQUE', field: 'n' }, { eventName: 'busy' });
  await newMeter(database, scope, { type: 'MAX', field: 'n' }, { eventName: 'busy' });
  const events = Array.from({ length: 200 }, (_, n) => ({
    event_id: `busy-${n}`,
    event_name: 'busy',
    timestamp: '2026-01-10T00:00:00Z',
    properties: { n: n % 17 },
  }));
  await append(store, scope, events.slice(0, 100));
  await Promise.all([
    ...Array.from({ length: 20 }, (_, n) => voidEvent(`busy-${n * 5}`)),
    ...Array.from({ length: 20 }, (_, n) => append(store, scope, events.slice(100 + n * 5, 105 + n * 5))),
  ]);
  expect(await verify()).toEqual([]);
});

test('the sample finds a roll-up that somebody changed', async () => {
  const all = { sample: 100 };
  const before = await api<{ examined: number; differences: object[] }>('POST', '/events/verify', all);
  expect(before).toMatchObject({ status: 200, body: { differences: [] } });
  expect(before.body.examined).toBeGreaterThan(0);
  const change = (by: number) =>
    inSqlTransaction(database, scope, (tx) => tx.rows('update usage.rollup set n = n + $1', [by]));
  await change(1);
  const after = await api<{ differences: object[] }>('POST', '/events/verify', all);
  expect(after.body.differences.length).toBeGreaterThan(0);
  await change(-1);
});

test('what cannot be voided is refused', async () => {
  expect((await voidEvent('absent')).status).toBe(404);
  await append(store, scope, [{ event_id: 'mine', timestamp: january.from }]);
  expect((await voidEvent('mine', ' ')).status).toBe(400);
  const other = await createSandbox(database, { tenantName: 'Other' });
  const foreign = await api('POST', '/events/mine/void', { reason: 'x' }, { 'x-api-key': other.apiKey });
  expect(foreign.status).toBe(404);
  expect((await api('POST', '/events/verify', { sample: 101 })).status).toBe(400);
});
