import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { webhookEndpointWorkflowId } from '../../../workflows/event/webhook-endpoint.messages.ts';
import { expectNoGap, receiver, status, until, webhookWorld } from './webhook.fixture.ts';

const world = await webhookWorld();
const { api, emit, endpoint, rows, temporal, work } = world;

const pauseOf = (id: string) =>
  rows<{ pause_reason: string | null; paused_until: string | null }>(
    'select pause_reason, paused_until from webhook_cursor where endpoint_id = $1',
    [id],
  );
const isFree = { pause_reason: null, paused_until: null };
const remove = (id: string) => api('DELETE', `/webhooks/endpoints/${id}`);

/** Details of an endpoint's workflow, as the Temporal UI shows them. */
async function detailsOf(id: string): Promise<string> {
  const workflow = temporal.client.workflow.getHandle(webhookEndpointWorkflowId(id));
  return (await workflow.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
}

test.each([
  [429, '3600'],
  [503, new Date(Date.now() + 7_200_000).toUTCString()],
])(
  'a receiver that answers %i with a time gets nothing at all until then, also from another worker',
  async (code, time) => {
    let workers = await work();
    const to = await receiver((_, response) => void response.writeHead(code, { 'retry-after': time }).end());
    const beside = await receiver();
    const [{ id }, other] = [await endpoint(to.url), await endpoint(beside.url)];
    const [first, second] = [`asked-${code}`, `asked-too-${code}`];
    await emit([first]);
    await until(() => pauseOf(id)).toEqual([{ pause_reason: 'asked', paused_until: expect.anything() }]);
    await workers.stop();
    workers = await work();
    await emit([first, second]);
    await until(() => beside.received.length).toBe(3);
    expect(to.received.map(({ object, sequence }) => [object, sequence])).toEqual([[first, 1]]);
    const [pause] = await pauseOf(id);
    expect(Date.parse(pause?.paused_until ?? '') - Date.now()).toBeGreaterThan(1_800_000);
    const next = await receiver();
    await api('PUT', `/webhooks/endpoints/${id}`, { url: next.url });
    await until(() => next.received.length).toBe(3);
    expectNoGap(next.received);
    await until(() => pauseOf(id)).toEqual([isFree]);
    await remove(id);
    await remove(other.id);
    await workers.stop();
  },
);

test('a receiver that wants to be left alone for no time at all is sent on as one that failed', async () => {
  const workers = await work();
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
  await workers.stop();
});

test('a receiver that is away is asked with one event at a time, says so, and gets all of them when it is back', async () => {
  const workers = await work();
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
  await workers.stop();
});
