import { afterAll, describe, expect, test } from 'vitest';
import { createSandbox } from '../../../services/platform/tenant.ts';
import { webhookEndpointWorkflowId } from '../../../workflows/event/webhook-endpoint.messages.ts';
import {
  expectInOrder,
  expectNoGap,
  expectSigned,
  firstReceipts,
  type Received,
  receiver,
  status,
  until,
  webhookWorld,
} from './webhook.fixture.ts';

const world = await webhookWorld([50, 50]);
const { api, base, emit, endpoint, rows, temporal, work } = world;
let workers = await work();
// Workers that a test started in the place of these.
afterAll(() => workers.stop());

const now = () => new Date().toISOString();
const remove = (id: string) => api('DELETE', `/webhooks/endpoints/${id}`);
const replay = (id: string, body: object) => api<Replay>('POST', `/webhooks/endpoints/${id}/replay`, body);
type Page<Item> = { items: Item[] };
/** A replay, or the refusal of one. */
type Replay = { state: string; count: number; received: number; code?: string; message?: string };

const replayOf = async (id: string) => (await api<Replay>('GET', `/webhooks/endpoints/${id}/replay`)).body;
const isReplayed = ({ headers }: Received) => headers['webhook-replay'] === 'true';
const numbered = (received: readonly Received[]) => received.map(({ object, sequence }) => `${object} ${sequence}`);
const stateOf = async (id: string, object: string, sequence = 1) => {
  const { body } = await api<Page<{ endpoints: { endpoint_id: string; state: string }[] }>>(
    'GET',
    `/webhooks/events?entity_id=${object}&order=asc&limit=1&offset=${sequence - 1}`,
  );
  return body.items[0]?.endpoints.find(({ endpoint_id }) => endpoint_id === id)?.state;
};

