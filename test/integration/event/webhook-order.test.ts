import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inSqlTransaction, type SqlTransaction } from '../../../db/transaction.ts';
import { placeEvents } from '../../../services/event/outbox-relay.ts';
import { beforeEach } from '../../../services/event/webhook/due-event.ts';
import { writeEvents } from '../../../services/platform/outbox.ts';
import { created } from '../../support/billing.ts';
import { toldPhase } from '../../support/told-event.ts';
import { expectNoGap, firstReceipts, type Received, receiver, status, until, webhookWorld } from './webhook.fixture.ts';

const world = await webhookWorld(Array.from({ length: 15 }, () => 20));
const { api, base, emit, endpoint, rows, work } = world;
const { database, scope } = base;

/** A transaction with a number of its own that stays open until it is told to end. */
async function openTransaction() {
  const working = Promise.withResolvers<SqlTransaction>();
  const ending = Promise.withResolvers<void>();
  const done = inSqlTransaction(database, scope, async (tx) => {
    await tx.rows('select pg_current_xact_id()');
    working.resolve(tx);
    await ending.promise;
  });
  done.catch(working.reject);
  const tx = await working.promise;
  return {
    write: (entityId: string) => writeEvents(tx, scope, [toldPhase(entityId)]),
    async commit() {
      ending.resolve();
      await done;
    },
  };
}

test('events of transactions that overlap are received in order per object, beside one that stays open', async () => {
  const workers = await work();
  const to = await receiver();
  const { id } = await endpoint(to.url);
  const rounds = fc.sample(
    fc.array(fc.record({ early: fc.boolean(), object: fc.nat(2) }), { minLength: 3, maxLength: 6 }),
    12,
  );
  let expected = 0;
  for (const [round, steps] of rounds.entries()) {
    const first = await openTransaction();
    const held = await openTransaction();
    for (const { early, object } of steps) {
      const entityId = `overlap-${round}-${object}`;
      // The later transaction writes and commits; the earlier one writes the same object behind it.
      await emit([entityId]);
      if (early) await first.write(entityId);
      expected += early ? 2 : 1;
      // An object that the earlier one has written is locked until it commits.
      if (early) break;
    }
    await first.commit();
    await until(() => firstReceipts(to.received).length).toBe(expected);
    await held.commit();
  }
  expectNoGap(to.received);
  expect(firstReceipts(to.received)).toHaveLength(to.received.length);
  await api('DELETE', `/webhooks/endpoints/${id}`);
  await workers.stop();
});

test('a receiver that fails at random has every event in order at its first receipt, while workers come and go', async () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const to = await receiver((_, response) => {
    const luck = random();
    if (luck < 0.05) response.destroy();
    else response.writeHead(luck < 0.2 ? 500 : 204).end();
  });
  const accepted = await receiver();
  const { id } = await endpoint(to.url, { on_exhausted: 'hold' });
  const { id: other } = await endpoint(accepted.url);
  let workers = await work();
  for (let round = 0; round < 4; round += 1) {
    await emit(Array.from({ length: 150 }, (_, n) => `random-${(n * 7 + round) % 11}`));
    if (round % 2 === 1) continue;
    await workers.stop();
    await emit(Array.from({ length: 20 }, (_, n) => `random-${n % 11}`));
    workers = await work();
  }
  await until(() => firstReceipts(accepted.received).length).toBe(640);
  await until(() => firstReceipts(to.received).length).toBe(640);
  expectNoGap(to.received);
  expectNoGap(accepted.received);
  await until(() => rows('select from webhook_line where endpoint_id = $1', [id])).toEqual([]);
  await api('DELETE', `/webhooks/endpoints/${id}`);
  await api('DELETE', `/webhooks/endpoints/${other}`);
  await workers.stop();
});

test('an invoice has one body for every receiver, attempt and reader, also when it changed meanwhile', async () => {
  const workers = await work();
  const [failing, quick] = [await receiver(status(500)), await receiver()];
  const types = { event_types: ['invoice.update', 'invoice.update.finalized', 'invoice.update.voided'] };
  const one = await endpoint(failing.url, { ...types, on_exhausted: 'hold' });
  const { id: customerId } = await created<{ id: string }>(api, '/customers', { external_id: 'body', name: 'Body' });
  const invoice = await created<{ id: string }>(api, '/invoices', {
    customer_id: customerId,
    invoice_type: 'ONE_OFF',
    currency: 'usd',
    amount_due: '5',
    total: '5',
    subtotal: '5',
    line_items: [{ display_name: 'Work', amount: '5', quantity: '1' }],
  });
  await until(() => failing.received.length).toBeGreaterThan(0);
  const shown = failing.received[0]!;
  expect(JSON.parse(shown.body).invoice).toMatchObject({ id: invoice.id });
  await api('PUT', `/invoices/${invoice.id}`, { metadata: { changed: 'yes' } });
  failing.answer(status(200));
  const two = await endpoint(quick.url, { ...types, start: 'beginning' });
  await api('PUT', `/webhooks/endpoints/${one.id}`, { url: `${failing.url}?again` });
  await until(() => quick.received.some(({ id }) => id === shown.id)).toBe(true);
  await until(() => failing.received.filter(({ id }) => id === shown.id).length).toBeGreaterThan(1);
  const bodies = [...failing.received, ...quick.received].filter(({ id }) => id === shown.id).map(({ body }) => body);
  expect(new Set(bodies).size).toBe(1);
  const { body: feed } = await api<{ items: { id: string; payload: unknown }[] }>('GET', '/outbound-events?limit=1000');
  expect(feed.items.find(({ id }) => id === shown.id)?.payload).toEqual(JSON.parse(shown.body));
  await api('DELETE', `/webhooks/endpoints/${one.id}`);
  await api('DELETE', `/webhooks/endpoints/${two.id}`);
  await workers.stop();
});

