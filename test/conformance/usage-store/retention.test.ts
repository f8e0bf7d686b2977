import { afterAll, expect, test } from 'vitest';
import { inSqlTransaction, type Sql } from '../../../db/transaction.ts';
import { beginFeed } from '../../../metering/clickhouse/feed.ts';
import { dropUnkept, untakenReason } from '../../../metering/clickhouse/retention.ts';
import { dropKept, dropOldestMonth } from '../../../metering/postgres/retention.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import type { UsageQuestion, UsageStore } from '../../../metering/usage-store.ts';
import { testDatabase } from '../../support/database.ts';
import { append, newCustomer, newMeter } from '../../support/metering.ts';
import { makeIngestedIn } from '../../support/old-event.ts';
import { startEngine } from '../../support/tested-engine.ts';

const { database, scope, ownerUrl } = await testDatabase();
const engine = await startEngine('clickhouse', database);
const { store, settle, passedOn } = engine;
const { server, clickhouse } = engine.behind!;
const postgres = openPostgresUsageStore(database);
afterAll(() => engine.stop());
await newCustomer(database, scope, 'acme');

const before = '2025-01-01T00:00:00.000Z';
const drop = () => dropOldestMonth(database, before, untakenReason);
const read = <T>(work: (sql: Sql) => Promise<T>) => inSqlTransaction(database, scope, work);
const taken = (table: string) => {
  const name = server.query(`select max(name) from system.tables where name like 'usage\\_${table}\\_%'`).trim();
  return Number(server.query(`select uniqExact(seq) from ${name}`));
};

/** Events of a name of their own, on the fifth and sixth of a month, and in 2026 which is kept. */
async function ingested(month: string, eventName: string): Promise<string[]> {
  const times = [`${month}-05T10:15:00Z`, `${month}-06T11:45:00Z`, '2026-01-05T00:00:00Z'];
  const ids = times.map((_, index) => `${eventName} ${index}`);
  const events = times.map((timestamp, index) => {
    return {
      event_id: ids[index]!,
      event_name: eventName,
      timestamp,
      source: 'web',
      properties: { n: index + 1, g: 'a' },
    };
  });
  await append(store, scope, events);
  await makeIngestedIn(ownerUrl, month, ids);
  return ids;
}

/** What both engines say, which must be the same: an answer, or a refusal. */
async function answered<T>(ask: (engine: UsageStore, sql: Sql) => Promise<T>): Promise<T | string> {
  const [first, second] = await Promise.all(
    [postgres, store].map((asked) => read((sql) => ask(asked, sql)).catch(({ message }: Error) => message)),
  );
  expect(second).toEqual(first);
  return first as T | string;
}

function usage(question: Partial<UsageQuestion> & { meterId: string }) {
  const always = { from: '2024-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' };
  const whole = { key: 'q', externalCustomerIds: ['acme'], ...always, ...question };
  return answered(async (asked, sql) => (await asked.usage(sql, scope, [whole])).get('q')?.value);
}

test('a month is not dropped before the feed has taken it, and what it waits for is told', async () => {
  await ingested('2024-02', 'fed late');
  const waiting = { partition: 'event_202402', eventCount: 0 };
  expect(await drop()).toEqual({ ...waiting, waitsFor: 'the usage feed has not taken all of its events' });
  await settle();
  expect(await drop()).toEqual({ partition: 'event_202402', eventCount: 2 });
  expect(await drop()).toBeNull();
});

test('a void that the feed has not taken holds its month back', async () => {
  const [first] = await ingested('2024-03', 'voided late');
  await settle();
  await inSqlTransaction(database, scope, (tx) => store.voidEvent(tx, { id: first!, reason: 'sent twice' }));
  expect(await drop()).toMatchObject({ waitsFor: 'the usage feed has not taken all voids of its events' });
  await settle();
  const voids = taken('void');
  expect(await drop()).toMatchObject({ eventCount: 2 });
  await dropUnkept({ database, clickhouse });
  expect(taken('void')).toBe(voids - 1);
});

