import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scheduleRetention } from '../../../../activities/usage/event-retention.ts';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { lateUsageReader } from '../../../../metering/late-usage.ts';
import { dropKept, dropOldestMonth } from '../../../../metering/postgres/retention.ts';
import { openPostgresUsageStore } from '../../../../metering/postgres/usage-store.ts';
import { bulkTaskQueue } from '../../../../workflows/start.messages.ts';
import { retentionScheduleId } from '../../../../workflows/usage/event-retention.messages.ts';
import { advanceTo, clockedCustomer, created, monthlyPlan, subscribe, testPlatform } from '../../../support/billing.ts';
import { append, newCustomer, newMeter, usageOf } from '../../../support/metering.ts';
import { makeIngestedIn } from '../../../support/old-event.ts';

const { api, base, temporal } = await testPlatform();
const { database, scope } = base;
const store = openPostgresUsageStore(database);
const owner = new pg.Client({ connectionString: base.ownerUrl });
await owner.connect();
beforeAll(async () => {
  await newCustomer(database, scope, 'acme');
});
afterAll(async () => {
  await owner.end();
  await store.close();
});

const before = '2025-01-01T00:00:00.000Z';
const february = { from: '2024-02-01T00:00:00.000Z', to: '2024-03-01T00:00:00.000Z' };
const text = (sql: string, values: unknown[] = []) =>
  inSqlTransaction(database, scope, (tx) => tx.rows<Record<string, unknown>>(sql, values));
const stored = async (ids: readonly string[]) =>
  (await text('select event_id from usage.event where event_id = any($1) order by event_id', [ids])).map(
    ({ event_id }) => event_id,
  );
const verify = () => inSqlTransaction(database, scope, (tx) => store.verify(tx, scope));

const ingestedIn = (month: string, ids: readonly string[]) => makeIngestedIn(base.ownerUrl, month, ids);

async function dropAll(): Promise<string[]> {
  const parts: string[] = [];
  for (let month = await dropOldestMonth(database, before); month; month = await dropOldestMonth(database, before)) {
    parts.push(`${month.partition} ${month.eventCount}`);
  }
  return parts;
}

test('a month that nobody needs is dropped, its usage stays, and no id of it counts again', async () => {
  const ids = ['old-1', 'old-2', 'old-3'];
  const sum = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'old' });
  const users = await newMeter(database, scope, { type: 'COUNT_UNIQUE', field: 'n' }, { eventName: 'old' });
  const events = ids.map((event_id, index) => ({
    event_id,
    event_name: 'old',
    timestamp: `2024-02-0${index + 2}T10:15:00Z`,
    properties: { n: index + 1 },
  }));
  await append(store, scope, events);
  await ingestedIn('2024-02', ids);
  expect(await dropAll()).toEqual(['event_202402 3']);

  expect(await stored(ids)).toEqual([]);
  for (const [meterId, value] of [
    [sum.id, '6'],
    [users.id, '3'],
  ] as const) {
    expect(await usageOf(database, store, scope, { meterId, ...february })).toBe(value);
  }
  await append(store, scope, events);
  expect(await usageOf(database, store, scope, { meterId: sum.id, ...february })).toBe('6');
  expect(await verify()).toEqual([]);
  expect(await text(`select part, event_count, kept_count from usage.dropped_partition`)).toEqual([
    { part: 'event_202402', event_count: '3', kept_count: '0' },
  ]);

  const refusal = { type: 'invalid_operation', message: expect.stringContaining('were dropped by retention') };
  const within = { from: '2024-02-02T10:10:00.000Z', to: february.to };
  await expect(usageOf(database, store, scope, { meterId: sum.id, ...within })).rejects.toMatchObject(refusal);
  const filtered = { ...february, filters: { n: ['1'] } };
  await expect(usageOf(database, store, scope, { meterId: sum.id, ...filtered })).rejects.toMatchObject(refusal);
  const minutes = { ...february, bucketSize: 'MINUTE' };
  await expect(usageOf(database, store, scope, { meterId: sum.id, ...minutes })).rejects.toMatchObject(refusal);
  const grouped = await api('POST', '/meter-usage/detailed-analytics', {
    external_customer_id: 'acme',
    meter_ids: [sum.id],
    start_time: february.from,
    end_time: february.to,
    group_by: ['properties.n'],
  });
  expect(grouped).toMatchObject({ status: 400, body: { error: { message: refusal.message } } });
  // What came after the dropped events is read as ever.
  const after = { from: '2024-02-04T10:15:00.001Z', to: february.to };
  expect(await usageOf(database, store, scope, { meterId: sum.id, ...after })).toBe('0');
});