test('an endpoint that moves while it is sent to gets everything, in order, at one address or the other', async () => {
  const workers = await work();
  const all: Received[] = [];
  const note = (received: Received) => void all.push(received);
  const hanging: (() => void)[] = [];
  const old = await receiver((received, response) => {
    note(received);
    hanging.push(() => void response.writeHead(410).end());
  });
  const next = await receiver((received, response) => {
    note(received);
    response.end();
  });
  const { id } = await endpoint(old.url);
  await emit(['moving-1', 'moving-2', 'moving-1']);
  await until(() => hanging.length).toBe(2);
  await api('PUT', `/webhooks/endpoints/${id}`, { url: next.url });
  await emit(['moving-3']);
  await until(() => next.received.length).toBe(1);
  for (const answer of hanging) answer();
  await until(() => next.received.length).toBe(4);
  expectNoGap(all);
  expect((await api('GET', `/webhooks/endpoints/${id}`)).body).toMatchObject({ enabled: true, disabled_reason: null });
  await api('DELETE', `/webhooks/endpoints/${id}`);
  await workers.stop();
});

test('an endpoint that starts at an instant gets what was created since, each object beginning anew', async () => {
  const workers = await work();
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  await emit(['since-1', 'since-2', 'since-1', 'since-2', 'since-1']);
  await rows('update outbox_event set created_at = $1', [daysAgo(20)]);
  const ages = { 'since-1': [9, 8, 4], 'since-2': [8, 3] };
  for (const [object, days] of Object.entries(ages)) {
    for (const [index, age] of days.entries()) {
      await rows('update outbox_event set created_at = $3 where entity_id = $1 and sequence = $2', [
        object,
        index + 1,
        daysAgo(age),
      ]);
    }
  }
  const to = await receiver();
  const { id } = await endpoint(to.url, { start: daysAgo(5) });
  await until(() => to.received.map(({ object, sequence, previous }) => [object, sequence, previous]).sort()).toEqual([
    ['since-1', 3, 0],
    ['since-2', 2, 0],
  ]);
  await api('DELETE', `/webhooks/endpoints/${id}`);
  await workers.stop();
});

/** Rows of the outbox that the connection of a transaction has read. */
async function rowsReadBy(tx: SqlTransaction, table: 'outbox_event' | 'outbox_feed'): Promise<number> {
  const [read] = await tx.rows<{ count: number }>(
    'select (seq_tup_read + idx_tup_fetch)::int as count from pg_stat_xact_user_tables where relname = $1',
    [table],
  );
  return read?.count ?? 0;
}

test('finding what is new reads that alone, however much was placed since another transaction began', async () => {
  const held = await openTransaction();
  const place = () => inSqlTransaction(database, scope, placeEvents);
  for (let n = 0; n < 20; n += 1) {
    await emit(Array.from({ length: 20 }, (_, k) => `many-${k}`));
    await place();
  }
  const end = await place();
  await emit(['new', 'new']);
  const found = await inSqlTransaction(database, scope, async (tx) => {
    const before = await rowsReadBy(tx, 'outbox_event');
    const last = await placeEvents(tx);
    return { events: Number(last) - Number(end), rowsRead: (await rowsReadBy(tx, 'outbox_event')) - before };
  });
  await held.commit();
  expect(found.events).toBe(2);
  expect(found.rowsRead).toBeLessThan(20);
});

test('an endpoint that is new looks at nothing of what its objects did before it but the last, however much that was', async () => {
  const past = 40;
  await emit(Array.from({ length: past * 5 }, (_, n) => `old-${n % 5}`));
  const { id } = await endpoint((await receiver()).url);
  const first = Array.from({ length: 5 }, (_, n) => ({ entityId: `old-${n}`, sequence: past + 1 }));
  const found = await inSqlTransaction(database, scope, async (tx) => {
    const before = await rowsReadBy(tx, 'outbox_feed');
    const answers = await beforeEach(tx, id, first);
    return { answers, placesRead: (await rowsReadBy(tx, 'outbox_feed')) - before };
  });
  expect(found.answers).toEqual(first.map(() => ({ previous: 0, skipped: 0 })));
  expect(found.placesRead).toBe(first.length);
});