test('an expression whose values the feed has not taken holds months back', async () => {
  await ingested('2024-04', 'computed');
  await settle();
  const meter = await newMeter(database, scope, { type: 'SUM', expression: 'n * 10' }, { eventName: 'computed' });
  expect(await drop()).toMatchObject({
    waitsFor: expect.stringMatching(/^the usage feed has not taken the values of the expression of meter \d+$/),
  });
  await settle();
  expect(await drop()).toMatchObject({ eventCount: 2 });
  await dropUnkept({ database, clickhouse });
  expect(await usage({ meterId: meter.id })).toBe('60');
  expect(await usage({ meterId: meter.id, from: '2025-01-01T00:00:00.000Z' })).toBe('30');
});

test('what was dropped goes from ClickHouse too, what was kept stays, and both engines answer alike before and after', async () => {
  const eventName = 'dropped';
  const sum = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName });
  const users = await newMeter(database, scope, { type: 'COUNT_UNIQUE', field: 'n' }, { eventName });
  const bucketed = await newMeter(database, scope, { type: 'MAX', field: 'n', bucket_size: 'HOUR' }, { eventName });
  await ingested('2024-05', eventName);
  await settle();
  const fed = taken('event');
  const everything = async () => {
    const month = { from: '2024-05-01T00:00:00.000Z', to: '2024-06-01T00:00:00.000Z' };
    const wire = { from: '2024-05-01T00:00:00.000000Z', to: '2024-06-01T00:00:00.000000Z' };
    const answers: unknown[] = [];
    for (const meterId of [sum.id, users.id, bucketed.id]) {
      answers.push(await usage({ meterId }), await usage({ meterId, ...month }));
    }
    answers.push(
      await answered(async (asked, sql) => {
        const question = { key: 'q', meterId: sum.id, externalCustomerIds: ['acme'], ...wire };
        const windows = { windowSize: 'DAY', timezone: 'UTC', billingAnchor: null };
        return (await asked.series(sql, scope, question, windows)).points;
      }),
    );
    return answers;
  };
  const known = await everything();
  expect(known.slice(0, 6)).toEqual(['6', '3', '3', '2', '6', '3']);
  expect(await drop()).toEqual({ partition: 'event_202405', eventCount: 2 });
  expect(await everything()).toEqual(known);
  expect(await dropUnkept({ database, clickhouse })).toBe(2);
  expect(taken('event')).toBe(fed - 2);
  expect(await dropUnkept({ database, clickhouse })).toBe(0);
  expect(await everything()).toEqual(known);

  const refusal = expect.stringContaining('were dropped by retention');
  expect(await usage({ meterId: sum.id, from: '2024-05-05T10:10:00.000Z' })).toEqual(refusal);
  expect(await usage({ meterId: sum.id, filters: { g: ['a'] } })).toEqual(refusal);
  expect(await usage({ meterId: sum.id, bucketSize: 'MINUTE' })).toEqual(refusal);
  // Of what came after, ClickHouse answers by itself.
  const passed = passedOn.length;
  const later = { from: '2024-05-06T11:45:00.001Z' };
  expect(await usage({ meterId: sum.id, ...later })).toBe('3');
  expect(await usage({ meterId: sum.id, filters: { g: ['a'] }, ...later })).toBe('3');
  expect(passedOn.slice(passed)).toEqual([]);
});

test('what was kept of a month goes from both engines when it is old', async () => {
  await ingested('2024-06', 'kept');
  await settle();
  await drop();
  await dropUnkept({ database, clickhouse });
  const fed = taken('event');
  const later = '2026-02-01T00:00:00.000Z';
  const dropped = await dropKept(database, later, untakenReason);
  expect(dropped).toMatchObject({ partition: 'event_default' });
  expect(dropped.eventCount).toBeGreaterThan(0);
  // The one with an expression has a second row.
  expect(await dropUnkept({ database, clickhouse })).toBeGreaterThanOrEqual(fed);
  expect(taken('event')).toBe(0);
});

test('a feed that begins anew takes what is left, and holds back what it has not taken yet', async () => {
  await ingested('2024-07', 'anew');
  const sum = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'anew' });
  await settle();
  await beginFeed({ database, clickhouse });
  expect(await drop()).toMatchObject({ waitsFor: 'the usage feed has not taken all of its events' });
  await settle();
  expect(await drop()).toMatchObject({ eventCount: 2 });
  expect(await usage({ meterId: sum.id })).toBe('6');
});
