import { describe, expect, test } from 'vitest';
import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { forgetDeliveries } from '../../../services/event/webhook/delivery.ts';
import { createSandbox } from '../../../services/platform/tenant.ts';
import { type Answer, receiver, status, until, webhookWorld } from './webhook.fixture.ts';

const world = await webhookWorld();
const { api, base, emit, endpoint, rows, work } = world;
await work();

interface Standing {
  endpoint_id: string;
  state: string;
  waits_behind: number | null;
  next_attempt_at: string | null;
}

interface ShownEvent {
  id: string;
  sequence: number;
  created_at: string;
  delivered: boolean;
  payload: unknown;
  endpoints: Standing[];
}
interface Page<Item> {
  items: Item[];
  pagination: { limit: number; offset: number; total: number };
}
interface Delivery {
  attempt: number;
  response_excerpt: string;
}

const remove = (id: string) => api('DELETE', `/webhooks/endpoints/${id}`);
const list = async (query: string) => (await api<Page<ShownEvent>>('GET', `/webhooks/events?${query}`)).body;
const eventOf = async (object: string, sequence = 1) =>
  (
    await rows<{ id: string }>('select id from outbox_event where entity_id = $1 and sequence = $2', [object, sequence])
  )[0]!.id;
const eventAt = async (object: string, sequence = 1) =>
  (await api<ShownEvent>('GET', `/webhooks/events/${await eventOf(object, sequence)}`)).body;
const standingAt = async (endpointId: string, object: string, sequence = 1) =>
  (await eventAt(object, sequence)).endpoints.find((each) => each.endpoint_id === endpointId);
const stateAt = async (...of: Parameters<typeof standingAt>) => (await standingAt(...of))?.state;
const deliveriesAt = async (object: string, sequence = 1) =>
  (await api<Page<Delivery>>('GET', `/webhooks/events/${await eventOf(object, sequence)}/deliveries`)).body.items;

/** Answers 500 with everything the request had, as it was, in base64 and as a part of a URL. */
const echo: Answer = ({ headers }, response) => {
  const all = Object.values(headers).join('\n');
  const sealed = String(headers['x-sealed']);
  const forms = [
    sealed,
    Buffer.from(sealed).toString('base64'),
    encodeURIComponent(sealed),
    all,
    Buffer.from(all).toString('base64'),
  ];
  response.writeHead(500).end(`boom\u0000 <b>${forms.join('\n')}</b>`);
};

describe('every attempt', () => {
  test('is kept with its status, its error and the beginning of the answer, in which no secret is left', async () => {
    const to = await receiver(echo);
    const { id, secret } = await endpoint(to.url, { headers: { 'X-Sealed': 'tok en/+sealed-1' } });
    await emit(['logged']);
    await until(() => stateAt(id, 'logged')).toBe('failed');
    const kept = await deliveriesAt('logged');
    expect(kept).toHaveLength(4);
    for (const [index, delivery] of kept.entries()) {
      const isLast = index === 3;
      expect(delivery).toEqual({
        endpoint_id: id,
        attempt: index + 1,
        attempted_at: expect.any(String),
        status_code: 500,
        duration_ms: expect.any(Number),
        error: 'answered 500',
        response_excerpt: expect.stringMatching(/^boom <b>••• •••/),
        next_attempt_at: isLast ? null : expect.any(String),
        replay: false,
      });
      const { headers } = to.received[index]!;
      const signature = String(headers['webhook-signature']).slice(3);
      for (const hidden of [
        'sealed-1',
        secret.slice(6),
        signature,
        Buffer.from('sealed-1').toString('base64').slice(0, 8),
      ]) {
        expect(delivery.response_excerpt).not.toContain(hidden);
      }
    }
    await remove(id);
    expect(await deliveriesAt('logged')).toHaveLength(4);
  });

  test('that found nobody says so in a word, and the one that was received has no excerpt', async () => {
    let calls = 0;
    const to = await receiver((_, response) => {
      calls += 1;
      if (calls === 1) response.destroy();
      else response.end('thank you');
    });
    const { id } = await endpoint(to.url);
    await emit(['found']);
    await until(() => deliveriesAt('found')).toMatchObject([
      {
        attempt: 1,
        status_code: null,
        error: 'no connection',
        response_excerpt: '',
        next_attempt_at: expect.any(String),
      },
      { attempt: 2, status_code: 200, error: null, response_excerpt: '', next_attempt_at: null },
    ]);
    expect((await api('GET', `/webhooks/events/${await eventOf('found')}/deliveries?endpoint_id=other`)).body).toEqual({
      items: [],
      pagination: { limit: 50, offset: 50, total: 0 },
    });
    await remove(id);
  });

  test('is forgotten after 30 days', async () => {
    const count = async () => (await rows<{ count: string }>('select count(*) from webhook_delivery'))[0]?.count;
    const forget = (now: number) =>
      inSqlTransaction(base.database, systemScope, (tx) => forgetDeliveries(tx, new Date(now).toISOString()));
    const dayMs = 86_400_000;
    const before = await count();
    expect(Number(before)).toBeGreaterThan(0);
    expect(await forget(Date.now() + 29 * dayMs)).toBe(0);
    expect(await forget(Date.now() + 31 * dayMs)).toBe(Number(before));
    expect(await count()).toBe('0');
  });
});

