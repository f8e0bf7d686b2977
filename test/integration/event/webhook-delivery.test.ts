import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createSandbox } from '../../../services/platform/tenant.ts';
import { expectNoGap, expectSigned, receiver, status, until, webhookWorld } from './webhook.fixture.ts';

const world = await webhookWorld();
const { api, emit, endpoint, rows, work } = world;
await work();

const sequencesOf = (received: readonly { sequence: number }[]) => received.map(({ sequence }) => sequence);
const remove = (id: string) => api('DELETE', `/webhooks/endpoints/${id}`);

describe('an event', () => {
  test('is sent signed, with its object and its place in it, as soon as it is committed', async () => {
    const to = await receiver();
    const { id, secret } = await endpoint(to.url, { headers: { Authorization: 'Bearer sealed' } });
    await emit(['signed']);
    await until(() => to.received.length).toBe(1);
    const [event] = to.received;
    expectSigned(event!, secret);
    expect(event?.headers).toMatchObject({
      authorization: 'Bearer sealed',
      'content-type': 'application/json',
      'user-agent': 'Perennial-Webhooks',
      'webhook-id': expect.stringMatching(/^sys_event_/),
      'webhook-object': 'signed',
      'webhook-sequence': '1',
      'webhook-previous': '0',
      'webhook-skipped': '0',
      'webhook-attempt': '1',
      'webhook-occurred-at': '2026-01-31T00:00:00.000Z',
    });
    expect(JSON.parse(event!.body)).toEqual({
      event_type: 'subscription.phase.updated',
      phase: expect.objectContaining({ id: 'signed' }),
    });
    await remove(id);
  });

  test('that is not received is sent again with the same id and bytes, a new signature, and its object waits', async () => {
    let refusals = 2;
    const to = await receiver((_, response) => void response.writeHead(refusals-- > 0 ? 500 : 200).end());
    const { id, secret } = await endpoint(to.url);
    await emit(['waits']);
    await emit(['waits', 'waits']);
    await until(() => to.received.length).toBe(5);
    expect(to.received.map(({ sequence, attempt }) => [sequence, attempt])).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
      [2, 1],
      [3, 1],
    ]);
    expect(new Set(to.received.slice(0, 3).map((each) => `${each.id} ${each.body}`)).size).toBe(1);
    for (const event of to.received) expectSigned(event, secret);
    expectNoGap(to.received);
    await until(() => rows('select from webhook_line where endpoint_id = $1', [id])).toEqual([]);
    await remove(id);
  });

  test('that was tried for the last time is given up, and the next one says so', async () => {
    const to = await receiver(({ sequence }, response) => void response.writeHead(sequence < 3 ? 500 : 200).end());
    const { id } = await endpoint(to.url);
    await emit(['poison', 'poison', 'poison', 'poison']);
    await until(() => sequencesOf(to.received)).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 3, 4]);
    expect(to.received.map(({ previous, skipped }) => [previous, skipped]).slice(-2)).toEqual([
      [2, 2],
      [3, 0],
    ]);
    expectNoGap(to.received.filter(({ sequence }) => sequence > 2));
    await until(() =>
      rows('select sequence, reason from webhook_skip where endpoint_id = $1 order by 1', [id]),
    ).toEqual([
      { sequence: 1, reason: 'failed' },
      { sequence: 2, reason: 'failed' },
    ]);
    await remove(id);
  });

  test('that was tried for the last time holds its object where that is asked for, until it is not', async () => {
    const to = await receiver(({ object }, response) => void response.writeHead(object === 'held' ? 503 : 200).end());
    const { id } = await endpoint(to.url, { on_exhausted: 'hold' });
    await emit(['held', 'held', 'free']);
    const line = () => rows('select attempts, next_at, failure from webhook_line where endpoint_id = $1', [id]);
    await until(line).toEqual([{ attempts: 4, next_at: null, failure: 'answered 503' }]);
    expect(to.received.filter(({ object }) => object === 'free')).toHaveLength(1);
    to.answer(status(200));
    await api('PUT', `/webhooks/endpoints/${id}`, { on_exhausted: 'skip' });
    await until(() => sequencesOf(to.received.filter(({ object }) => object === 'held'))).toEqual([1, 1, 1, 1, 2]);
    expect(to.received.at(-1)).toMatchObject({ previous: 1, skipped: 1 });
    await remove(id);
  });

  test('of 48 hours ago that was never tried is not sent, and the next one says so', async () => {
    const to = await receiver();
    const { id } = await endpoint(to.url, { enabled: false });
    await emit(['stale']);
    await rows(`update outbox_event set created_at = now() - interval '49 hours' where entity_id = 'stale'`);
    await emit(['stale']);
    await api('PUT', `/webhooks/endpoints/${id}`, { enabled: true });
    await until(() => to.received.map(({ sequence, previous, skipped }) => [sequence, previous, skipped])).toEqual([
      [2, 1, 1],
    ]);
    await until(() => rows('select sequence, reason from webhook_skip where endpoint_id = $1', [id])).toEqual([
      { sequence: 1, reason: 'stale' },
    ]);
    await remove(id);
  });
});

