import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { webhookEndpointWorkflowId } from '../../../workflows/event/webhook-endpoint.messages.ts';
import { expectNoGap, firstReceipts, receiver, status, until, webhookWorld } from './webhook.fixture.ts';

const world = await webhookWorld();
const { api, emit, endpoint, rows, temporal, work } = world;
const workers = await work();

const pauseOf = (id: string) =>
  rows<{ pause_reason: string | null; paused_until: string | null }>(
    'select pause_reason, paused_until from webhook_cursor where endpoint_id = $1',
    [id],
  );
const isFree = { pause_reason: null, paused_until: null };
const remove = (id: string) => api('DELETE', `/webhooks/endpoints/${id}`);

const stateOf = async (id: string) => (await api('GET', `/webhooks/endpoints/${id}`)).body;
const isEnabled = {
  enabled: true,
  disabled_reason: null,
  disabled_at: null,
  disabled_answer: null,
  disabled_failures: null,
};

/** Details of an endpoint's workflow, as the Temporal UI shows them. */
async function detailsOf(id: string): Promise<string> {
  const workflow = temporal.client.workflow.getHandle(webhookEndpointWorkflowId(id));
  return (await workflow.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
}

test('a receiver that wants to be left alone for no time at all is sent on as one that failed', async () => {
  let asked = 0;
  const to = await receiver((_, response) => {
    asked += 1;
    response.writeHead(asked === 1 ? 429 : 200, { 'retry-after': 'Sat, 31 Jan 2026 12:00:00 GMT' }).end();
  });
  const { id } = await endpoint(to.url);
  await emit(['past', 'past']);
  await until(() => to.received.map(({ sequence, attempt }) => [sequence, attempt])).toEqual([
    [1, 1],
    [1, 2],
    [2, 1],
  ]);
  await until(() => pauseOf(id)).toEqual([isFree]);
  await remove(id);
});

test('a receiver that is away is asked with one event at a time, says so, and gets all of them when it is back', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const { id } = await endpoint(`http://127.0.0.1:${port}/hook`, { on_exhausted: 'hold' });
  const objects = Array.from({ length: 9 }, (_, n) => `away-${n}`);
  await emit([...objects, ...objects]);
  await until(() => pauseOf(id)).toEqual([{ pause_reason: 'unreachable', paused_until: expect.anything() }]);
  await until(() => detailsOf(id)).toContain('cannot be reached');
  const to = await receiver(status(200), port);
  await api('PUT', `/webhooks/endpoints/${id}`, { on_exhausted: 'skip' });
  for (const object of objects) await until(() => to.firstOf(object).length).toBeGreaterThanOrEqual(1);
  await until(() => rows('select from webhook_line where endpoint_id = $1', [id])).toEqual([]);
  await until(() => pauseOf(id)).toEqual([isFree]);
  expectNoGap(to.received);
  await remove(id);
});

test('a time that comes with 502 or 504 is for the event that was sent, and a day at most', async () => {
  const asked: Record<string, [number, string]> = {
    'asks-seconds': [502, '3600'],
    'asks-date': [504, 'Fri, 31 Dec 2100 00:00:00 GMT'],
  };
  const to = await receiver(({ object }, response) => {
    const [code, time] = asked[object] ?? [200, '0'];
    response.writeHead(code, { 'retry-after': time }).end();
  });
  const { id } = await endpoint(to.url);
  await emit(['asks-seconds', 'asks-date', 'asks-date', 'asks-nothing', 'asks-nothing']);
  const hoursUntilNext = async () => {
    const lines = await rows<{ entity_id: string; next_at: string }>(
      'select entity_id, next_at from webhook_line where endpoint_id = $1 order by 1',
      [id],
    );
    return lines.map(({ entity_id, next_at }) => [
      entity_id,
      Math.round((Date.parse(next_at) - Date.now()) / 3_600_000),
    ]);
  };
  await until(hoursUntilNext).toEqual([
    ['asks-date', 24],
    ['asks-seconds', 1],
  ]);
  await until(() => to.firstOf('asks-nothing').length).toBe(2);
  expect(to.received).toHaveLength(4);
  expect(await pauseOf(id)).toEqual([isFree]);
  await remove(id);
});

