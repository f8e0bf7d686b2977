import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Agent, EventSource } from 'undici';
import { afterAll, expect, test } from 'vitest';
import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { accountWithRoles } from '../../support/account.ts';
import { testApi } from '../../support/api.ts';
import { emitter, openStream, placeOf } from './event-stream.fixture.ts';

const base = await testApi({ eventStreams: { silenceMs: 50, checkMs: 100, mostUnchecked: 300 } });
const { app, apiKey, call, database, scope } = base;
const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1/outbound-events/stream`;

const open = (query = '', headers: Record<string, string> = {}) =>
  openStream(`${url}${query}`, { 'x-api-key': apiKey, ...headers });

const emit = emitter(base);

test('events come in the order of the feed, with its cursor, type and bytes', async () => {
  const reader = await open();
  expect(reader.response.headers.get('content-type')).toBe('text/event-stream');
  expect(reader.response.headers.get('cache-control')).toBe('no-store');
  expect(reader.response.headers.get('x-request-id')).toBeTruthy();
  await emit(['a', 'b', 'a'], 'subscription.phase.updated', 'Grüße\nan \u2028 alle');
  await emit(['b'], 'subscription.phase.deleted');
  const events = await reader.events(4);
  expect(events.map(placeOf)).toEqual(['a 1', 'b 1', 'a 2', 'b 2']);
  expect(events.map(({ event }) => event)).toEqual([
    ...Array(3).fill('subscription.phase.updated'),
    'subscription.phase.deleted',
  ]);
  const feed = await app.inject({ url: `/v1/outbound-events?after=${reader.start}`, headers: { 'x-api-key': apiKey } });
  expect(`{"items":[${events.map(({ data }) => data).join(',')}],`).toBe(
    feed.body.slice(0, feed.body.indexOf('"next"')),
  );
  const { items } = feed.json<{ items: { cursor: string }[] }>();
  expect(events.map(({ id }) => id)).toEqual(items.map(({ cursor }) => cursor));
  reader.close();
});

test('a reader goes on behind the last id it was sent, with no event missing and none twice', async () => {
  const first = await open();
  const ids = Array.from({ length: 250 }, (_, index) => `many-${index}`);
  await emit(ids);
  const seen = await first.events(120);
  first.close();
  const second = await open('?cursor=latest', { 'last-event-id': seen.at(-1)?.id ?? '' });
  const later = second.events(131);
  await emit(['after']);
  expect([...seen, ...(await later)].map(placeOf)).toEqual([...ids, 'after'].map((id) => `${id} 1`));
  second.close();
  const third = await open(`?cursor=${first.start}`);
  expect((await third.events(251)).map(placeOf)).toEqual([...ids, 'after'].map((id) => `${id} 1`));
  third.close();
});

test('the whole feed is read from its beginning, and a position before the first event that was sent goes on too', async () => {
  const quiet = await open();
  quiet.close();
  await emit(['behind']);
  const again = await open('', { 'last-event-id': quiet.start });
  expect(placeOf(await again.event())).toBe('behind 1');
  again.close();
  const whole = await open('?cursor=beginning');
  const { body } = await call('GET', '/v1/outbound-events?limit=1000');
  const ids = (await whole.events(body.items.length)).map(({ id }) => id);
  expect(ids).toEqual(body.items.map(({ cursor }: { cursor: string }) => cursor));
  whole.close();
});

test('only the types that were asked for are sent, and the position moves on over the others', async () => {
  const reader = await open('?types=subscription.phase.deleted,subscription.phase.created');
  await emit(['typed'], 'subscription.phase.created');
  await emit(['typed']);
  await emit(['typed'], 'subscription.phase.deleted');
  expect((await reader.events(2)).map(placeOf)).toEqual(['typed 1', 'typed 3']);
  await emit(['typed']);
  let passed = await reader.block();
  while (passed?.id === undefined) passed = await reader.block();
  expect(passed).toEqual({
    comment: 'nothing new',
    id: (await call('GET', '/v1/outbound-events?after=latest')).body.next,
  });
  reader.close();
});

test('a comment keeps a quiet connection', async () => {
  const reader = await open();
  expect(await reader.block()).toEqual({ comment: 'nothing new' });
  reader.close();
});

test('a client of another hand reads it', async () => {
  const dispatcher = new Agent().compose((dispatch) => (options, handler) => {
    const headers = { ...(options.headers as Record<string, string>), 'x-api-key': apiKey };
    return dispatch({ ...options, headers }, handler);
  });
  const source = new EventSource(url, { node: { dispatcher } } as never);
  const seen: string[] = [];
  source.addEventListener('subscription.phase.updated', (message) =>
    seen.push(placeOf(message as unknown as { data: string })),
  );
  await once(source as never, 'open');
  await emit(['source']);
  await expect.poll(() => seen, { timeout: 30_000 }).toEqual(['source 1']);
  source.close();
});

test.each([
  ['a text that is no cursor', 'nonsense'],
  ['a place that the feed has not reached', Buffer.from('2.999999999999').toString('base64url')],
  ['a text that is too long', 'x'.repeat(5_000)],
])('%s is told by the event reset, and the stream goes on with what comes then', async (_, cursor) => {
  for (const ask of [() => open('', { 'last-event-id': cursor }), () => open(`?cursor=${cursor}`)]) {
    const reader = await ask();
    const reset = reader.head.find(({ event }) => event === 'reset');
    expect(JSON.parse(reset?.data ?? '')).toEqual({ reason: 'unknown_cursor', cursor: reader.start });
    expect(reset?.id).toBe(reader.start);
    const id = `reset-${reader.start}`;
    await emit([id]);
    expect(placeOf(await reader.event())).toBe(`${id} 1`);
    reader.close();
  }
});

test('bad parameters are refused with the field and what it takes', async () => {
  const answer = async (query: string) => {
    const { status, body } = await call('GET', `/v1/outbound-events/stream${query}`);
    return [status, body.code, body.message];
  };
  expect(await answer('?types=customer.updated,customer.update')).toEqual([
    400,
    'validation_error',
    'types must be types of events separated by commas, such as invoice.update.finalized; "customer.update" is none',
  ]);
  expect((await answer('?types='))[0]).toBe(400);
  expect((await answer('?cursor='))[0]).toBe(400);
  expect((await answer('?type=customer.updated'))[2]).toContain('types');
  expect(
    (await app.inject({ method: 'HEAD', url: '/v1/outbound-events/stream', headers: { 'x-api-key': apiKey } }))
      .statusCode,
  ).toBe(404);
});

test('who may not read webhooks gets no stream, and another tenant none of these events', async () => {
  const ingestor = await accountWithRoles(database, scope, ['event_ingestor'], 'service_account');
  expect((await call('GET', '/v1/outbound-events/stream', { apiKey: ingestor.apiKey })).status).toBe(403);
  expect((await call('GET', '/v1/outbound-events/stream', { apiKey: 'sk_unknown' })).status).toBe(401);
  const other = await base.otherTenant();
  const theirs = await openStream(`${url}?cursor=beginning&environment_id=${scope.environmentId}`, {
    'x-api-key': other.apiKey,
  });
  const mine = await open();
  await emit(['mine']);
  await mine.event();
  const made = await call('POST', '/v1/customers', {
    apiKey: other.apiKey,
    body: { external_id: 'theirs', name: 'T' },
  });
  expect(JSON.parse((await theirs.event()).data)).toMatchObject({ entity_id: made.body.id });
  mine.close();
  theirs.close();
});

const asSystem = (text: string, values: unknown[]) =>
  inSqlTransaction(database, systemScope, (tx) => tx.rows(text, values));

test.each([
  ['key is deleted', `update api_key set status = 'archived' where id = $1`, 'keyId'],
  ['key has expired', `update api_key set expires_at = now() where id = $1`, 'keyId'],
  ['roles are taken away', `update api_key set roles = '{event_reader}' where id = $1`, 'keyId'],
  ['account is archived', `update user_account set status = 'archived' where id = $1`, 'userId'],
] as const)('a stream ends when its %s, and others go on', async (_, text, whose) => {
  const account = await accountWithRoles(database, scope, ['all_reader']);
  const theirs = await openStream(url, { 'x-api-key': account.apiKey });
  const mine = await open();
  await asSystem(text, [account[whose]]);
  const left = await theirs.rest();
  expect(left.at(-1)).toEqual({ comment: 'the key may not read this any more' });
  await emit(['kept']);
  expect(placeOf(await mine.event())).toContain('kept');
  mine.close();
});

test('a stream ends when its tenant is archived', async () => {
  const other = await base.otherTenant();
  const theirs = await openStream(url, { 'x-api-key': other.apiKey });
  await asSystem(`update tenant set status = 'archived' where id = $1`, [other.tenantId]);
  expect((await theirs.rest()).at(-1)).toEqual({ comment: 'the key may not read this any more' });
});

test('a reader that takes nothing is cut off, goes on by its last id, and holds up nobody', async () => {
  const quick = await open();
  const connected = once(app.server, 'connection') as Promise<[Socket]>;
  const slow = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: { 'x-api-key': apiKey } }, resolve).once('error', reject);
  });
  const [serverSide] = await connected;
  slow.pause();
  const isCut = once(serverSide, 'close');
  // More than the buffers of a connection hold.
  const ids = Array.from({ length: 400 }, (_, index) => `heavy-${index}`);
  await emit(ids, 'subscription.phase.updated', 'x'.repeat(50_000));
  expect((await quick.events(400)).map(placeOf)).toEqual(ids.map((id) => `${id} 1`));
  await isCut;
  let text = '';
  const isRead = new Promise((resolve) => slow.once('close', resolve));
  slow.on('error', () => {}).setEncoding('utf8');
  slow.on('data', (chunk: string) => (text += chunk));
  slow.resume();
  await isRead;
  const whole = text
    .slice(0, text.lastIndexOf('\n\n'))
    .split('\n\n')
    .filter((block) => block.includes('data:'));
  expect(whole.length).toBeLessThan(400);
  const last = /^id: (.*)$/m.exec(whole.at(-1) ?? '')?.[1] ?? quick.start;
  const again = await open('', { 'last-event-id': last });
  expect((await again.events(400 - whole.length)).map(placeOf)).toEqual(ids.slice(whole.length).map((id) => `${id} 1`));
  quick.close();
  again.close();
});

afterAll(() => app.server.closeAllConnections());
