import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { forgetOldEvents } from '../../../activities/event/outbound-retention.ts';
import { buildApp } from '../../../api/app.ts';
import { createEventChannels } from '../../../api/event/event-channel.ts';
import { frameOf } from '../../../api/event/event-stream.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { readOutboundEvents } from '../../../services/event/outbound-event.ts';
import { createOutboxListener } from '../../../services/event/outbox-listener.ts';
import { accountWithRoles } from '../../support/account.ts';
import { testApi } from '../../support/api.ts';
import { emitter, openStream, placeOf } from './event-stream.fixture.ts';

const base = await testApi({ eventStreams: { mostReaders: 5, mostOfKey: 3 } });
const { app, apiKey, call, database, scope } = base;
const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1/outbound-events/stream`;
const emit = emitter(base);
const open = (key = apiKey, headers: Record<string, string> = {}) => openStream(url, { 'x-api-key': key, ...headers });

afterAll(() => app.server.closeAllConnections());

async function refusal(key: string) {
  const response = await fetch(url, { headers: { 'x-api-key': key } });
  const { code, message } = (await response.json()) as { code: string; message: string };
  return { status: response.status, code, message, retryAfter: response.headers.get('retry-after') };
}

test('so many streams are open with a key and in a process, and others wait their turn', async () => {
  const second = await accountWithRoles(database, scope, ['all_reader']);
  const third = await accountWithRoles(database, scope, ['all_reader']);
  const readers = [await open(), await open(), await open()];
  expect(await refusal(apiKey)).toEqual({
    status: 429,
    code: 'too_many_requests',
    message: '3 streams are open with this key already; close one, or read with another key.',
    retryAfter: '5',
  });
  readers.push(await open(second.apiKey), await open(second.apiKey));
  expect(await refusal(third.apiKey)).toEqual({
    status: 503,
    code: 'service_unavailable',
    message: '5 streams are open here already; try again.',
    retryAfter: '5',
  });
  // Long polling has places of its own.
  const after = (await call('GET', '/v1/outbound-events?after=latest')).body.next;
  const polled = call('GET', `/v1/outbound-events?wait=30&after=${after}`);
  await emit(['limit']);
  expect((await polled).body.items).toHaveLength(1);
  for (const reader of readers) expect(placeOf(await reader.event())).toBe('limit 1');
  readers[0]?.close();
  await expect.poll(() => fetchStatus(third.apiKey), { timeout: 30_000 }).toBe(200);
  for (const reader of readers) reader.close();
});

/** Status of an attempt to open a stream, which is closed at once. */
async function fetchStatus(key: string): Promise<number> {
  const gone = new AbortController();
  const { status } = await fetch(url, { headers: { 'x-api-key': key }, signal: gone.signal });
  gone.abort();
  return status;
}

test('a reader that asks wrongly or goes at once keeps no place', async () => {
  const account = await accountWithRoles(database, scope, ['all_reader']);
  for (let count = 0; count < 10; count += 1) {
    expect((await call('GET', '/v1/outbound-events/stream?types=x', { apiKey: account.apiKey })).status).toBe(400);
    await expect.poll(() => fetchStatus(account.apiKey), { timeout: 30_000 }).toBe(200);
  }
});

test('an event is read once for all readers of an environment that stand at one place', async () => {
  let reads = 0;
  const { channels, close } = channelsOf(() => {
    reads += 1;
  });
  const { next } = await inSqlTransaction(database, scope, (tx) =>
    readOutboundEvents(tx, { after: 'latest', limit: 1 }),
  );
  const readers = Array.from({ length: 500 }, () => channels.join(scope));
  const awaited = readers.map((reader) => reader.next(next).page);
  await emit(['shared']);
  const pages = new Set(await Promise.all(awaited));
  expect(pages.size).toBe(1);
  // A read that found nothing, a read that found the event, and perhaps a few by the clock of a busy machine.
  expect(reads).toBeLessThan(20);
  const before = reads;
  expect(await channels.join(scope).next(next).page).toBe([...pages][0]);
  expect(reads).toBe(before);
  for (const reader of readers) reader.leave();
  await close();
});

/** Channels as the API has them, without its bytes. */
function channelsOf(onRead: () => void = () => {}) {
  const listener = createOutboxListener(database);
  const channels = createEventChannels({
    listener,
    async read(as, after) {
      onRead();
      const page = await inSqlTransaction(database, as, (tx) => readOutboundEvents(tx, { after, limit: 100 }));
      const frames = page.events.map(({ cursor, eventName, id }) => frameOf({ cursor, type: eventName, data: id }));
      return { frames, next: page.next, hasMore: page.hasMore };
    },
    warn: (error) => expect.unreachable(String(error)),
  });
  const close = async () => {
    channels.close();
    await listener.close();
  };
  return { channels, close };
}

test('a position whose next event is not kept any more is told by the event reset', async () => {
  const early = await open();
  await emit(['old', 'old', 'kept']);
  const [first, second] = await early.events(3);
  early.close();
  await inSqlTransaction(database, scope, async (tx) => {
    const before = `where entity_id <> 'old' and entity_id <> 'kept' or entity_id = 'old' and sequence = 1`;
    await tx.rows(`update outbox_event set created_at = created_at - interval '41 days' ${before}`);
  });
  await forgetOldEvents(database, { now: new Date().toISOString(), days: 40, withFreed: true });
  const lost = await open(apiKey, { 'last-event-id': early.start });
  expect(JSON.parse(lost.head.find(({ event }) => event === 'reset')?.data ?? '')).toEqual({
    reason: 'expired_cursor',
    cursor: lost.start,
  });
  lost.close();
  const whole = await open(apiKey, { 'last-event-id': first?.id ?? '' });
  expect(whole.head.some(({ event }) => event === 'reset')).toBe(false);
  expect((await whole.event()).id).toBe(second?.id);
  whole.close();
  const all = await open(apiKey, { 'last-event-id': 'beginning' });
  expect((await all.event()).id).toBe(second?.id);
  all.close();
  // A reader whose position is forgotten while it reads waits for nothing.
  const { channels, close } = channelsOf();
  expect(await channels.join(scope).next(early.start).page).toBeNull();
  await close();
});

test('a reader goes on after a restart of the API, with no event missing and none twice', async () => {
  const config = { ...app.dependencies, eventStreams: {} };
  const start = async (port: number) => {
    const server = await buildApp(config);
    await server.listen({ host: '127.0.0.1', port });
    return server;
  };
  const old = await start(0);
  const { port } = old.server.address() as AddressInfo;
  const address = `http://127.0.0.1:${port}/v1/outbound-events/stream`;
  const before = await openStream(address, { 'x-api-key': apiKey });
  await emit(['restart']);
  const last = await before.event();
  const left = before.rest();
  // The reading ends by itself, though a reader is there.
  await old.close();
  expect((await left).at(-1)).toEqual({ comment: 'the server ends' });
  await emit(['restart']);
  const anew = await start(port);
  const after = await openStream(address, { 'x-api-key': apiKey, 'last-event-id': last.id });
  await emit(['restart']);
  expect((await after.events(2)).map(placeOf)).toEqual(['restart 2', 'restart 3']);
  after.close();
  await anew.close();
});

