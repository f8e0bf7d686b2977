import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { openPostgresUsageStore } from '../../../../metering/postgres/usage-store.ts';
import { testApi } from '../../../support/api.ts';
import { newMeter, usageOf } from '../../../support/metering.ts';

const { call, app, apiKey, database, scope, ownerUrl } = await testApi();
const store = openPostgresUsageStore(database);

const event = (members: Record<string, unknown> = {}) => ({
  event_name: 'call',
  external_customer_id: 'acme',
  timestamp: '2026-01-15T10:30:00Z',
  ...members,
});
/** Sends text as it is, which `JSON.stringify` might not write. */
const postText = (payload: string) =>
  app.inject({
    method: 'POST',
    url: '/v1/events',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    payload,
  });
const verify = () => inSqlTransaction(database, scope, (tx) => store.verify(tx, scope));

describe('bad input', () => {
  test('numbers beyond every size and texts that are none are stored and count as zero', async () => {
    const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'numbers' });
    const values = [
      '1e400',
      '"1e400"',
      '"NaN"',
      '"-Infinity"',
      '1e999999',
      '-1e31',
      'true',
      'null',
      '{}',
      '"1,5"',
      '4',
    ];
    for (const n of values) {
      const answer = await postText(
        `{"event_name":"numbers","external_customer_id":"acme","timestamp":"2026-01-15T00:00:00Z","properties":{"n":${n}}}`,
      );
      expect(answer.statusCode, n).toBe(202);
    }
    expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('4');
    expect(
      (await postText(`{"event_name":"numbers","external_customer_id":"acme","properties":{"n":NaN}}`)).statusCode,
    ).toBe(400);
  });

  test.each([
    ['9999-12-31T23:59:59.999999Z', 202],
    ['0001-01-01T00:00:00Z', 202],
    ['9999-12-31T23:59:59-01:00', 400],
    ['+10000-01-01T00:00:00Z', 400],
    ['0000-01-01T00:00:00Z', 400],
    ['2026-01-15T10:30:00', 400],
    ['2026-01-15', 400],
    ['1768473000', 400],
  ])('a time %s is answered %i', async (timestamp, status) => {
    expect((await call('POST', '/v1/events', { body: event({ timestamp }) })).status).toBe(status);
  });

  test('property bombs are refused, or stored whole', async () => {
    const deep = (levels: number) =>
      `{"event_name":"bomb","external_customer_id":"acme","properties":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;
    expect((await postText(deep(62))).statusCode).toBe(202);
    expect((await postText(deep(64))).statusCode).toBe(400);
    expect((await postText(deep(100_000))).statusCode).toBe(400);
    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`key-${n}`, 'x'.repeat(50)]));
    const id = randomUUID();
    expect((await call('POST', '/v1/events', { body: event({ event_id: id, properties: wide }) })).status).toBe(202);
    const { body } = await call('GET', `/v1/events/${id}`);
    expect(Object.keys(body.event.properties)).toHaveLength(20_000);
    const poison = `{"event_name":"bomb","external_customer_id":"acme","properties":{"__proto__":{"n":1}}}`;
    expect((await postText(poison)).statusCode).toBe(400);
    const half = `{"event_name":"bomb","external_customer_id":"acme","properties":{"a":"\\ud800"}}`;
    expect((await postText(half)).statusCode).toBe(400);
  });

  test('an id of 5 000 characters is refused', async () => {
    const answer = await call('POST', '/v1/events', { body: event({ event_id: 'x'.repeat(5_000) }) });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect((await call('GET', `/v1/events/${'x'.repeat(5_000)}`)).status).toBeGreaterThanOrEqual(400);
  });

  test('SQL in names, ids and properties is text', async () => {
    const sql = `'; drop table usage.event; -- " $1 \\`;
    const meter = await newMeter(
      database,
      scope,
      { type: 'SUM', field: sql },
      { eventName: sql, filters: [{ key: sql + sql, values: [sql] }] },
    );
    const sent = event({
      event_id: sql,
      event_name: sql,
      external_customer_id: sql,
      source: sql,
      properties: { [sql]: '3', [sql + sql]: sql },
    });
    expect((await call('POST', '/v1/events', { body: sent })).status).toBe(202);
    const question = { meterId: meter.id, externalCustomerIds: [sql] };
    expect(await usageOf(database, store, scope, question)).toBe('3');
    expect(await usageOf(database, store, scope, { ...question, filters: { [sql]: ['3'] } })).toBe('3');
    const query = { external_customer_id: sql, source: sql, event_id: sql, property_filters: { [sql + sql]: [sql] } };
    const listed = await call('POST', '/v1/events/query', { body: { ...query, start_time: '2026-01-01T00:00:00Z' } });
    expect(listed.body.total_count).toBe(1);
    expect((await call('GET', `/v1/events/${encodeURIComponent(sql)}`)).body.event.id).toBe(sql);
  });

  test('a filter on a property that is missing leaves the event out', async () => {
    const filters = [{ key: 'absent', values: [''] }];
    const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'filter', filters });
    await call('POST', '/v1/events', { body: event({ event_name: 'filter', properties: { absent: null } }) });
    expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('0');
  });
});

describe('faults', () => {
  test('a storm of duplicates from 32 connections counts each event once', async () => {
    const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'storm' });
    const events = Array.from({ length: 200 }, (_, n) =>
      event({ event_id: `storm-${n}`, event_name: 'storm', properties: { n: 1 } }),
    );
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, turn) =>
        call('POST', '/v1/events/bulk', { body: { events: [...events.slice(turn), ...events.slice(0, turn)] } }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('200');
    expect(await verify()).toEqual([]);
  });

  test('what was acknowledged while the database ended its connections is stored exactly once', async () => {
    const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'killed' });
    const owner = new pg.Client({ connectionString: ownerUrl });
    await owner.connect();
    const batches = Array.from({ length: 24 }, (_, batch) =>
      Array.from({ length: 100 }, (_, n) => event({ event_id: `killed-${batch}-${n}`, event_name: 'killed' })),
    );
    try {
      const deliver = async (events: object[]) => {
        for (;;) {
          const { status } = await call('POST', '/v1/events/bulk', { body: { events } });
          if (status === 202) return;
          expect(status).toBe(503);
        }
      };
      const delivering = Promise.all(batches.map(deliver));
      for (let kill = 0; kill < 5; kill += 1) {
        await owner.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and query like '%usage.event_key%'`,
        );
      }
      await delivering;
    } finally {
      await owner.end();
    }
    expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('2400');
    expect(await verify()).toEqual([]);
  });
});
