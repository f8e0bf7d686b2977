import pg from 'pg';
import { expect, test } from 'vitest';
import { createOutboundEventFeed } from '../../../api/event/outbound-event-feed.ts';
import type { Scope } from '../../../db/scope.ts';
import { inSqlTransaction, type SqlTransaction } from '../../../db/transaction.ts';
import { type FeedEvent, readOutboundEvents } from '../../../services/event/outbound-event.ts';
import { writeEvents } from '../../../services/platform/outbox.ts';
import { testApi } from '../../support/api.ts';
import { toldPhase } from '../../support/told-event.ts';

const base = await testApi();
const { database, scope, call } = base;

async function emit(...entityIds: string[]): Promise<void> {
  await inSqlTransaction(database, scope, (tx) =>
    writeEvents(
      tx,
      scope,
      entityIds.map((id) => toldPhase(id)),
    ),
  );
}
const read = (after: string | null, limit = 1000, as: Scope = scope) =>
  inSqlTransaction(database, as, (tx) => readOutboundEvents(tx, { after, limit }));
const latest = async () => (await read('latest')).next;
const never = new AbortController().signal;

/** A transaction that stays open until told otherwise. */
async function openTransaction(work: (tx: SqlTransaction) => Promise<void>) {
  const working = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<'commit' | 'rollback'>();
  const done = inSqlTransaction(database, scope, async (tx) => {
    await work(tx);
    working.resolve();
    if ((await ending.promise) === 'rollback') throw new Error('rolled back');
  });
  done.catch(working.reject);
  await working.promise;
  const end = async (how: 'commit' | 'rollback') => {
    ending.resolve(how);
    await done.catch((error: Error) => expect(error.message).toBe('rolled back'));
  };
  return { commit: () => end('commit'), rollback: () => end('rollback') };
}

/** Reads on from `after` until nothing more comes. */
async function readAll(after: string, limit: number): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  for (let page = await read(after, limit); page.events.length > 0; page = await read(page.next, limit)) {
    events.push(...page.events);
  }
  return events;
}

test('events come in order, page by page, and from any position', async () => {
  const start = await latest();
  await emit('a', 'b', 'a');
  await emit('b');
  const answer = await call('GET', `/v1/outbound-events?after=${start}&limit=3`);
  expect(answer.status).toBe(200);
  expect(
    answer.body.items.map((item: { entity_id: string; sequence: number }) => [item.entity_id, item.sequence]),
  ).toEqual([
    ['a', 1],
    ['b', 1],
    ['a', 2],
  ]);
  expect(answer.body.has_more).toBe(true);
  expect(answer.body.items[0]).toEqual({
    id: expect.stringMatching(/^sys_event_/),
    cursor: expect.any(String),
    event_type: 'subscription.phase.updated',
    entity_type: 'phase',
    entity_id: 'a',
    sequence: 1,
    occurred_at: '2026-01-31T00:00:00.000Z',
    created_at: expect.stringMatching(/Z$/),
    payload: { event_type: 'subscription.phase.updated', phase: expect.objectContaining({ id: 'a' }) },
  });
  const rest = await call('GET', `/v1/outbound-events?after=${answer.body.next}`);
  expect(rest.body.items.map((item: { entity_id: string }) => item.entity_id)).toEqual(['b']);
  expect(rest.body.has_more).toBe(false);
  const again = await call('GET', `/v1/outbound-events?after=${answer.body.items[0].cursor}`);
  expect(again.body.items.length).toBe(3);
  const first = await call('GET', '/v1/outbound-events?limit=1');
  expect(first.body.items.length).toBe(1);
});

test('a cursor that is not of this feed, a wrong limit and a wrong wait are refused', async () => {
  for (const query of [
    'after=17',
    'after=MS4xLjE5OTk5OTk5OTk5OTk5OTk5OTk5',
    'limit=0',
    'limit=1001',
    'wait=31',
    'wait=-1',
    'wait=x',
  ]) {
    const { status, body } = await call('GET', `/v1/outbound-events?${query}`);
    expect([query, status, body.code]).toEqual([query, 400, 'validation_error']);
  }
});

