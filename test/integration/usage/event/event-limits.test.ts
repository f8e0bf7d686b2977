import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { prepareEvent } from '../../../../metering/event.ts';
import { openPostgresUsageStore } from '../../../../metering/postgres/usage-store.ts';
import { testApi } from '../../../support/api.ts';
import { newMeter, usageOf } from '../../../support/metering.ts';

const { call, database, scope, ownerUrl, otherTenant } = await testApi();
const store = openPostgresUsageStore(database);

type Members = Record<string, unknown>;
const event = (members: Members = {}) => ({
  event_id: randomUUID(),
  event_name: 'call',
  external_customer_id: 'acme',
  timestamp: '2026-01-15T10:30:00Z',
  ...members,
});
const send = (events: Members[]) => call('POST', '/v1/events/bulk', { body: { events } });
const rejected = async (query: string): Promise<Members[]> =>
  (await call('GET', `/v1/events/rejected?limit=1000&${query}`)).body.items;

/** Faults that no door knows of: PostgreSQL refuses the events that say so, with an error of the class they name. */
await asOwner(`
  create function usage.refuse_data() returns trigger language plpgsql as $$
  begin
    raise exception 'refused value %', coalesce(new.event_id, new.key::text) using errcode = new.props ->> 'sqlstate';
  end $$;
  create trigger refuse_data before insert on usage.event for each row
    when (new.props ->> 'sqlstate' is not null) execute function usage.refuse_data()`);

async function asOwner(text: string): Promise<void> {
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  await owner.query(text);
  await owner.end();
}

const bad = (sqlstate = '22003', members: Members = {}) => event({ properties: { n: 1_000, sqlstate }, ...members });

describe('the maxima of an event', () => {
  const long = (length: number) => randomBytes(length).toString('hex').slice(0, length);
  test.each([
    ['event_name', 255],
    ['external_customer_id', 255],
    ['event_id', 255],
    ['source', 255],
  ])('%s has at most %i characters', async (field, most) => {
    expect((await send([event({ [field]: long(most) })])).status).toBe(202);
    const { status, body } = await send([event(), event({ [field]: long(12_000) })]);
    expect([status, body.code]).toEqual([400, 'validation_error']);
    expect(body.message).toBe(`events[1].${field} must be at most ${most} characters long`);
    expect(body.details.fields).toHaveProperty([`events[1].${field}`]);
  });

  test.each<[string, Members, string]>([
    ['name', { [long(256)]: '1' }, 'must have a name of at most 255 characters'],
    ['name further down', { a: [{ [long(256)]: '1' }] }, 'must have a name of at most 255 characters'],
    ['text', { text: long(65_537) }, 'properties.text must be at most 65536 characters long'],
    ['text further down', { a: { b: [long(65_537)] } }, 'properties.a.b.0 must be at most 65536 characters long'],
    [
      'size',
      Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`p${n}`, long(65_000)])),
      'properties must be at most 4194304 characters of JSON in all',
    ],
  ])('a property of another %s is refused', async (_, properties, message) => {
    const { status, body } = await call('POST', '/v1/events', { body: event({ properties }) });
    expect(status).toBe(400);
    expect(body.message).toContain(message);
  });

  test('the longest texts are counted, grouped and told apart', async () => {
    const text = long(65_536);
    const properties = { [long(255)]: '1', user: text, n: 2 };
    const distinct = await newMeter(database, scope, { type: 'COUNT_UNIQUE', field: 'user' }, { eventName: 'longest' });
    const grouped = await newMeter(
      database,
      scope,
      { type: 'MAX', field: 'n', bucket_size: 'DAY', group_by: 'user' },
      { eventName: 'longest' },
    );
    const longest = { event_name: 'longest', event_id: `${long(250)}-id`, source: long(255), properties };
    expect((await send([event(longest), event({ ...longest, event_id: long(255) })])).status).toBe(202);
    expect(await usageOf(database, store, scope, { meterId: distinct.id })).toBe('1');
    expect(await usageOf(database, store, scope, { meterId: grouped.id })).toBe('2');
  });
});