describe('an event', () => {
  test('is shown with the bytes that its receivers got', async () => {
    const to = await receiver();
    const { id } = await endpoint(to.url);
    await emit(['bytes']);
    await until(() => to.received.length).toBe(1);
    const { id: eventId, body } = to.received[0]!;
    await until(() => stateAt(id, 'bytes')).toBe('delivered');
    const shown = await eventAt('bytes');
    expect(shown).toMatchObject({
      id: eventId,
      delivered: true,
      sequence: 1,
      event_name: 'subscription.phase.updated',
      body,
    });
    expect(shown.payload).toEqual(JSON.parse(body));
    await remove(id);
  });

  test('says of each endpoint why it is not there', async () => {
    await emit(['why'], 'subscription.phase.created');
    const [good, refusing, away] = [await receiver(), await receiver(status(500)), await receiver()];
    const every = await endpoint(good.url);
    const typed = await endpoint(good.url, { event_types: ['customer.created'] });
    const holding = await endpoint(refusing.url, { on_exhausted: 'hold' });
    const disabled = await endpoint(away.url, { enabled: false });
    await emit(['why', 'why']);
    await until(() => standingAt(holding.id, 'why', 2)).toMatchObject({ state: 'held', next_attempt_at: null });
    await until(() => stateAt(every.id, 'why', 3)).toBe('delivered');
    expect(await stateAt(every.id, 'why')).toBe('before_start');
    expect(await stateAt(typed.id, 'why', 2)).toBe('filtered');
    expect(await standingAt(holding.id, 'why', 3)).toMatchObject({ state: 'waiting', waits_behind: 2 });
    expect(await standingAt(disabled.id, 'why', 2)).toMatchObject({ state: 'pending', next_attempt_at: null });

    const of = (query: string) => list(`entity_id=why&order=asc&${query}`);
    const sequences = ({ items }: { items: { sequence: number }[] }) => items.map(({ sequence }) => sequence);
    expect(sequences(await of('delivered=true'))).toEqual([1]);
    expect(sequences(await of('delivered=false'))).toEqual([2, 3]);
    await remove(disabled.id);
    await api('PUT', `/webhooks/endpoints/${holding.id}`, { on_exhausted: 'skip' });
    await until(() => stateAt(holding.id, 'why', 3)).toBe('failed');
    expect(await stateAt(holding.id, 'why', 2)).toBe('failed');
    expect((await of('delivered=false')).pagination.total).toBe(2);
    for (const { id } of [every, typed, holding]) await remove(id);
    expect((await of('delivered=false')).pagination.total).toBe(0);
    expect(await eventAt('why', 2)).toMatchObject({ delivered: true, endpoints: [] });
  });

  test('between attempts says when the next one is, and one that none reached in time is stale', async () => {
    const to = await receiver((_, response) => void response.writeHead(503, { 'retry-after': '3600' }).end());
    const { id } = await endpoint(to.url);
    await emit(['between', 'between']);
    await until(() => stateAt(id, 'between')).toBe('retrying');
    const nextAt = (await standingAt(id, 'between'))?.next_attempt_at;
    expect(Date.parse(nextAt!) - Date.now()).toBeGreaterThan(1_800_000);
    expect(await standingAt(id, 'between', 2)).toMatchObject({
      state: 'waiting',
      waits_behind: 1,
      next_attempt_at: null,
    });
    await remove(id);

    const next = await receiver();
    const later = await endpoint(next.url, { enabled: false });
    await emit(['old']);
    await rows(`update outbox_event set created_at = now() - interval '49 hours' where entity_id = 'old'`);
    await api('PUT', `/webhooks/endpoints/${later.id}`, { enabled: true });
    await until(() => stateAt(later.id, 'old')).toBe('stale');
    expect(await deliveriesAt('old')).toEqual([]);
    await remove(later.id);
  });
});