describe('an endpoint', () => {
  test('gets the types it asked for, and sees by what came before that it misses none', async () => {
    const to = await receiver();
    const { id } = await endpoint(to.url, {
      event_types: ['subscription.phase.created', 'subscription.phase.deleted'],
    });
    await emit(['typed'], 'subscription.phase.created');
    await emit(['typed'], 'subscription.phase.updated');
    await emit(['typed', 'typed'], 'subscription.phase.deleted');
    await until(() => sequencesOf(to.received)).toEqual([1, 3, 4]);
    expectNoGap(to.received);
    await api('PUT', `/webhooks/endpoints/${id}`, { event_types: ['subscription.phase.updated'] });
    await emit(['typed'], 'subscription.phase.deleted');
    await emit(['typed'], 'subscription.phase.updated');
    await until(() => sequencesOf(to.received)).toEqual([1, 3, 4, 6]);
    expect(to.received.at(-1)).toMatchObject({ previous: 4 });
    await remove(id);
  });

  test('gets every type but event.rejected where it asked for none', async () => {
    const to = await receiver();
    const { id } = await endpoint(to.url);
    await emit(['rejected'], 'event.rejected');
    await emit(['rejected']);
    await until(() => to.received.map(({ sequence, previous }) => [sequence, previous])).toEqual([[2, 0]]);
    await remove(id);
  });

  test('gets what was before it where it starts at the beginning', async () => {
    await emit(['early', 'early']);
    const to = await receiver();
    const { id } = await endpoint(to.url, { start: 'beginning' });
    await until(() => sequencesOf(to.firstOf('early'))).toEqual([1, 2]);
    await remove(id);
  });

  test('goes on where it stopped after it was disabled', async () => {
    const to = await receiver();
    const { id } = await endpoint(to.url);
    await emit(['paused']);
    await until(() => to.received.length).toBe(1);
    await api('PUT', `/webhooks/endpoints/${id}`, { enabled: false });
    await until(() => rows('select owner from webhook_cursor where endpoint_id = $1', [id])).toEqual([{ owner: null }]);
    await emit(['paused', 'paused']);
    expect(to.received).toHaveLength(1);
    await api('PUT', `/webhooks/endpoints/${id}`, { enabled: true });
    await until(() => sequencesOf(to.received)).toEqual([1, 2, 3]);
    expectNoGap(to.received);
    await remove(id);
  });

  test('that moved gets at its new address at once what waited for the old one', async () => {
    const [old, next] = [await receiver(status(500)), await receiver()];
    const { id } = await endpoint(old.url, { on_exhausted: 'hold' });
    await emit(['moved', 'moved']);
    await until(() => rows('select next_at from webhook_line where endpoint_id = $1', [id])).toEqual([
      { next_at: null },
    ]);
    await api('PUT', `/webhooks/endpoints/${id}`, { url: next.url });
    await until(() => next.received.map(({ sequence, attempt }) => [sequence, attempt])).toEqual([
      [1, 1],
      [2, 1],
    ]);
    await remove(id);
  });

  test('that is deleted gets no request that begins after the answer', async () => {
    const to = await receiver();
    const { id } = await endpoint(to.url);
    let isOver = false;
    const flood = (async () => {
      while (!isOver) await emit(Array.from({ length: 20 }, (_, n) => `flood-${n}`));
    })();
    await until(() => to.received.length).toBeGreaterThan(100);
    expect((await remove(id)).status).toBe(204);
    const count = to.received.length;
    for (let round = 0; round < 20; round += 1) await emit(['flood-0']);
    isOver = true;
    await flood;
    expect(to.received.length).toBe(count);
    expect(await rows('select from webhook_line where endpoint_id = $1', [id])).toEqual([]);
  });

  test('of another environment gets none of it', async () => {
    const [to, elsewhere] = [await receiver(), await receiver()];
    const other = await createSandbox(world.base.database, { tenantName: 'Other' });
    const headers = { 'x-api-key': other.apiKey };
    const { body: foreign } = await api('POST', '/webhooks/endpoints', { url: elsewhere.url }, headers);
    const { id } = await endpoint(to.url);
    await emit(['isolated']);
    await until(() => to.received.length).toBe(1);
    await api('POST', '/customers', { external_id: 'theirs', name: 'Theirs' }, headers);
    await until(() => elsewhere.received.map(({ headers: { 'webhook-object': object } }) => object)).toEqual([
      expect.stringMatching(/^cust_/),
    ]);
    expect(to.received).toHaveLength(1);
    await remove(id);
    await api('DELETE', `/webhooks/endpoints/${foreign.id}`, undefined, headers);
  });
});

