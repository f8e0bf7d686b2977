import { afterAll, describe, expect, test } from 'vitest';
import { scheduleLifecycleWatch } from '../../../activities/check/lifecycle-watch.ts';
import { forgetOldEvents } from '../../../activities/event/outbound-retention.ts';
import { lookNow } from '../../support/lifecycle-watch.ts';
import { expectNoGap, receiver, status, until, webhookWorld } from './webhook.fixture.ts';

const days = 40;
const world = await webhookWorld([50, 50, 50], { outboundEventDays: days });
const { api, base, emit, endpoint, rows, temporal } = world;
let workers = await world.work();
afterAll(() => workers.stop());

const remove = (id: string) => api('DELETE', `/webhooks/endpoints/${id}`);
/** Makes everything written so far older than it is. */
const age = (by = days + 1) => rows(`update outbox_event set created_at = created_at - interval '${by} days'`);
const forget = (withFreed = false) =>
  forgetOldEvents(base.database, { now: new Date().toISOString(), days, withFreed });
/** Sequences of an object's events that are there, those of which the number alone is left as negative numbers. */
const kept = async (object: string) =>
  (
    await rows<{ sequence: number }>(
      `select case when payload is null then -sequence else sequence end as sequence from outbox_event where entity_id = $1 order by abs(sequence)`,
      [object],
    )
  ).map(({ sequence }) => sequence);
const feed = (query = '') => api<FeedAnswer>('GET', `/outbound-events${query}`);
const list = async (query = '') =>
  (await api<{ items: { id: string }[]; pagination: { total: number } }>('GET', `/webhooks/events?${query}`)).body;
const position = async (id: string) =>
  (await rows<{ position: string }>('select position from webhook_cursor where endpoint_id = $1', [id]))[0]?.position;
/** Waits until an endpoint stands behind everything that is committed by now. */
async function settled(id: string): Promise<void> {
  await feed('?after=latest');
  const [end] = await rows<{ position: string }>('select last_position as position from outbox_relay');
  await until(() => position(id)).toBe(end?.position);
}

interface FeedAnswer {
  items: { id: string; entity_id: string; sequence: number; cursor: string }[];
  next: string;
  message: string;
  details: { fields: { after: string }; expired_cursor: { next: string } };
}

describe('events that were kept long enough', () => {
  test('are gone from the feed and the list, and a reader that stands before them is told', async () => {
    const start = (await feed('?after=latest')).body.next;
    await emit(['gone', 'gone', 'other']);
    const [first] = (await feed(`?after=${start}`)).body.items;
    await age();
    expect(await forget()).toBe(3);
    await emit(['gone', 'kept']);
    expect(await forget()).toBe(0);
    expect(await kept('gone')).toEqual([3]);
    expect((await feed()).body.items.map(({ entity_id, sequence }) => `${entity_id} ${sequence}`)).toEqual([
      'gone 3',
      'kept 1',
    ]);
    for (const cursor of [start, first?.cursor]) {
      const { status: code, body } = await feed(`?after=${cursor}`);
      expect([code, body.message]).toEqual([400, `after ${body.details.fields.after}`]);
      expect(body.message).toMatch(/older than the oldest event that is kept/);
      expect((await feed(`?after=${body.details.expired_cursor.next}`)).body.items).toHaveLength(2);
    }
    expect((await list()).pagination.total).toBe(2);
    expect((await list()).items).toHaveLength(2);
    expect((await api('GET', `/webhooks/events/${first?.id}`)).status).toBe(404);
    const retried = await api('POST', '/webhooks/retry', { system_event_id: first?.id });
    expect(retried.status).toBe(404);
  });

  test('are not there for an endpoint that starts at the beginning', async () => {
    const to = await receiver();
    const { id } = await endpoint(to.url, { start: 'beginning' });
    await until(() => to.received.map(({ object, sequence, previous }) => [object, sequence, previous])).toEqual([
      ['gone', 3, 0],
      ['kept', 1, 0],
    ]);
    await remove(id);
  });

  test('go in the order of the feed, so that a newer one holds back what comes behind it', async () => {
    await age();
    await forget();
    await emit(['between']);
    await emit(['behind']);
    await age(days - 1);
    await rows(`update outbox_event set created_at = created_at - interval '2 days' where entity_id = 'behind'`);
    expect(await forget()).toBe(0);
    await age(1);
    expect(await forget()).toBe(2);
  });
});

