import { describe, expect, test } from 'vitest';
import { systemScope, workflowScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { verifyStandardWebhook } from '../../../integrations/standard-webhook.ts';
import { writeEvents } from '../../../services/platform/outbox.ts';
import { createSandbox } from '../../../services/platform/tenant.ts';
import { toldPhase } from '../../support/told-event.ts';
import { expectNoGap, expectSigned, type Received, receiver, status, until, webhookWorld } from './webhook.fixture.ts';

const world = await webhookWorld();
const { api, emit, endpoint, rows, work } = world;
const workers = await work();

const remove = (id: string) => api('DELETE', `/webhooks/endpoints/${id}`);
const ask = (id: string, event_type: string) => api('POST', `/webhooks/endpoints/${id}/test`, { event_type });
type Secrets = { secret: string; secrets: { secret: string; expires_at: string | null }[] } & Record<string, unknown>;
const secretsOf = (id: string) => api<Secrets>('GET', `/webhooks/endpoints/${id}/secret`);
const rotate = (id: string, body: object = {}) => api<Secrets>('POST', `/webhooks/endpoints/${id}/secret/rotate`, body);
const isSignedBy = ({ headers, body }: Received, secret: string) =>
  verifyStandardWebhook('webhook', { headers, body: Buffer.from(body) } as never, [secret], Date.now()) === 'valid';

/** Commits events of eight objects again and again until it is told to stop. */
function flood(): { stop(): Promise<number> } {
  let isOver = false;
  let rounds = 0;
  const done = (async () => {
    for (; !isOver; rounds += 1) await emit(Array.from({ length: 8 }, (_, n) => `flood-${n}`));
  })();
  return {
    async stop() {
      isOver = true;
      await done;
      return rounds * 8;
    },
  };
}

describe('a secret', () => {
  test('that is rotated signs beside the new one, and both are shown to who may change webhooks', async () => {
    const to = await receiver();
    const { id, secret } = await endpoint(to.url, { headers: { 'x-kept': 'value' } });
    const own = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    const { status, body } = await rotate(id, { secret: own });
    expect([status, body]).toEqual([
      200,
      {
        secret: own,
        secrets: [
          { secret: own, expires_at: null },
          { secret, expires_at: expect.any(String) },
        ],
      },
    ]);
    expect((await secretsOf(id)).body).toEqual(body);
    await api('PUT', `/webhooks/endpoints/${id}`, { description: 'changed', headers: { 'x-kept': '•••' } });
    await emit(['rotated']);
    await until(() => to.received.length).toBe(1);
    for (const each of [own, secret]) expectSigned(to.received[0]!, each);
    expect(to.received[0]?.headers).toMatchObject({ 'x-kept': 'value' });

    expect((await rotate(id, { secret })).body.message).toContain('secrets that sign already');
    const third = (await rotate(id)).body.secret;
    const refused = await rotate(id);
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
    expect(refused.body.message).toContain('3 secrets sign at present');
    const { body: kept } = await secretsOf(id);
    expect(kept.secrets.map((each) => each.secret)).toEqual([third, own, secret]);
    const { body: last } = await rotate(id, { expire_old_now: true });
    expect(last.secrets).toEqual([{ secret: last.secret, expires_at: null }]);
    expect(
      await rows(`select detail from audit_entry where object_id = $1 and action = 'secret rotated' order by id`, [id]),
    ).toEqual([false, false, true].map((expire_old_now) => ({ detail: { expire_old_now } })));
    await remove(id);
  });

  test('that is replaced signs what the answer says from the answer on, and no event is lost by it', async () => {
    const to = await receiver();
    const { id, secret } = await endpoint(to.url);
    const events = flood();
    const signersOf = (from: number, secrets: string[]) =>
      to.received.slice(from + 8).map((each) => secrets.map((by) => isSignedBy(each, by)));
    await until(() => to.received.length).toBeGreaterThan(100);
    const { body: beside } = await rotate(id);
    const withBoth = to.received.length;
    await until(() => to.received.length).toBeGreaterThan(withBoth + 50);
    for (const signs of signersOf(withBoth, [secret, beside.secret])) expect(signs).toEqual([true, true]);
    const { body } = await rotate(id, { expire_old_now: true });
    const withLast = to.received.length;
    await until(() => to.received.length).toBeGreaterThan(withLast + 50);
    const sent = await events.stop();
    await until(() => to.received.length).toBeGreaterThanOrEqual(sent);
    for (const signs of signersOf(withLast, [secret, beside.secret, body.secret]))
      expect(signs).toEqual([false, false, true]);
    for (const each of to.received) expect(isSignedBy(each, secret) || isSignedBy(each, body.secret)).toBe(true);
    expectNoGap(to.received);
    await remove(id);
  });
});

describe('a test event', () => {
  const headersOfObjects = ({ headers }: Received) =>
    Object.keys(headers).filter((name) => /^webhook-(?!id$|timestamp$|signature$)/.test(name));

  test('is an example that is sent signed and without an object, also to a disabled endpoint', async () => {
    const to = await receiver();
    const { id, secret } = await endpoint(to.url, { enabled: false, headers: { 'x-kept': 'value' } });
    const answer = await ask(id, 'invoice.update.finalized');
    expect([answer.status, answer.body]).toEqual([202, { delivery_id: expect.stringMatching(/^test_/) }]);
    await until(() => to.received.length).toBe(1);
    const [test] = to.received;
    expectSigned(test!, secret);
    expect([test?.id, test?.headers['x-kept'], headersOfObjects(test!)]).toEqual([
      answer.body.delivery_id,
      'value',
      [],
    ]);
    expect(JSON.parse(test!.body)).toMatchObject({
      event_type: 'invoice.update.finalized',
      invoice: { id: expect.any(String) },
    });
    await remove(id);
  });

  test('changes nothing of what the endpoint gets, however it is answered', async () => {
    const to = await receiver(({ id }, response) => void response.writeHead(id.startsWith('test_') ? 410 : 200).end());
    const { id } = await endpoint(to.url);
    await ask(id, 'customer.created');
    await until(() => rows('select failure from webhook_test where endpoint_id = $1', [id])).toEqual([
      { failure: 'answered 410' },
    ]);
    await emit(['after-test', 'after-test']);
    await until(() => to.firstOf('after-test').length).toBe(2);
    expectNoGap(to.firstOf('after-test'));
    expect((await api('GET', `/webhooks/endpoints/${id}`)).body.enabled).toBe(true);
    expect(to.received.filter((each) => each.id.startsWith('test_'))).toHaveLength(1);
    await remove(id);
  });

  test('of a type that is never sent, of no type, or of no endpoint is refused', async () => {
    const { id } = await endpoint('http://127.0.0.1:9/hook', { enabled: false });
    for (const type of ['event.unmatched', 'payment.sucess', '']) {
      const { status, body } = await ask(id, type);
      expect([status, body.code]).toEqual([400, 'validation_error']);
      expect(body.message).toContain('event_type');
    }
    expect(await rows('select from webhook_test where endpoint_id = $1', [id])).toEqual([]);
    expect((await ask('wep_unknown', 'customer.created')).status).toBe(404);
    await remove(id);
    expect((await ask(id, 'customer.created')).status).toBe(404);
  });
});

test('an endpoint with a rate limit has no more requests begin within a second, and gets everything in order', async () => {
  const to = await receiver();
  const { id } = await endpoint(to.url, { rate_limit: 6 });
  await emit(Array.from({ length: 15 }, (_, n) => `paced-${n % 4}`));
  await until(() => to.received.length).toBe(15);
  expectNoGap(to.received);
  const perSecond = Map.groupBy(to.received, ({ headers }) => headers['webhook-timestamp']);
  for (const requests of perSecond.values()) expect(requests.length).toBeLessThanOrEqual(6);
  const { body } = await api('PUT', `/webhooks/endpoints/${id}`, { rate_limit: 0 });
  expect(body.rate_limit).toBeNull();
  await emit(Array.from({ length: 60 }, () => 'unpaced'));
  await until(() => to.received.length).toBe(75);
  await remove(id);
});

test('the statistics of an endpoint tell how its receiver answered and how old its oldest event is', async () => {
  const to = await receiver(status(500));
  const { id } = await endpoint(to.url, { on_exhausted: 'hold' });
  const statistics = async () =>
    (await api<{ statistics: Record<string, unknown> }>('GET', `/webhooks/endpoints/${id}`)).body.statistics;
  await emit(['counted', 'counted']);
  await until(statistics).toMatchObject({
    last_received_at: null,
    last_failed_at: expect.any(String),
    last_failure: 'answered 500',
  });
  const [first] = await rows<{ created_at: string }>(
    `select created_at from outbox_event where entity_id = 'counted' and sequence = 1`,
  );
  expect(Date.parse(String((await statistics()).oldest_undelivered_at))).toBe(Date.parse(first?.created_at ?? ''));
  await api('PUT', `/webhooks/endpoints/${id}`, { enabled: false });
  to.answer(status(200));
  const { body } = await api('POST', `/webhooks/endpoints/${id}/test`, { event_type: 'customer.created' });
  const sent = { event_type: 'customer.created', sent_at: expect.any(String), failure: null };
  await until(statistics).toMatchObject({ last_test: { delivery_id: body.delivery_id, ...sent } });
  await api('PUT', `/webhooks/endpoints/${id}`, { enabled: true, resume_from: 'now' });
  await emit(['counted']);
  await until(statistics).toMatchObject({ oldest_undelivered_at: null, last_received_at: expect.any(String) });
  const kept = await rows<{ error: string | null }>(
    `update webhook_delivery set duration_ms = 7, attempted_at = (
       select e.created_at + interval '5 ms' from outbox_event e where e.id = event_id) where endpoint_id = $1 returning error`,
    [id],
  );
  const received = kept.filter(({ error }) => error === null).length;
  expect(received).toBeGreaterThan(0);
  expect(received).toBeLessThan(kept.length);
  expect((await statistics()).last_day).toEqual({
    attempts: kept.length,
    received,
    success_rate: received / kept.length,
    latency_p95_ms: 7,
    lag_p95_ms: 12,
  });
  await remove(id);
});

describe('a tenant', () => {
  const { database } = world.base;
  const change = (text: string, id: string) => inSqlTransaction(database, systemScope, (tx) => tx.rows(text, [id]));

  /** Another tenant with an endpoint, and how its events come about. */
  async function other(url: string) {
    const sandbox = await createSandbox(database, { tenantName: 'Other' });
    const scope = workflowScope(sandbox);
    const headers = { 'x-api-key': sandbox.apiKey };
    const { body } = await api('POST', '/webhooks/endpoints', { url }, headers);
    const path = `/webhooks/endpoints/${body.id}`;
    return {
      scope,
      call: (method: 'POST' | 'PUT' | 'GET' | 'DELETE', more: string, sent?: object) =>
        api(method, `${path}${more}`, sent, headers),
      emit: (object: string) => inSqlTransaction(database, scope, (tx) => writeEvents(tx, scope, [toldPhase(object)])),
      cursor: () =>
        inSqlTransaction(database, scope, (tx) =>
          tx.rows('select owner is not null as is_served from webhook_cursor where endpoint_id = $1', [body.id]),
        ),
    };
  }

  test('that is suspended has its events sent, and can neither change nor test its endpoints', async () => {
    const to = await receiver();
    const { scope, call, emit: emitTheirs } = await other(to.url);
    await change(`update tenant set state = 'suspended' where id = $1`, scope.tenantId);
    await until(async () => (await call('PUT', '', { description: 'changed' })).status).toBe(403);
    expect((await call('POST', '/test', { event_type: 'customer.created' })).status).toBe(403);
    expect((await call('POST', '/secret/rotate', {})).status).toBe(403);
    expect((await call('GET', '')).status).toBe(200);
    await emitTheirs('suspended');
    await until(() => to.received.map(({ object }) => object)).toEqual(['suspended']);
    await change(`update tenant set state = 'active' where id = $1`, scope.tenantId);
    await until(async () => (await call('DELETE', '')).status).toBe(204);
  });

  test.each([
    ['environment', 'environmentId'],
    ['tenant', 'tenantId'],
  ] as const)(
    'whose %s is archived gets nothing, and goes on at its place should it come back',
    async (table, member) => {
      const [to, beside] = [await receiver(), await receiver()];
      const { scope, call, emit: emitTheirs, cursor } = await other(to.url);
      const { id } = await endpoint(beside.url);
      await emitTheirs('archived');
      await until(() => to.received.length).toBe(1);
      await change(`update ${table} set status = 'archived' where id = $1`, scope[member]);
      await until(cursor).toEqual([{ is_served: false }]);
      await emitTheirs('archived');
      await emit(['beside']);
      await until(() => beside.received.length).toBe(1);
      expect(to.received).toHaveLength(1);
      await change(`update ${table} set status = 'published' where id = $1`, scope[member]);
      await until(() => to.received.map(({ sequence, previous }) => [sequence, previous])).toEqual([
        [1, 0],
        [2, 1],
      ]);
      await remove(id);
      await until(async () => (await call('DELETE', '')).status).toBe(204);
    },
  );
});

test('a test event is sent by another worker when the first one ends in the middle, and ten wait at most', async () => {
  await workers.stop();
  const to = await receiver(() => undefined);
  const { id } = await endpoint(to.url, { enabled: false });
  const answers: Awaited<ReturnType<typeof ask>>[] = [];
  for (let n = 0; n < 11; n += 1) answers.push(await ask(id, 'customer.created'));
  expect(answers.map((each) => each.status)).toEqual([...Array(10).fill(202), 400]);
  expect(answers[10]?.body.message).toContain('10 test events wait');
  const first = await work();
  await until(() => to.received.length).toBe(8);
  await first.stop();
  to.answer(status(200));
  const second = await work();
  await until(() => new Set(to.received.map((each) => each.id)).size).toBe(10);
  await until(() => rows('select from webhook_test where endpoint_id = $1 and sent_at is null', [id])).toEqual([]);
  await remove(id);
  await second.stop();
});