describe('a receiver', () => {
  test.each([
    ['answers 404', status(404), 'answered 404'],
    [
      'redirects',
      (_: unknown, response: ServerResponse): void => void response.writeHead(302, { location: '/elsewhere' }).end(),
      'answered 302',
    ],
    [
      'closes before it answers',
      (_: unknown, response: ServerResponse): void => void response.destroy(),
      'no connection',
    ],
  ] as const)('that %s has not received the event', async (_, answer, failure) => {
    const to = await receiver(answer);
    const { id } = await endpoint(to.url, { on_exhausted: 'hold' });
    await emit(['not-received']);
    await until(() =>
      rows('select attempts, failure from webhook_line where endpoint_id = $1 and next_at is null', [id]),
    ).toEqual([{ attempts: 4, failure }]);
    expect(to.received).toHaveLength(4);
    await remove(id);
  });

  test.each([
    [
      'closes in the middle of its answer',
      (_: unknown, response: ServerResponse): void => {
        response.writeHead(200, { 'content-length': '10' });
        response.write('ab', () => response.destroy());
      },
    ],
    [
      'answers byte by byte',
      (_: unknown, response: ServerResponse): void => {
        const more = setInterval(() => response.write('a'), 50);
        response.writeHead(200).on('close', () => clearInterval(more));
      },
    ],
    [
      'answers 10 MB',
      (_: unknown, response: ServerResponse): void => void response.writeHead(200).end(Buffer.alloc(10_000_000)),
    ],
  ] as const)('that %s has received it', async (name, answer) => {
    const to = await receiver(answer);
    const { id } = await endpoint(to.url);
    await emit([name]);
    await emit([name]);
    await until(() => sequencesOf(to.received)).toEqual([1, 2]);
    await remove(id);
  });

  test('that hangs for one object holds up no other object and no other receiver', async () => {
    const hanging = await receiver(({ object }, response) => {
      if (object !== 'hangs') response.end();
    });
    const quick = await receiver();
    const [one, other] = [await endpoint(hanging.url), await endpoint(quick.url)];
    await emit(['hangs', 'hangs']);
    const objects = Array.from({ length: 300 }, (_, n) => `beside-${n % 7}`);
    await emit(objects);
    await until(() => hanging.received.length).toBe(301);
    await until(() => quick.received.length).toBe(302);
    expectNoGap(hanging.received);
    expectNoGap(quick.received);
    expect(hanging.firstOf('hangs')).toHaveLength(1);
    await remove(one.id);
    await remove(other.id);
  });
});