describe('an endpoint', () => {
  test('sees by the next event of an object that it misses none, whatever it asked for', async () => {
    const [all, few] = [await receiver(), await receiver()];
    const ids = [
      (await endpoint(all.url)).id,
      (await endpoint(few.url, { event_types: ['subscription.phase.created'] })).id,
    ];
    await emit(['seen'], 'subscription.phase.created');
    await emit(['seen', 'seen']);
    for (const id of ids) await settled(id);
    await age();
    expect(await forget()).toBe(3);
    expect(await kept('seen')).toEqual([-1, -3]);
    // A new worker remembers nothing of what was sent.
    await workers.stop();
    workers = await world.work();
    await emit(['seen']);
    await emit(['seen'], 'subscription.phase.created');
    for (const id of ids) await settled(id);
    expect(all.firstOf('seen').map(({ sequence, previous }) => [sequence, previous])).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 3],
      [5, 4],
    ]);
    expect(few.firstOf('seen').map(({ sequence, previous }) => [sequence, previous])).toEqual([
      [1, 0],
      [5, 1],
    ]);
    await age();
    expect(await forget()).toBe(2);
    expect(await kept('seen')).toEqual([-5]);
    for (const id of ids) await remove(id);
  });

  test('that is enabled and far behind has nothing taken away', async () => {
    await workers.stop();
    const to = await receiver();
    await emit(['far', 'far']);
    const { id } = await endpoint(to.url, { start: 'beginning' });
    await age();
    expect(await forget()).toBe(0);
    workers = await world.work();
    await settled(id);
    expectNoGap(to.received);
    expect(to.firstOf('far')).toHaveLength(2);
    expect(await forget()).toBe(2);
    await remove(id);
  });

  test('has the events kept of an object that waits, until it has them', async () => {
    const to = await receiver(({ object }, response) =>
      status(object === 'held' ? 500 : 200)({} as never, response, {} as never),
    );
    const { id } = await endpoint(to.url, { on_exhausted: 'hold' });
    await emit(['held', 'beside', 'held']);
    await settled(id);
    await until(() => rows('select attempts from webhook_line where endpoint_id = $1', [id])).toEqual([
      { attempts: 4 },
    ]);
    await age();
    expect(await forget(true)).toBe(3);
    expect([await kept('held'), await kept('beside')]).toEqual([[1, 2], [-1]]);
    const { items, pagination } = await list();
    expect([items.length, pagination.total]).toEqual([2, 2]);
    expect((await feed()).body.items).toEqual([]);
    expect((await api('POST', '/webhooks/retry', { system_event_id: items[1]?.id })).status).toBe(202);
    to.answer(status(200));
    await api('PUT', `/webhooks/endpoints/${id}`, { on_exhausted: 'skip' });
    await until(() => rows('select from webhook_line where endpoint_id = $1', [id])).toEqual([]);
    await until(() => rows(`select from webhook_replay where endpoint_id = $1 and state = 'running'`, [id])).toEqual(
      [],
    );
    expect(await forget(true)).toBe(2);
    expect(await kept('held')).toEqual([-2]);
    await remove(id);
  });

  test('that is disabled holds nothing up, and is told how much it does not get when it is enabled', async () => {
    const to = await receiver();
    const { id } = await endpoint(to.url);
    await emit(['rested']);
    await settled(id);
    await api('PUT', `/webhooks/endpoints/${id}`, { enabled: false });
    await until(() => rows('select owner from webhook_cursor where endpoint_id = $1', [id])).toEqual([{ owner: null }]);
    await emit(['rested', 'rested', 'once']);
    await age();
    await emit(['rested']);
    expect(await forget()).toBeGreaterThan(0);
    expect(await forget()).toBe(0);
    expect([await kept('rested'), await kept('once')]).toEqual([[-3, 4], [-1]]);
    expect(
      await rows('select entity_id, sequence, reason from webhook_skip where endpoint_id = $1 order by 1', [id]),
    ).toEqual([
      { entity_id: 'once', sequence: 1, reason: 'stale' },
      { entity_id: 'rested', sequence: 3, reason: 'stale' },
    ]);
    await api('PUT', `/webhooks/endpoints/${id}`, { enabled: true });
    await emit(['once']);
    await settled(id);
    expect(to.received.map(({ object, sequence, previous, skipped }) => [object, sequence, previous, skipped])).toEqual(
      [
        ['rested', 1, 0, 0],
        ['rested', 4, 3, 2],
        ['once', 2, 1, 1],
      ],
    );
    await remove(id);
  });
});

// The schedule looks by itself from here on.
test('events that were kept long enough are forgotten by the look that all workers share', async () => {
  await emit(['looked', 'looked']);
  await age();
  await scheduleLifecycleWatch(temporal.client);
  await lookNow(temporal.client);
  expect(await kept('looked')).toEqual([]);
});