test('another tenant reads nothing of it', async () => {
  const other = await base.otherTenant();
  const { body } = await call('GET', '/v1/outbound-events', { apiKey: other.apiKey });
  expect(body.items.some((item: { entity_id: string }) => item.entity_id === 'a')).toBe(false);
});

test('an event is read as soon as it is committed, whatever else is running, and none is skipped', async () => {
  const start = await latest();
  const slow = await openTransaction((tx) => writeEvents(tx, scope, [toldPhase('slow')]));
  await emit('quick');
  const page = await read(start);
  expect(page.events.map((one) => one.entityId)).toEqual(['quick']);
  await slow.commit();
  expect((await read(page.next)).events.map((one) => one.entityId)).toEqual(['slow']);
  expect((await read(start)).events.map((one) => one.entityId)).toEqual(['quick', 'slow']);
});

test("an object's earlier event is never read after its later one, whose transaction began first", async () => {
  const start = await latest();
  const holder = await openTransaction((tx) => tx.rows('select pg_current_xact_id()').then(() => undefined));
  // The older transaction writes elsewhere first, and to the wallet only when the younger one has committed.
  await inSqlTransaction(database, scope, async (older) => {
    await writeEvents(older, scope, [toldPhase('elsewhere')]);
    const between = await openTransaction((tx) => tx.rows('select pg_current_xact_id()').then(() => undefined));
    await emit('wallet');
    await writeEvents(older, scope, [toldPhase('wallet')]);
    await between.commit();
  });
  const seen = (await read(start)).events.filter((one) => one.entityId === 'wallet');
  expect(seen.map((one) => one.sequence)).toEqual([1, 2]);
  await holder.commit();
  expect((await readAll(start, 2)).filter((one) => one.entityId === 'wallet').map((one) => one.sequence)).toEqual([
    1, 2,
  ]);
});

test('a transaction that is rolled back leaves no event and no gap', async () => {
  const start = await latest();
  await emit('gap');
  const doomed = await openTransaction((tx) => writeEvents(tx, scope, [toldPhase('gap'), toldPhase('gap')]));
  await doomed.rollback();
  await emit('gap');
  const { events } = await read(start);
  expect(events.map((one) => [one.entityId, one.sequence])).toEqual([
    ['gap', 1],
    ['gap', 2],
  ]);
});

test('writers that commit out of order lose no event and show none twice to a reader that follows', async () => {
  const start = await latest();
  const writers = 4;
  const rounds = 40;
  let running = true;
  const seen: FeedEvent[] = [];
  const reader = (async () => {
    let after = start;
    while (running) {
      const page = await read(after, 7);
      seen.push(...page.events);
      after = page.next;
    }
    seen.push(...(await readAll(after, 7)));
  })();
  const expected: string[] = [];
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let round = 0; round < rounds; round += 1) {
        const own = `writer-${writer}`;
        const slow = await openTransaction((tx) => writeEvents(tx, scope, [toldPhase(own), toldPhase(own)]));
        // Others begin, write and commit before the older one ends.
        await emit(`shared-${round % 3}`);
        if (round % 5 === 4) await slow.rollback();
        else {
          await slow.commit();
          expected.push(own, own);
        }
        expected.push(`shared-${round % 3}`);
      }
    }),
  );
  running = false;
  await reader;
  expect(new Set(seen.map((one) => one.id)).size).toBe(seen.length);
  expect(seen.map((one) => one.entityId).sort()).toEqual(expected.sort());
  for (const [, events] of Map.groupBy(seen, (one) => one.entityId)) {
    const sequences = events.map((one) => one.sequence);
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  }
});