describe('data that only PostgreSQL refuses', () => {
  test('is rejected by itself: its neighbours in the request and in the batch are stored and counted in their order', async () => {
    const eventName = 'neighbours';
    const sum = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName });
    const good = (n: number) => event({ event_name: eventName, properties: { n } });
    const mixed = Array.from({ length: 100 }, (_, n) => good(n));
    const refused = [3, 4, 40, 99].map((place) => {
      const one = bad(place === 40 ? '54000' : '22003', { event_name: eventName, source: 'meter 7' });
      mixed[place] = one as (typeof mixed)[number];
      return one.event_id;
    });
    const [answer, ...others] = await Promise.all([
      send(mixed),
      ...Array.from({ length: 8 }, () => send([good(0.5), good(0.5)])),
    ]);
    expect(answer).toMatchObject({ status: 202 });
    expect(answer.body.message).toBe(
      'Events accepted for processing, except 4 that cannot be stored: see GET /v1/events/rejected?reason=not_storable',
    );
    for (const other of others) expect(other.body).toEqual({ message: 'Events accepted for processing' });
    expect(await usageOf(database, store, scope, { meterId: sum.id })).toBe(String(4_950 - 3 - 4 - 40 - 99 + 8));
    expect((await call('GET', `/v1/events/${mixed[98]?.event_id}`)).status).toBe(200);
    const kept = await rejected(`event_name=${eventName}`);
    expect(new Set(kept.map((each) => each.event_id))).toEqual(new Set(refused));
    expect(kept[0]).toEqual({
      event_id: expect.any(String),
      event_name: eventName,
      external_customer_id: 'acme',
      timestamp: '2026-01-15T10:30:00.000Z',
      rejected_at: expect.any(String),
      reason: 'not_storable',
      problem: `refused value ${kept[0]?.event_id}`,
    });
    expect((await call('GET', `/v1/events/${refused[0]}`)).status).toBe(404);
    expect(await inSqlTransaction(database, scope, (tx) => store.verify(tx, scope))).toEqual([]);
  });

  test('keeps the order of those that are stored: the latest of one instant is the last that was sent', async () => {
    const eventName = 'ordered';
    const latest = await newMeter(database, scope, { type: 'LATEST', field: 'n' }, { eventName });
    const events: Members[] = Array.from({ length: 64 }, (_, n) =>
      event({ event_name: eventName, properties: { n: n === 50 ? 777 : n } }),
    );
    events[20] = bad('22003', { event_name: eventName });
    for (const place of events.keys()) if (place > 50) events[place] = bad('22P02', { event_name: eventName });
    expect((await send(events)).status).toBe(202);
    expect(await usageOf(database, store, scope, { meterId: latest.id })).toBe('777');
  });

  test('is told once an hour and event name, whatever the setting of events that no meter counts says', async () => {
    await send([event(), bad('22003', { event_name: 'told' }), bad('22003', { event_name: 'told' })]);
    await send([event(), bad('22003', { event_name: 'told' })]);
    const notices = await inSqlTransaction(database, scope, (tx) =>
      tx.rows<{ payload: Members }>(
        `select payload from outbox_event where environment_id = $1 and event_name = 'event.rejected'
         and payload -> 'event' ->> 'event_name' = 'told'`,
        [scope.environmentId],
      ),
    );
    expect(notices).toHaveLength(1);
    expect(notices[0]?.payload).toMatchObject({ reason: 'not_storable', problem: expect.stringContaining('refused') });
    expect(await rejected('event_name=told')).toHaveLength(3);
    expect(await rejected('event_name=told&reason=no_matching_meter')).toEqual([]);
    const other = await otherTenant();
    expect((await call('GET', '/v1/events/rejected', { apiKey: other.apiKey })).body.items).toEqual([]);
  });

  test('is 400 where it is all that was sent', async () => {
    const one = bad();
    const answer = await call('POST', '/v1/events', { body: one });
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
    expect(answer.body.message).toBe(`event ${one.event_id} cannot be stored: refused value ${one.event_id}`);
    expect((await send([bad(), bad(), bad()])).status).toBe(400);
  });

  test('is left out of a large load, which keeps the others and says which', async () => {
    const eventName = 'large';
    const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName });
    const events = Array.from({ length: 6_000 }, (_, n) =>
      prepareEvent(
        n % 2_000 === 7
          ? bad('54001', { event_name: eventName })
          : event({ event_name: eventName, properties: { n: 1 } }),
      ),
    );
    let heard: string[] = [];
    const unstorable = await store.load(scope, events, async (_, refused) => {
      heard = refused.map((each) => each.event.id);
    });
    expect(unstorable.map((each) => each.event.id)).toEqual([7, 2_007, 4_007].map((place) => events[place]?.id));
    expect(heard).toEqual(unstorable.map((each) => each.event.id));
    expect(await usageOf(database, store, scope, { meterId: meter.id })).toBe('5997');
    expect(await rejected(`event_name=${eventName}`)).toHaveLength(3);
  });

  test('names and customers that no index takes are kept as far as they can be shown', async () => {
    const huge = randomBytes(12_000).toString('hex');
    const fine = prepareEvent(event());
    const [unstorable] = await store.append(scope, [
      fine,
      { ...fine, id: 'huge', key: randomUUID(), externalCustomerId: huge },
    ]);
    expect(unstorable).toMatchObject({ event: { id: 'huge' }, problem: expect.stringContaining('index row') });
    const [kept] = await rejected('reason=not_storable');
    expect(kept).toMatchObject({ event_id: 'huge', external_customer_id: huge.slice(0, 255) });
    expect((await call('GET', `/v1/events/${fine.id}`)).status).toBe(200);
  });

  test('an object of a foreign shape waits with the reason', async () => {
    const good = { type: 'raw', subject: 'acme', id: randomUUID(), data: { n: 1 } };
    const refused = { type: 'raw', subject: 'acme', id: randomUUID(), data: { sqlstate: '22003' } };
    expect((await call('POST', '/v1/events/raw/bulk', { body: { events: [good, refused] } })).status).toBe(202);
    const rows = await inSqlTransaction(database, scope, (tx) =>
      tx.rows<{ stored: boolean; problem: string | null }>(
        'select key is not null as stored, problem from usage.raw_event order by seq',
      ),
    );
    expect(rows).toEqual([
      { stored: true, problem: null },
      { stored: false, problem: `it cannot be stored: refused value ${refused.id}` },
    ]);
  });

  test('an error that is no fault of the data fails the request, and stores nothing', async () => {
    const [good, broken] = [event(), bad('XX000')];
    expect((await send([good, broken])).status).toBe(500);
    expect((await call('GET', `/v1/events/${good.event_id}`)).status).toBe(404);
  });
});

test('events of a load that no meter counts are kept as rejected ones too', async () => {
  const body = { value: { enabled: true } };
  expect((await call('PUT', '/v1/settings/event_rejection_config', { body })).status).toBe(200);
  const foreign = { type: 'uncounted', subject: 'acme', id: 'uncounted-1' };
  await call('POST', '/v1/events/raw/bulk', { body: { events: [foreign, foreign] } });
  await call('POST', '/v1/events/raw/bulk', { body: { events: [foreign] } });
  expect(await rejected('event_name=uncounted')).toMatchObject([
    { event_id: 'uncounted-1', reason: 'no_meter_for_event_name', problem: null },
  ]);
});