describe('the list of events', () => {
  test('is the newest first, in pages, by type, object and time', async () => {
    await emit(['listed', 'listed', 'listed', 'listed'], 'subscription.phase.deleted');
    await emit(['listed']);
    const sequences = async (query: string) =>
      (await list(`entity_id=listed&${query}`)).items.map(({ sequence }) => sequence);
    expect(await sequences('')).toEqual([5, 4, 3, 2, 1]);
    expect(await sequences('order=asc')).toEqual([1, 2, 3, 4, 5]);
    expect(await sequences('limit=2&offset=2')).toEqual([3, 2]);
    expect(await sequences('event_name=subscription.phase.deleted&limit=1')).toEqual([4]);
    expect(await sequences('entity_type=invoice')).toEqual([]);
    expect(await sequences('status=archived')).toEqual([]);
    const { items, pagination } = await list('limit=1');
    expect(pagination).toMatchObject({ limit: 1, offset: 1 });
    const [{ count }] = (await rows<{ count: string }>('select count(*) from outbox_event')) as [{ count: string }];
    expect(pagination.total).toBe(Number(count));
    const { created_at: createdAt } = items[0]!;
    expect(await sequences(`end_time=${createdAt}`)).not.toContain(5);
    expect(await sequences(`start_time=${createdAt}`)).toContain(5);
  });

  test.each([
    ['event_name=invoice.finalised', 'event_name'],
    ['delivered=perhaps', 'delivered'],
    ['sort=entity_id', 'sort must be created_at or id'],
    ['limit=1001', 'limit'],
    ['start_time=2026-02-01T00:00:00Z&end_time=2026-01-01T00:00:00Z', 'end_time must not be before start_time'],
    ['endpoint=x', 'endpoint'],
  ])('refuses %s', async (query, message) => {
    const { status: code, body } = await api('GET', `/webhooks/events?${query}`);
    expect([code, body.code]).toEqual([400, 'validation_error']);
    expect(body.message).toContain(message);
  });

  test('has nothing of another tenant', async () => {
    await emit(['mine']);
    const other = await createSandbox(base.database, { tenantName: 'Other' });
    const headers = { 'x-api-key': other.apiKey };
    const id = await eventOf('mine');
    expect((await api('GET', '/webhooks/events', undefined, headers)).body.items).toEqual([]);
    for (const path of [`/webhooks/events/${id}`, `/webhooks/events/${id}/deliveries`]) {
      expect((await api('GET', path, undefined, headers)).status).toBe(404);
    }
    expect((await api('GET', '/webhooks/events/sys_event_unknown')).status).toBe(404);
  });
});

test('there is no dashboard of another service', async () => {
  expect(await api('GET', '/webhooks/dashboard')).toMatchObject({
    status: 200,
    body: { svix_enabled: false, url: '', token: null, app_id: null },
  });
});

test.each(['endpoints', 'events', 'retry', 'dashboard'])('%s is no name of a provider', async (name) => {
  const { tenantId, environmentId } = base.scope;
  const answer = await api('POST', `/webhooks/${name}/${tenantId}/${environmentId}`, { type: 'charge.succeeded' });
  expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
  expect(await rows('select from inbound_event')).toEqual([]);
});
