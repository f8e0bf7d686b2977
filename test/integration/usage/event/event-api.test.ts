import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { testApi } from '../../../support/api.ts';
import { newCustomer, newMeter } from '../../../support/metering.ts';

const { call, app, apiKey, database, scope, otherTenant } = await testApi();

const event = (members: Record<string, unknown> = {}) => ({
  event_name: 'call',
  external_customer_id: 'acme',
  timestamp: '2026-01-15T10:30:00Z',
  ...members,
});
const post = (path: string, body: unknown) => call('POST', `/v1${path}`, { body });

describe('POST /events', () => {
  it('accepts an event of an unknown customer and an unknown name, and answers with strings only', async () => {
    const answer = await post('/events', event({ event_id: 'one', external_customer_id: 'nobody' }));
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({ message: expect.any(String), event_id: 'one' });
  });

  it('makes an id where none or a blank one is sent', async () => {
    const answer = await post('/events', event({ event_id: ' ' }));
    expect(answer.body.event_id).toMatch(/^[0-9a-f-]{36}$/);
    expect((await call('GET', `/v1/events/${answer.body.event_id}`)).status).toBe(200);
  });

  it('counts a retry with the same Idempotency-Key once', async () => {
    const headers = { 'idempotency-key': 'retry-1' };
    const first = await call('POST', '/v1/events', { body: event(), headers });
    const second = await call('POST', '/v1/events', { body: event(), headers });
    expect(second.body).toEqual(first.body);
    const listed = await post('/events/query', { event_id: first.body.event_id, start_time: '2026-01-01T00:00:00Z' });
    expect(listed.body.total_count).toBe(1);
  });

  it.each([
    ['a missing name', { event_name: undefined }, 'event_name is required'],
    ['a blank name', { event_name: '  ' }, 'event_name is required'],
    ['a blank customer', { external_customer_id: '  ' }, 'external_customer_id is required'],
    ['a time without zone', { timestamp: '2026-01-15T10:30:00' }, 'timestamp must be an RFC 3339 time with a zone'],
    ['a date that does not exist', { timestamp: '2026-02-30T10:30:00Z' }, 'timestamp must be an RFC 3339 time'],
    ['an id over 255 characters', { event_id: 'x'.repeat(256) }, 'event_id must be at most 255 characters long'],
    ['properties that are no object', { properties: [1] }, 'properties'],
    ['properties that are a number', { properties: JSON.rawJSON('1e400') }, 'properties'],
  ])('refuses %s', async (_, members, message) => {
    const answer = await post('/events', event(members));
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('validation_error');
    expect(answer.body.message).toContain(message);
  });

  it('keeps every digit of a number it was sent', async () => {
    const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'digits' });
    const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
    const payload = `{"event_name":"digits","external_customer_id":"acme","timestamp":"2026-01-15T00:00:00Z","properties":{"n":123456789012345678.123456789012345}}`;
    expect((await app.inject({ method: 'POST', url: '/v1/events', headers, payload })).statusCode).toBe(202);
    const usage = await app.inject({
      method: 'POST',
      url: '/v1/events/usage/meter',
      headers,
      payload: { meter_id: meter.id, external_customer_id: 'acme', start_time: '2026-01-01T00:00:00Z' },
    });
    expect(usage.body).toContain('"value":123456789012345678.123456789012345');
  });
});

describe('POST /events/bulk', () => {
  it('stores nothing when one element is bad, and names it', async () => {
    const name = randomUUID();
    const answer = await post('/events/bulk', {
      events: [event({ event_name: name }), event({ event_name: name, timestamp: 'soon' })],
    });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain('events[1].timestamp');
    const listed = await post('/events/query', { event_name: name, start_time: '2026-01-01T00:00:00Z' });
    expect(listed.body.total_count).toBe(0);
  });

  it.each([[0], [1001]])('refuses %i events', async (count) => {
    const answer = await post('/events/bulk', { events: Array.from({ length: count }, () => event()) });
    expect(answer.status).toBe(400);
  });

  it('counts what was accepted, and nothing else, for Prometheus', async () => {
    const accepted = async () => {
      const { body } = await app.inject('/metrics');
      return Number(/^perennial_ingested_events_total\{result="accepted"\} (\d+)$/m.exec(body)?.[1]);
    };
    const before = await accepted();
    expect((await post('/events/bulk', { events: [event(), event(), event()] })).status).toBe(202);
    expect((await post('/events', event())).status).toBe(202);
    expect((await post('/events/bulk', { events: [event(), event({ event_name: '' })] })).status).toBe(400);
    expect((await accepted()) - before).toBe(4);
  });

  it('refuses a body over 32 MiB with 400', async () => {
    const properties = { text: 'x'.repeat(33 * 1024 * 1024) };
    expect((await post('/events/bulk', { events: [event({ properties })] })).status).toBe(400);
  });
});