test('a reader gets events after the connection that heard of them was lost', async () => {
  const reader = await open();
  await emit(['heard']);
  await reader.event();
  const owner = new pg.Client({ connectionString: base.ownerUrl });
  await owner.connect();
  const ended = await owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen %'`,
  );
  await owner.end();
  expect(ended.rowCount).toBeGreaterThan(0);
  await emit(['heard', 'heard']);
  expect((await reader.events(2)).map(placeOf)).toEqual(['heard 2', 'heard 3']);
  reader.close();
});

test('streams end when the database does not say whether their key may still read', async () => {
  const server = await buildApp({ ...app.dependencies, eventStreams: { checkMs: 50, mostUnchecked: 20 } });
  onTestFinished(() => server.close());
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  const reader = await openStream(`${address}/v1/outbound-events/stream`, { 'x-api-key': apiKey });
  const owner = new pg.Client({ connectionString: base.ownerUrl });
  await owner.connect();
  await owner.query('begin');
  await owner.query('lock table api_key in access exclusive mode');
  expect((await reader.rest()).at(-1)).toEqual({ comment: 'the right to read could not be checked' });
  await owner.end();
});

test('the time a request may take to arrive does not cut a stream', async () => {
  const { config, ...others } = app.dependencies;
  const server = await buildApp({
    ...others,
    config: { ...config, requestTimeoutMs: 100 },
    eventStreams: { checkMs: 50, silenceMs: 50, mostUnchecked: 600 },
  });
  onTestFinished(() => server.close());
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  const reader = await openStream(`${address}/v1/outbound-events/stream`, { 'x-api-key': apiKey });
  // The server looks at its connections once a second.
  for (let comments = 0; comments < 50; comments += 1) expect(await reader.block()).toEqual({ comment: 'nothing new' });
  await emit(['patient']);
  expect(placeOf(await reader.event())).toBe('patient 1');
  reader.close();
});