test('a cursor of the earlier form misses nothing', async () => {
  const start = await latest();
  await emit('earlier', 'form');
  const [first] = await inSqlTransaction(database, scope, (tx) =>
    tx.rows<{ xid: string; position: string }>(
      "select transaction_id::text as xid, position::text as position from outbox_event where entity_id = 'earlier'",
    ),
  );
  const old = Buffer.from(`1.${first?.xid}.${first?.position}`).toString('base64url');
  expect((await read(old)).events.map((one) => one.entityId)).toEqual(['form']);
  const ahead = Buffer.from(`1.${2n ** 62n}.1`).toString('base64url');
  expect((await read(ahead)).events).toEqual([]);
  expect((await read(start)).events.map((one) => one.entityId)).toEqual(['earlier', 'form']);
});

test('a reader goes on after the database was restored into another cluster, whose transactions have low numbers', async () => {
  const start = await latest();
  await emit('restored');
  const { next } = await read(start);
  await emit('unplaced');
  // To the relay a restored database is one of another cluster, with snapshots and transactions far ahead of its own.
  const owner = new pg.Client({ connectionString: base.ownerUrl });
  await owner.connect();
  await owner.query(
    `update outbox_relay set system_id = '1', seen_snapshot = '4000000000:4000000000:' where environment_id = $1`,
    [scope.environmentId],
  );
  await owner.query(`update outbox_event set transaction_id = '3999999999'::xid8 where environment_id = $1`, [
    scope.environmentId,
  ]);
  await owner.end();
  await emit('restored', 'anew');
  const page = await read(next);
  expect(page.events.map((one) => [one.entityId, one.sequence])).toEqual([
    ['unplaced', 1],
    ['restored', 2],
    ['anew', 1],
  ]);
  await emit('anew');
  expect((await read(page.next)).events.map((one) => [one.entityId, one.sequence])).toEqual([['anew', 2]]);
  const everything = await readAll(await read(null, 1).then(({ next }) => next), 50);
  expect(new Set(everything.map((one) => one.id)).size).toBe(everything.length);
});

test('a waiting reader is answered when an event is committed', async () => {
  const start = await latest();
  const waiting = call('GET', `/v1/outbound-events?after=${start}&wait=30`);
  const slow = await openTransaction((tx) => writeEvents(tx, scope, [toldPhase('awaited')]));
  await slow.commit();
  const { body } = await waiting;
  expect(body.items.map((item: { entity_id: string }) => item.entity_id)).toEqual(['awaited']);
});

test('a waiting reader gets an event at once beside a transaction that stays open', async () => {
  const start = await latest();
  const waiting = call('GET', `/v1/outbound-events?after=${start}&wait=30`);
  const slow = await openTransaction((tx) => tx.rows('select pg_current_xact_id()').then(() => undefined));
  await emit('beside');
  expect((await waiting).body.items.map((item: { entity_id: string }) => item.entity_id)).toEqual(['beside']);
  await slow.commit();
});

test('a reader waits no longer than it asked, and not at all when the process drains', async () => {
  const feed = createOutboundEventFeed(database);
  const start = await latest();
  const query = { after: start, limit: 10, waitMs: 50 };
  expect(await feed.read(scope, query, never)).toEqual({ events: [], next: start, hasMore: false });
  const waiting = feed.read(scope, { ...query, waitMs: 30_000 }, never);
  await feed.close();
  expect((await waiting).events).toEqual([]);
});

test('a reader whose connection is gone stops waiting', async () => {
  const feed = createOutboundEventFeed(database);
  const gone = new AbortController();
  const waiting = feed.read(scope, { after: await latest(), limit: 10, waitMs: 30_000 }, gone.signal);
  gone.abort();
  expect((await waiting).events).toEqual([]);
  await feed.close();
});

test('so many readers wait and no more', async () => {
  const feed = createOutboundEventFeed(database, 2);
  const query = { after: await latest(), limit: 10, waitMs: 30_000 };
  const waiting = [feed.read(scope, query, never), feed.read(scope, query, never)];
  await expect(feed.read(scope, query, never)).rejects.toMatchObject({ type: 'too_many_requests' });
  expect((await feed.read(scope, { ...query, waitMs: 0 }, never)).events).toEqual([]);
  await feed.close();
  await Promise.all(waiting);
});