describe('GET /events/{id}', () => {
  it('answers the effective copy, every copy and what counted it', async () => {
    const customerId = await newCustomer(database, scope, 'looked-up');
    const meter = await newMeter(database, scope, { type: 'SUM', field: 'n' }, { eventName: 'looked-up' });
    const sent = event({
      event_id: 'looked-up',
      event_name: 'looked-up',
      external_customer_id: 'looked-up',
      properties: { n: 2 },
    });
    await post('/events', sent);
    await post('/events', { ...sent, properties: { n: 9 } });
    for (const path of ['/v1/events/looked-up', '/v1/events/lookup?id=looked-up']) {
      const { body } = await call('GET', path);
      expect(body.event).toMatchObject({ id: 'looked-up', customer_id: customerId, properties: { n: 2 } });
      expect(body.event).toMatchObject({
        timestamp: '2026-01-15T10:30:00.000Z',
        environment_id: scope.environmentId,
        source: '',
      });
      expect(body.events.map((copy: { properties: unknown; same_payload: boolean }) => copy)).toMatchObject([
        { properties: { n: 9 }, same_payload: false },
        { properties: { n: 2 }, same_payload: true },
      ]);
      expect(body).toMatchObject({ status: 'processed', processed_events: [{ meter_id: meter.id, qty_total: '2' }] });
      expect(body.debug_tracker.failure_point).toEqual({ failure_point_type: 'price_lookup', error: null });
    }
  });

  it('is 404 for an unknown id, also for one of another tenant', async () => {
    await post('/events', event({ event_id: 'private' }));
    const other = await otherTenant();
    const answer = await call('GET', '/v1/events/private', { apiKey: other.apiKey });
    expect(answer.status).toBe(404);
    expect((await call('GET', '/v1/events/lookup')).status).toBe(400);
  });
});

describe('POST /events/query', () => {
  it('walks by cursor without gap or repetition while events arrive', async () => {
    const name = randomUUID();
    const at = (second: number) =>
      event({ event_name: name, event_id: `${name}-${second}`, timestamp: `2026-01-15T00:00:0${second}Z` });
    await post('/events/bulk', { events: [0, 1, 2, 3, 4].map(at) });
    const query = { event_name: name, start_time: '2026-01-01T00:00:00Z', page_size: 2 };
    const first = await post('/events/query', query);
    await post('/events', at(5));
    const second = await post('/events/query', { ...query, iter_last_key: first.body.iter_last_key });
    const third = await post('/events/query', { ...query, iter_last_key: second.body.iter_last_key });
    const newer = await post('/events/query', { ...query, iter_first_key: first.body.iter_first_key });
    const ids = (answer: { body: { events: { id: string }[] } }) =>
      answer.body.events.map(({ id }) => Number(id.at(-1)));
    expect([first, second, third, newer].map(ids)).toEqual([[4, 3], [2, 1], [0], [5]]);
    expect([first, second, third].map(({ body }) => body.has_more)).toEqual([true, true, false]);
    expect(third.body.iter_last_key).toBe('');
    expect(first.body.total_count).toBe(5);
  });

  it('filters by property text and pages by offset', async () => {
    const name = randomUUID();
    const of = (region: unknown) => event({ event_name: name, properties: { region } });
    await post('/events/bulk', { events: [of('us'), of(1), of('eu'), of(null)] });
    const listed = await call(
      'GET',
      `/v1/events?event_name=${name}&start_time=2026-01-01T00:00:00Z&property_filters=region:us,1&page_size=1`,
    );
    expect(listed.body).toMatchObject({ total_count: 2, has_more: true, offset: 1 });
  });

  it.each([
    ['a malformed cursor', { iter_last_key: 'abc' }],
    ['both cursors', { iter_last_key: '1::a', iter_first_key: '1::a' }],
    ['an end before the start', { start_time: '2026-02-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' }],
    ['an unknown sort', { sort: 'id' }],
  ])('refuses %s', async (_, body) => {
    const answer = await post('/events/query', body);
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
  });
});

describe('POST /events/usage', () => {
  it('answers the whole and its windows in the zone asked for', async () => {
    const name = randomUUID();
    const at = (timestamp: string, n: number) => event({ event_name: name, timestamp, properties: { n } });
    await post('/events/bulk', {
      events: [
        at('2026-01-05T18:29:59Z', 1),
        at('2026-01-05T18:30:00Z', 2),
        at('2026-01-06T10:00:00Z', 4),
        at('2026-01-08T00:00:00Z', 8),
      ],
    });
    const answer = await post('/events/usage', {
      event_name: name,
      aggregation_type: 'sum',
      property_name: 'n',
      window_size: 'DAY',
      timezone: 'Asia/Kolkata',
      start_time: '2026-01-05T00:00:00Z',
      end_time: '2026-01-09T00:00:00Z',
    });
    expect(answer.body).toEqual({
      event_name: name,
      type: 'SUM',
      value: 15,
      results: [
        { window_size: '2026-01-04T18:30:00.000Z', value: 1 },
        { window_size: '2026-01-05T18:30:00.000Z', value: 6 },
        { window_size: '2026-01-07T18:30:00.000Z', value: 8 },
      ],
    });
  });

  it('counts when no property is named, and says so', async () => {
    const answer = await post('/events/usage', { event_name: 'none', aggregation_type: 'MAX' });
    expect(answer.body).toEqual({ event_name: 'none', type: 'COUNT', value: 0, results: [] });
  });

  it.each([
    ['no name', { aggregation_type: 'SUM' }],
    ['an unknown type', { event_name: 'e', aggregation_type: 'MEDIAN' }],
    [
      'a multiplier of zero',
      { event_name: 'e', aggregation_type: 'SUM_WITH_MULTIPLIER', property_name: 'n', multiplier: '0' },
    ],
    ['a multiplier elsewhere', { event_name: 'e', aggregation_type: 'SUM', property_name: 'n', multiplier: '2' }],
    ['an unknown window', { event_name: 'e', aggregation_type: 'SUM', window_size: '2HOUR' }],
    ['a bad group key', { event_name: 'e', aggregation_type: 'SUM', group_by: ['properties.a-b'] }],
  ])('refuses %s', async (_, body) => {
    expect((await post('/events/usage', body)).status).toBe(400);
  });

  it('is 404 for an unknown meter', async () => {
    const answer = await post('/events/usage/meter', { meter_id: 'meter_none', external_customer_id: 'c' });
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
  });
});