test('an event that tells a time that is kept or ahead stays, and goes when its own time is old', async () => {
  const ids = ['ahead-1', 'ahead-2'];
  const times = ['2024-03-05T00:00:00Z', '2025-06-01T00:00:00Z'];
  await append(
    store,
    scope,
    ids.map((event_id, index) => ({ event_id, event_name: 'ahead', timestamp: times[index]! })),
  );
  await ingestedIn('2024-03', ids);
  expect(await dropAll()).toEqual(['event_202403 1']);
  expect(await stored(ids)).toEqual(['ahead-2']);
  expect(await dropKept(database, before)).toEqual({ partition: 'event_default', eventCount: 0 });
  expect(await stored(ids)).toEqual(['ahead-2']);
  expect(await dropKept(database, '2025-07-01T00:00:00.000Z')).toEqual({ partition: 'event_default', eventCount: 1 });
  expect(await stored(ids)).toEqual([]);
});

test('events of a period stay until its invoice is final', async () => {
  const { planId, eventName } = await monthlyPlan(api);
  const { clockId, customerId, externalId } = await clockedCustomer(api, { frozenTime: '2024-04-01T00:00:00Z' });
  const { id } = await subscribe(api, { customer_id: customerId, plan_id: planId });
  const ids = ['period-0', 'period-1'];
  const times = ['2024-03-31T00:00:00Z', '2024-04-02T00:30:00Z'];
  await append(
    store,
    scope,
    ids.map((event_id, index) => ({
      event_id,
      event_name: eventName,
      external_customer_id: externalId,
      timestamp: times[index]!,
    })),
  );
  await ingestedIn('2024-04', ids);
  expect(await dropAll()).toEqual(['event_202404 1']);
  expect(await stored(ids)).toEqual(['period-1']);
  await created(api, `/subscriptions/${id}/cancel`, { cancellation_type: 'end_of_period' });
  await advanceTo(api, clockId, '2024-05-01T00:00:00Z');
  expect(await dropKept(database, before)).toMatchObject({ eventCount: 0 });

  await advanceTo(api, clockId, '2024-05-02T00:00:00Z');
  expect(await dropKept(database, before)).toMatchObject({ eventCount: 1 });
  expect(await stored(ids)).toEqual([]);
  // What was late can be told no more; the invoice itself is as it was.
  const { body } = await api<{ items: { id: string; total: string }[] }>('GET', `/invoices?subscription_id=${id}`);
  const usage = body.items.find(({ total }) => total.startsWith('0.1'));
  const explained = await api<{ lines: { late_usage: unknown }[] }>('GET', `/invoices/${usage?.id}/explain`);
  expect(explained.body.lines.map(({ late_usage }) => late_usage)).toEqual([null]);
});

test('an event of a day of which others were dropped cannot be voided', async () => {
  const ids = ['part-1', 'part-2'];
  await newMeter(database, scope, { type: 'MAX', field: 'n' }, { eventName: 'part' });
  const event = { event_name: 'part', timestamp: '2024-06-05T01:00:00Z', properties: { n: 1 } };
  await append(
    store,
    scope,
    ids.map((event_id) => ({ ...event, event_id })),
  );
  await ingestedIn('2024-06', ['part-1']);
  expect(await dropAll()).toEqual(['event_202406 1']);
  const refused = await api('POST', '/events/part-2/void', { reason: 'wrong' });
  expect(refused).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('dropped') } } });
  expect(await verify()).toEqual([]);
});