describe('a replay', () => {
  test('sends the events of a time again, with the same ids and bytes, and changes nothing of what is sent by itself', async () => {
    const to = await receiver();
    const { id, secret } = await endpoint(to.url);
    await emit(['again-a']);
    const since = now();
    await emit(['again-a', 'again-b', 'again-a']);
    await until(() => to.received.length).toBe(4);
    const first = [...to.received];
    const started = await replay(id, { start_time: since });
    expect(started).toMatchObject({ status: 202, body: { state: 'running', count: 3, received: 0, endpoint_id: id } });
    await until(() => replayOf(id)).toMatchObject({
      state: 'completed',
      count: 3,
      received: 3,
      failed: 0,
      ended_at: expect.any(String),
    });
    const again = to.received.filter(isReplayed);
    expect(numbered(again).sort()).toEqual(['again-a 2', 'again-a 3', 'again-b 1']);
    expectInOrder(again);
    for (const event of again) {
      const { id: known, body, previous, skipped } = event;
      expect(first).toContainEqual(expect.objectContaining({ id: known, body, previous, skipped }));
      expectSigned(event, secret);
    }
    await emit(['again-a']);
    await until(() => to.received.at(-1)).toMatchObject({ object: 'again-a', sequence: 4, previous: 3 });
    expect(to.received).toHaveLength(8);
    const { body } = await api<Page<{ replay: boolean }>>('GET', `/webhooks/events/${again[0]?.id}/deliveries`);
    expect(body.items.map((each) => each.replay)).toEqual([false, true]);
    await remove(id);
  });

  test('sends the types that are asked for, under new ids where that is asked for, and also what was before the endpoint', async () => {
    const since = now();
    await emit(['before-it'], 'subscription.phase.created');
    await emit(['before-it', 'before-it']);
    const to = await receiver();
    const { id } = await endpoint(to.url);
    const of = (body: object) => replay(id, { start_time: since, ...body });
    expect((await of({ event_types: ['subscription.phase.created'], new_ids: true })).body).toMatchObject({
      count: 1,
      new_ids: true,
    });
    await until(() => replayOf(id)).toMatchObject({ state: 'completed', received: 1 });
    expect(to.received[0]).toMatchObject({
      object: 'before-it',
      sequence: 1,
      id: expect.stringMatching(/^sys_event_\w+-r1$/),
    });
    expect((await of({ event_types: ['customer.created'] })).body).toMatchObject({ state: 'completed', count: 0 });
    expect(
      (await of({ end_time: since, start_time: '2026-11-20T00:00:00Z', event_types: ['customer.created'] })).body.count,
    ).toBe(0);
    await remove(id);
  });

  test('of what was given up alone clears each failure that is received', async () => {
    const to = await receiver(
      ({ object }, response) => void response.writeHead(object === 'given-up' ? 500 : 200).end(),
    );
    const { id } = await endpoint(to.url);
    const since = now();
    await emit(['given-up', 'fine', 'given-up']);
    await until(() => stateOf(id, 'given-up', 2)).toBe('failed');
    expect((await replay(id, { start_time: since, only_failed: true })).body.count).toBe(2);
    await until(() => replayOf(id)).toMatchObject({ state: 'completed', received: 0, failed: 2 });
    expect(to.received.filter(isReplayed).map(({ sequence, attempt }) => [sequence, attempt])).toEqual([
      ...[1, 2, 3].map((attempt) => [1, attempt]),
      ...[1, 2, 3].map((attempt) => [2, attempt]),
    ]);
    to.answer(status(200));
    await replay(id, { start_time: since, only_failed: true });
    await until(() => replayOf(id)).toMatchObject({ state: 'completed', received: 2, failed: 0 });
    expect(await stateOf(id, 'given-up')).toBe('delivered');
    expect((await replay(id, { start_time: since, only_failed: true })).body).toMatchObject({
      count: 0,
      state: 'completed',
    });
    await emit(['given-up']);
    await until(() => to.received.at(-1)).toMatchObject({ sequence: 3, previous: 2, skipped: 2 });
    await remove(id);
  });

  test('goes on beside new events, of which none is left out or overtaken', async () => {
    const to = await receiver();
    const { id } = await endpoint(to.url);
    const since = now();
    const objects = Array.from({ length: 7 }, (_, n) => `beside-${n}`);
    const many = Array.from({ length: 210 }, (_, n) => objects[n % 7]!);
    await emit(many);
    await until(() => to.received.length).toBe(210);
    expect((await replay(id, { start_time: since, end_time: now() })).body.count).toBe(210);
    for (let round = 0; round < 10; round += 1) await emit(objects);
    await until(() => replayOf(id)).toMatchObject({ state: 'completed', received: 210 });
    await until(() => to.received.length).toBe(210 + 210 + 70);
    const [again, byItself] = [to.received.filter(isReplayed), to.received.filter((each) => !isReplayed(each))];
    expectInOrder(again);
    expectNoGap(byItself);
    await remove(id);
  });

  test('is one at a time, is shown, survives its worker, and can be cancelled', async () => {
    let gate = Promise.withResolvers<void>();
    const to = await receiver(async (received, response) => {
      if (isReplayed(received) && received.sequence > 30) await gate.promise;
      response.end();
    });
    const { id } = await endpoint(to.url);
    const since = now();
    const objects = ['long-a', 'long-b', 'long-c', 'long-d', 'long-e', 'long-f'];
    for (let round = 0; round < 60; round += 1) await emit(objects);
    await until(() => to.received.length).toBe(360);
    const { body: started } = await replay(id, { start_time: since });
    expect(started.count).toBe(360);
    await until(async () => (await replayOf(id)).received).toBeGreaterThan(0);
    expect(await replay(id, { start_time: since })).toMatchObject({ status: 409, body: { code: 'already_exists' } });
    const workflow = temporal.client.workflow.getHandle(webhookEndpointWorkflowId(id));
    await until(async () => {
      const shown = await workflow.query<{ currentDetails: string }>('__temporal_workflow_metadata');
      return shown.currentDetails;
    }).toContain('A replay is under way: of 360 events');

    await workers.stop();
    expect(firstReceipts(to.received.filter(isReplayed)).length).toBeLessThan(360);
    workers = await work();
    gate.resolve();
    await until(() => replayOf(id)).toMatchObject({ state: 'completed', count: 360, received: 360 });
    const again = to.received.filter(isReplayed);
    expect(firstReceipts(again)).toHaveLength(360);
    expectInOrder(again);
    expect(again.length).toBeLessThanOrEqual(360 + 100);

    gate = Promise.withResolvers();
    await replay(id, { start_time: since });
    await until(async () => (await replayOf(id)).received).toBeGreaterThan(0);
    expect((await api('DELETE', `/webhooks/endpoints/${id}/replay`)).status).toBe(204);
    expect(await replayOf(id)).toMatchObject({ state: 'cancelled', ended_at: expect.any(String) });
    const { length: count } = to.received.filter(isReplayed);
    gate.resolve();
    await emit(['long-a']);
    await until(() => firstReceipts(to.received.filter((each) => !isReplayed(each))).length).toBe(361);
    expect(to.received.filter(isReplayed)).toHaveLength(count);
    expect((await api('DELETE', `/webhooks/endpoints/${id}/replay`)).status).toBe(404);
    await replay(id, { start_time: since, event_types: ['customer.created'] });
    expect(await replayOf(id)).toMatchObject({ state: 'completed', count: 0 });
    await remove(id);
    expect(await rows(`select from webhook_replay where endpoint_id = $1 and state = 'running'`, [id])).toEqual([]);
  });

  test('waits while the receiver asks to wait or is away, and loses none of its attempts by it', async () => {
    const to = await receiver();
    const { id } = await endpoint(to.url);
    const since = now();
    const objects = ['away-a', 'away-b', 'away-c', 'away-d', 'away-e'];
    await emit(objects);
    await until(() => to.received.length).toBe(5);
    let asked = 0;
    to.answer((_, response) => {
      asked += 1;
      if (asked > 15) response.destroy();
      else response.writeHead(429, { 'retry-after': '0' }).end();
    });
    await replay(id, { start_time: since });
    await until(() => rows('select pause_reason from webhook_cursor where endpoint_id = $1', [id])).toEqual([
      { pause_reason: 'unreachable' },
    ]);
    expect(await replayOf(id)).toMatchObject({ state: 'running', count: 5, received: 0, failed: 0 });
    to.answer(status(200));
    await until(() => replayOf(id)).toMatchObject({ state: 'completed', received: 5, failed: 0 });
    await remove(id);
  });

  test.each([
    [{ start_time: '2026-01-01T00:00:00Z', end_time: '2026-02-01T00:00:00Z' }, 'at most 30 days after start_time'],
    [{ start_time: '2026-01-02T00:00:00Z', end_time: '2026-01-01T00:00:00Z' }, 'end_time must be after start_time'],
    [{ start_time: '2126-01-02T00:00:00Z' }, 'must be in the past'],
    [{}, 'start_time'],
    [{ start_time: '2026-11-27T00:00:00Z', event_types: ['nothing'] }, 'event_types'],
    [{ start_time: '2026-11-27T00:00:00Z', only_faild: true }, 'only_failed'],
  ])('%j is refused and changes nothing', async (body, message) => {
    const to = await receiver();
    const { id } = await endpoint(to.url);
    const answer = await replay(id, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
    expect(answer.body.message).toContain(message);
    expect((await api('GET', `/webhooks/endpoints/${id}/replay`)).status).toBe(404);
    await remove(id);
  });

  test('is refused for a disabled endpoint, for one that is not there, and for one of another tenant', async () => {
    const to = await receiver();
    const { id } = await endpoint(to.url, { enabled: false });
    expect(await replay(id, { start_time: '2026-11-27T00:00:00Z' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation' },
    });
    expect((await replay('wep_unknown', { start_time: '2026-11-27T00:00:00Z' })).status).toBe(404);
    const other = await createSandbox(base.database, { tenantName: 'Other' });
    const headers = { 'x-api-key': other.apiKey };
    for (const method of ['POST', 'GET', 'DELETE'] as const) {
      const sent = method === 'POST' ? { start_time: '2026-11-27T00:00:00Z' } : undefined;
      expect((await api(method, `/webhooks/endpoints/${id}/replay`, sent, headers)).status).toBe(404);
    }
    await remove(id);
  });
});

describe('an event that is sent again alone', () => {
  const retry = (id: string, headers = {}) => api('POST', '/webhooks/retry', { system_event_id: id }, headers);
  const eventOf = async (object: string) =>
    (await rows<{ id: string }>('select id from outbox_event where entity_id = $1', [object]))[0]!.id;

  test('goes to every endpoint that lacks it, however old it is, and to no other', async () => {
    const [refusing, good, other] = [await receiver(status(500)), await receiver(), await receiver()];
    const lacking = await endpoint(refusing.url);
    const having = await endpoint(good.url);
    const typed = await endpoint(other.url, { event_types: ['customer.created'] });
    await emit(['alone']);
    await until(() => stateOf(lacking.id, 'alone')).toBe('failed');
    await until(() => stateOf(having.id, 'alone')).toBe('delivered');
    await rows(`update outbox_event set created_at = now() - interval '80 hours' where entity_id = 'alone'`);
    refusing.answer(status(200));
    const id = await eventOf('alone');
    expect(await retry(id)).toEqual(
      expect.objectContaining({
        status: 202,
        body: { success: true, system_event_id: id, message: `${id} is sent again to ${lacking.id}` },
      }),
    );
    await until(() => stateOf(lacking.id, 'alone')).toBe('delivered');
    expect(refusing.received.at(-1)).toMatchObject({ id, attempt: 1, headers: { 'webhook-replay': 'true' } });
    expect(good.received).toHaveLength(1);
    expect(other.received).toEqual([]);
    await until(async () => (await retry(id)).body).toMatchObject({
      code: 'invalid_operation',
      message: `no webhook endpoint lacks ${id}`,
    });
    for (const each of [lacking, having, typed]) await remove(each.id);
  });

  test('is refused where it is not there, or lacking only where webhooks are disabled', async () => {
    const to = await receiver();
    const { id: endpointId } = await endpoint(to.url, { enabled: false });
    await emit(['nowhere']);
    const id = await eventOf('nowhere');
    expect((await retry(id)).body.message).toContain(`lacking at ${endpointId} alone`);
    expect((await retry('sys_event_unknown')).status).toBe(404);
    const other = await createSandbox(base.database, { tenantName: 'Other' });
    expect((await retry(id, { 'x-api-key': other.apiKey })).status).toBe(404);
    expect((await api('POST', '/webhooks/retry', {})).status).toBe(400);
    expect(await rows('select from webhook_replay where event_id = $1', [id])).toEqual([]);
    await remove(endpointId);
  });
});