describe('an endpoint is disabled', () => {
  test('at once by an answer of 410, says so, and goes on where it stopped when it is enabled', async () => {
    const [to, beside] = [await receiver(status(410)), await receiver()];
    const [{ id }, other] = [await endpoint(to.url), await endpoint(beside.url)];
    expect(await stateOf(id)).toMatchObject(isEnabled);
    await emit(['gone']);
    await until(() => stateOf(id)).toMatchObject({
      enabled: false,
      disabled_reason: 'gone',
      disabled_at: expect.any(String),
      disabled_answer: 'answered 410',
      disabled_failures: 1,
    });
    await until(() => detailsOf(id)).toContain('its receiver answered 410');
    expect(
      await rows(`select detail, actor from audit_entry where object_id = $1 and action = 'disabled'`, [id]),
    ).toEqual([{ detail: { reason: 'gone', answer: 'answered 410', failures: 1 }, actor: 'system' }]);
    await emit(['gone', 'gone-too']);
    await until(() => beside.received.length).toBe(3);
    expect(to.received).toHaveLength(1);
    to.answer(status(200));
    const { body } = await api('PUT', `/webhooks/endpoints/${id}`, { enabled: true });
    expect(body).toMatchObject(isEnabled);
    await until(() => to.firstOf('gone').length + to.firstOf('gone-too').length).toBe(3);
    expectNoGap(to.received);
    await until(() => detailsOf(id)).toContain('Everything else is received.');
    await remove(id);
    await remove(other.id);
  });

  test('by a person, and resumed from now it leaves out what lies between and tells how much', async () => {
    const to = await receiver(({ object }, response) => void response.writeHead(object === 'held' ? 500 : 200).end());
    const { id } = await endpoint(to.url, { on_exhausted: 'hold' });
    await emit(['held', 'goes']);
    await until(() => rows('select next_at from webhook_line where endpoint_id = $1', [id])).toEqual([
      { next_at: null },
    ]);
    await api('PUT', `/webhooks/endpoints/${id}`, { enabled: false });
    expect(await stateOf(id)).toMatchObject({
      ...isEnabled,
      enabled: false,
      disabled_reason: 'requested',
      disabled_at: expect.any(String),
    });
    await until(() => rows('select owner from webhook_cursor where endpoint_id = $1', [id])).toEqual([{ owner: null }]);
    await emit(['held', 'goes', 'goes', 'new']);
    to.answer(status(200));
    await api('PUT', `/webhooks/endpoints/${id}`, { enabled: true, resume_from: 'now' });
    await emit(['held', 'goes', 'new']);
    await until(() =>
      to.received
        .slice(-3)
        .map(({ object, sequence, previous, skipped }) => [object, sequence, previous, skipped])
        .sort(),
    ).toEqual([
      ['goes', 4, 3, 2],
      ['held', 3, 2, 2],
      ['new', 2, 1, 1],
    ]);
    expectNoGap(to.received);
    await remove(id);
  });
});

test.each([
  [429, '3600'],
  [503, 'Fri, 31 Dec 2100 00:00:00 GMT'],
])(
  'a receiver that answers %i with a time gets nothing at all until then, also from another worker',
  async (code, time) => {
    await workers.stop();
    const first = await work();
    const to = await receiver((_, response) => void response.writeHead(code, { 'retry-after': time }).end());
    const beside = await receiver();
    const [{ id }, other] = [await endpoint(to.url), await endpoint(beside.url)];
    const [one, two] = [`asked-${code}`, `asked-too-${code}`];
    await emit([one]);
    await until(() => pauseOf(id)).toEqual([{ pause_reason: 'asked', paused_until: expect.anything() }]);
    await first.stop();
    const second = await work();
    await emit([one, two]);
    // Where the first worker was stopped before it read the answer, the second sends that event again.
    await until(() => firstReceipts(beside.received).length).toBe(3);
    expect(to.received.map(({ object, sequence }) => [object, sequence])).toEqual([[one, 1]]);
    const [pause] = await pauseOf(id);
    const leftMs = Date.parse(pause?.paused_until ?? '') - Date.now();
    expect(leftMs).toBeGreaterThan(1_800_000);
    expect(leftMs).toBeLessThanOrEqual(86_400_000);
    const next = await receiver();
    await api('PUT', `/webhooks/endpoints/${id}`, { url: next.url });
    await until(() => next.received.length).toBe(3);
    expectNoGap(next.received);
    await until(() => pauseOf(id)).toEqual([isFree]);
    await remove(id);
    await remove(other.id);
    await second.stop();
  },
);

test('an endpoint is disabled when nothing was received for five days and ten attempts failed, which a receipt in between prevents', async () => {
  await workers.stop();
  const [failing, mixed] = [await receiver(status(500)), await receiver(status(500))];
  const [{ id }, other] = [await endpoint(failing.url), await endpoint(mixed.url)];
  const backdate = (endpointId: string) =>
    rows(
      `update webhook_cursor set silent_since = now() - interval '5 days', failing_since = now() - interval '5 days', failures = 9
       where endpoint_id = $1`,
      [endpointId],
    );
  await backdate(id);
  await backdate(other.id);
  mixed.answer(({ object }, response) => void response.writeHead(object === 'received' ? 200 : 500).end());
  const others = await work();
  await emit(['received']);
  await until(() => stateOf(id)).toMatchObject({
    enabled: false,
    disabled_reason: 'failing',
    disabled_answer: 'answered 500',
    disabled_failures: 10,
  });
  await until(() => detailsOf(id)).toContain('10 attempts failed in a row, the last with "answered 500"');
  await emit(['poison']);
  await until(() => mixed.received.filter(({ object }) => object === 'poison').length).toBe(4);
  await until(() => rows('select failures from webhook_cursor where endpoint_id = $1', [other.id])).toEqual([
    { failures: 4 },
  ]);
  expect(await stateOf(other.id)).toMatchObject(isEnabled);
  await remove(id);
  await remove(other.id);
  await others.stop();
});
