import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { inSqlTransaction } from '../../../../db/transaction.ts';
import { testApi } from '../../../support/api.ts';
import { newCustomer, newMeter } from '../../../support/metering.ts';

const { call, app, apiKey, database, scope, otherTenant } = await testApi();

type Members = Record<string, unknown>;
const event = (eventName: string, members: Members = {}) => ({
  event_id: randomUUID(),
  event_name: eventName,
  external_customer_id: 'acme',
  timestamp: '2026-01-15T10:30:00Z',
  ...members,
});
const send = async (...events: Members[]) => {
  expect((await call('POST', '/v1/events/bulk', { body: { events } })).status).toBe(202);
};
const rejected = async (query = '') => (await call('GET', `/v1/events/rejected?${query}`)).body.items as Members[];
const switchTo = (enabled: boolean) =>
  call('PUT', '/v1/settings/event_rejection_config', { body: { value: { enabled } } });
const notices = () =>
  inSqlTransaction(database, scope, (tx) =>
    tx.rows<{ payload: Members & { event: Members } }>(
      `select payload from outbox_event where environment_id = $1 and event_name = 'event.rejected' order by position`,
      [scope.environmentId],
    ),
  );

test('nothing is kept or told while the setting is off', async () => {
  await send(event('ignored'));
  expect(await rejected()).toEqual([]);
  expect(await notices()).toEqual([]);
  expect((await call('GET', '/v1/settings/event_rejection_config')).body.value).toEqual({ enabled: false });
});

test('a rejected event is kept with its reason, and told once an hour for its name and reason', async () => {
  expect((await switchTo(true)).status).toBe(200);
  const customerId = await newCustomer(database, scope, 'acme');
  await newMeter(
    database,
    scope,
    { type: 'COUNT' },
    { eventName: 'filtered', filters: [{ key: 'region', values: ['eu'] }] },
  );
  const first = event('unknown', { source: 'test', properties: { n: '1' } });
  const filtered = event('filtered', { properties: { region: 'us' } });
  await send(first, event('unknown'), filtered, event('filtered', { properties: { region: 'eu' } }), first);
  await send(event('unknown'), first);

  expect(await rejected('event_name=unknown')).toHaveLength(3);
  expect(await rejected('reason=no_matching_meter')).toEqual([
    {
      event_id: filtered.event_id,
      event_name: 'filtered',
      external_customer_id: 'acme',
      timestamp: '2026-01-15T10:30:00.000Z',
      rejected_at: expect.any(String),
      reason: 'no_matching_meter',
      problem: null,
    },
  ]);
  const told = (await notices()).map(({ payload }) => payload);
  expect(told).toContainEqual({
    event_type: 'event.rejected',
    reason: 'no_meter_for_event_name',
    event: {
      id: first.event_id,
      event_name: 'unknown',
      customer_id: customerId,
      external_customer_id: 'acme',
      source: 'test',
      properties: { n: '1' },
      timestamp: '2026-01-15T10:30:00.000000Z',
    },
  });
  expect(told.map(({ reason }) => reason).sort()).toEqual(['no_matching_meter', 'no_meter_for_event_name']);

  // An hour later the same is told once more.
  await inSqlTransaction(database, scope, (tx) =>
    tx.rows(`update usage.rejection_notice set noticed_at = noticed_at - interval '61 minutes'`),
  );
  await send(event('unknown'));
  await send(event('unknown'));
  expect(await notices()).toHaveLength(3);
});

test('an archived meter counts as a match only while an open line uses it', async () => {
  const meter = await newMeter(database, scope, { type: 'COUNT' }, { eventName: 'archived' });
  await send(event('archived'));
  expect(await rejected('event_name=archived')).toEqual([]);
  await call('DELETE', `/v1/meters/${meter.id}`);
  await send(event('archived'));
  expect(await rejected('event_name=archived')).toMatchObject([{ reason: 'no_meter_for_event_name' }]);
});

test('concurrent batches tell of a name once', async () => {
  const before = (await notices()).length;
  await Promise.all(
    Array.from({ length: 16 }, () => send(event('storm'), event('storm', { external_customer_id: 'b' }))),
  );
  expect(await rejected('event_name=storm&limit=100')).toHaveLength(32);
  expect(await notices()).toHaveLength(before + 1);
});

test('a number that no column of JSON takes does not fail the batch', async () => {
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
  const payload = `{"event_name":"huge","external_customer_id":"acme","properties":{"n":1e400000,"m":123456789012345678.5}}`;
  expect((await app.inject({ method: 'POST', url: '/v1/events', headers, payload })).statusCode).toBe(202);
  const told = (await notices()).find(({ payload }) => payload.event.event_name === 'huge');
  expect(told?.payload.event.properties).toMatchObject({ n: '1e400000' });
});

test('the listing pages, filters by customer, and shows nothing of another tenant', async () => {
  for (const n of [1, 2, 3]) await send(event('paged', { event_id: `paged-${n}`, external_customer_id: 'pager' }));
  const first = (await call('GET', '/v1/events/rejected?external_customer_id=pager&limit=2')).body;
  const second = (await call('GET', `/v1/events/rejected?external_customer_id=pager&limit=2&after=${first.next}`)).body;
  expect([...first.items, ...second.items].map((each: Members) => each.event_id)).toEqual([
    'paged-3',
    'paged-2',
    'paged-1',
  ]);
  expect([first.has_more, second.has_more, second.next]).toEqual([true, false, '']);
  expect((await call('GET', '/v1/events/rejected?after=x')).status).toBe(400);
  expect((await call('GET', '/v1/events/rejected?reason=other')).status).toBe(400);
  const other = await otherTenant();
  expect((await call('GET', '/v1/events/rejected', { apiKey: other.apiKey })).body.items).toEqual([]);
});

test('switched off, nothing more is kept', async () => {
  expect((await call('DELETE', '/v1/settings/event_rejection_config')).status).toBe(200);
  await send(event('after'));
  expect(await rejected('event_name=after')).toEqual([]);
});