test('a change of filters keeps what is rolled up of a time that was dropped, and counts anew what was not', async () => {
  const filters = [{ key: 'region', values: ['eu'] }];
  const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'changed', filters });
  const users = { type: 'COUNT_UNIQUE', field: 'n' };
  const distinct = await newMeter(database, scope, users, { eventName: 'changed', filters });
  const event = (event_id: string, day: string, region: string) => ({
    event_id,
    event_name: 'changed',
    timestamp: `2024-${day}T01:00:00Z`,
    properties: { n: 1, region },
  });
  const old = [event('changed-1', '09-05', 'eu'), event('changed-2', '09-05', 'us')];
  await append(store, scope, [...old, event('changed-3', '09-06', 'us')]);
  await ingestedIn('2024-09', ['changed-1', 'changed-2']);
  await dropAll();
  for (const { id } of [meter, distinct]) {
    const { status } = await api('PUT', `/meters/${id}`, { filters: [{ key: 'region', values: ['us'] }] });
    expect(status).toBe(200);
    const september = { from: '2024-09-01T00:00:00.000Z', to: '2024-10-01T00:00:00.000Z' };
    expect(await usageOf(database, store, scope, { meterId: id, ...september })).toBe(id === meter.id ? '2' : '1');
    const fifth = { from: '2024-09-05T00:00:00.000Z', to: '2024-09-06T00:00:00.000Z' };
    expect(await usageOf(database, store, scope, { meterId: id, ...fifth })).toBe('1');
  }
  expect(await verify()).toEqual([]);
});

test('late usage of a time that was dropped is unknown, not all of it', async () => {
  const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'billed' });
  await append(store, scope, [
    { event_id: 'billed-1', event_name: 'billed', timestamp: '2024-07-05T01:00:00Z', properties: { n: 1 } },
  ]);
  const customer = await text(`select id from customer where external_id = 'acme'`);
  const window = { meterId: meter.id, from: '2024-07-01T00:00:00.000Z', to: '2024-08-01T00:00:00.000Z' };
  const customerId = String(customer[0]?.id);
  const late = () =>
    inSqlTransaction(database, scope, async (tx) => {
      const billed = { key: 'line', customerId, filters: null, bucketing: null, watermark, ...window };
      return lateUsageReader(store)(tx, scope, [billed]);
    });
  const { watermark } = await inSqlTransaction(database, scope, async (tx) => {
    const answers = await store.usage(tx, scope, [{ key: 'q', customerIds: [customerId], ...window }]);
    return answers.get('q')!;
  });
  expect((await late()).get('line')).toMatchObject({ eventCount: 0 });
  await ingestedIn('2024-07', ['billed-1']);
  await dropAll();
  expect((await late()).size).toBe(0);
});

test('a schedule of the workers runs it once a day; without a number of days there is none', async () => {
  const { client } = temporal;
  const days = async () => {
    const { action } = await client.schedule.getHandle(retentionScheduleId).describe();
    return action.type === 'startWorkflow' ? action.args : null;
  };
  await scheduleRetention(client, 500);
  await scheduleRetention(client, 600);
  expect(await days()).toEqual([{ days: 600 }]);
  await scheduleRetention(client, null);
  await scheduleRetention(client, null);
  await expect(days()).rejects.toThrow();

  const id = randomUUID();
  await append(store, scope, [{ event_id: id, event_name: 'run', timestamp: '2024-08-05T01:00:00Z' }]);
  await owner.query(`update usage.event set event_id = 'run-1' where key = $1`, [id]);
  await ingestedIn('2024-08', ['run-1']);
  const run = { workflowId: retentionScheduleId, taskQueue: bulkTaskQueue, args: [{ days: 400 }] };
  expect(await client.workflow.execute('eventRetention', run)).toEqual([{ partition: 'event_202408', eventCount: 1 }]);
});
