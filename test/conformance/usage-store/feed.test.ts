import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { openClickHouse } from '../../../metering/clickhouse/connection.ts';
import { beginFeed, feedRound } from '../../../metering/clickhouse/feed.ts';
import { openClickHouseUsageStore } from '../../../metering/clickhouse/usage-store.ts';
import { compareEngines } from '../../../metering/compare-engines.ts';
import { prepareEvent } from '../../../metering/event.ts';
import { openPostgresUsageStore } from '../../../metering/postgres/usage-store.ts';
import { asSuperuser, testDatabase } from '../../support/database.ts';
import { append, january, newMeter, usageOf } from '../../support/metering.ts';
import { openEngine } from '../../support/usage-engines.ts';

const { database, scope, ownerUrl } = await testDatabase();
const { store, settle, behind } = await openEngine('clickhouse', database);
const { server, clickhouse } = behind!;
const postgres = openPostgresUsageStore(database);
const feed = { database, clickhouse };

let number = 0;
/** A meter of new events, and as many of them as asked for. */
async function counted(count: number, aggregation: Parameters<typeof newMeter>[2] = { type: 'SUM', field: 'n' }) {
  number += 1;
  const eventName = `fed ${number}`;
  const meter = await newMeter(database, scope, aggregation, { eventName });
  const send = (more: number) => {
    const event = { event_name: eventName, timestamp: '2026-01-10T00:00:00Z', properties: { n: 1 } };
    return append(
      store,
      scope,
      Array.from({ length: more }, () => event),
    );
  };
  await send(count);
  const usage = (engine = store) => usageOf(database, engine, scope, { meterId: meter.id });
  return { meterId: meter.id, eventName, send, usage };
}

/** Rows of events that the tables of the generation in force hold. */
async function rowCount(): Promise<number> {
  const [row] = await inSqlTransaction(database, scope, (tx) =>
    tx.rows<{ generation: number }>('select generation from usage.engine_feed'),
  );
  return Number(server.query(`select count() from usage_event_${row?.generation}`));
}

const once = () => {
  let calls = 0;
  return () => {
    calls += 1;
    return calls === 1;
  };
};

test.each(['before', 'after'] as const)(
  'a feeder that dies %s its insert has done it neither lost nor doubled',
  async (moment) => {
    const { usage, send } = await counted(3);
    await settle();
    const fed = await rowCount();
    await send(4);
    server.lose({ [moment]: once() });
    await expect(feedRound(feed)).rejects.toThrow();
    server.lose({});
    expect(await usage()).toBe('7');
    await settle();
    expect(await rowCount()).toBe(fed + 4);
    expect(await usage()).toBe('7');
  },
);

test('two feeders at once bring every event once', async () => {
  const { usage } = await counted(5);
  const before = await rowCount();
  await Promise.all([feedRound(feed), feedRound(feed)]);
  await settle();
  expect(await rowCount()).toBe(before + 5);
  expect(await usage()).toBe('5');
});

test('what is committed while a round is under way comes with the next one, also when it began earlier', async () => {
  const { usage, send, eventName } = await counted(1);
  await inSqlTransaction(database, scope, async (writing) => {
    await writing.rows('select pg_current_xact_id()');
    await send(2);
    await settle();
    const late = {
      event_name: eventName,
      external_customer_id: 'acme',
      timestamp: '2026-01-10T00:00:00Z',
      properties: { n: 4 },
    };
    await store.appendWithin(writing, [prepareEvent(late)]);
  });
  expect(await usage()).toBe('7');
  await settle();
  expect(await usage()).toBe('7');
});

test('the values of an expression that came after its events are brought by a round of their own', async () => {
  const { eventName, send } = await counted(2);
  await settle();
  const computed = await newMeter(database, scope, { type: 'SUM', expression: 'n * 10' }, { eventName });
  const before = await rowCount();
  await settle();
  expect(await rowCount()).toBe(before + 2);
  await send(1);
  expect(await usageOf(database, store, scope, { meterId: computed.id })).toBe('30');
  await settle();
  expect(await rowCount()).toBe(before + 4);
  expect(await usageOf(database, store, scope, { meterId: computed.id })).toBe('30');
});

test('PostgreSQL answers while ClickHouse does not, and it is told why', async () => {
  const { usage } = await counted(2);
  const reasons: string[] = [];
  const absent = openClickHouse({ url: 'http://127.0.0.1:1/perennial' });
  const onPassedOn = ({ name }: Error) => reasons.push(name);
  expect(await usage(openClickHouseUsageStore({ clickhouse: absent, postgres, onPassedOn }))).toBe('2');
  expect(reasons).toEqual(['ClickHouseFailed']);
  await absent.close();
});

test('PostgreSQL answers about times that retention dropped events of', async () => {
  const { usage, eventName } = await counted(2);
  await settle();
  await asSuperuser(
    ownerUrl,
    `insert into usage.dropped_usage (env, subject, event_name, dropped_until)
     select distinct e.env, e.subject, e.event_name, e.ts from usage.event e join usage.event_name n on n.number = e.event_name
     where n.name = '${eventName}'`,
  );
  const reasons: string[] = [];
  const onPassedOn = ({ message }: Error) => reasons.push(message);
  expect(await usage(openClickHouseUsageStore({ clickhouse, postgres, onPassedOn }))).toBe('2');
  expect(reasons).toEqual(['events were dropped by retention']);
  await asSuperuser(ownerUrl, 'delete from usage.dropped_usage');
});

test('a feed that begins anew answers from new tables, and from PostgreSQL until it has caught up', async () => {
  const { usage } = await counted(3);
  await settle();
  // What somebody else left there is not taken for its own.
  server.query('create table usage_event_41 (n Int8) engine = Memory');
  await beginFeed(feed);
  expect(await usage()).toBe('3');
  await settle();
  expect(await usage()).toBe('3');
  const tables = server.query('show tables').trim().split('\n');
  expect(tables).toEqual(['usage_event_41', 'usage_event_42', 'usage_void_42']);
});

test('a comparison finds what ClickHouse has and PostgreSQL has not, and nothing else', async () => {
  const { meterId, send } = await counted(3);
  await settle();
  await send(1);
  const differences = async () => {
    const found = [];
    const engines = [postgres, store] as const;
    for await (const page of compareEngines({ database, engines, intervals: [january] }))
      found.push(...page.differences);
    return found;
  };
  expect(await differences()).toEqual([]);
  const table = 'usage_event_42';
  server.query(`insert into ${table} select * replace (seq + 1000000 as seq) from ${table} where event_name =
    (select max(event_name) from ${table}) limit 1`);
  const found = await differences();
  expect(found).toContainEqual({
    environmentId: scope.environmentId,
    meterId,
    externalCustomerId: 'acme',
    ...january,
    answers: ['4 of 4 events', '5 of 5 events'],
  });
  expect(found.filter((difference) => difference.externalCustomerId !== null)).toHaveLength(1);
});
