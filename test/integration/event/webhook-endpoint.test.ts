import { describe, expect, test } from 'vitest';
import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction, inTransaction } from '../../../db/transaction.ts';
import { rotateSecret } from '../../../services/event/webhook/endpoint.ts';
import { openEndpoint } from '../../../services/event/webhook/endpoint-secret.ts';
import { leasedEndpoints, leaseEndpoints } from '../../../services/event/webhook/lease.ts';
import { accountWithRoles } from '../../support/account.ts';
import { testApi } from '../../support/api.ts';
import { locksAreAwaited } from '../../support/locks/awaited-locks.ts';
import { testSecretKeys } from '../../support/secret-keys.ts';

const webhooks = { allowedHosts: ['hooks.test', 'localhost:9443'] };
const base = await testApi({ webhooks });
const { call, database, scope } = base;
const path = '/v1/webhooks/endpoints';
const url = 'https://hooks.test/perennial?token=in-the-url';
const create = (body: object = {}) => call('POST', path, { body: { url, ...body } });
const secretOf = async (id: string) => (await call('GET', `${path}/${id}/secret`)).body.secret as string;
const rows = (text: string, values: unknown[] = []) => inSqlTransaction(database, scope, (tx) => tx.rows(text, values));
const digest = () =>
  rows(`select (select md5(string_agg(e::text, ',' order by id)) from webhook_endpoint e) as endpoints,
    (select count(*) from webhook_cursor) as cursors, (select count(*) from webhook_filter) as filters`);

describe('an endpoint', () => {
  test('is made with what is usual, and shows its secret once', async () => {
    const { status, body, headers } = await create();
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^wep_/),
      url,
      description: '',
      event_types: [],
      enabled: true,
      headers: {},
      on_exhausted: 'skip',
      rate_limit: null,
      metadata: {},
      status: 'published',
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    expect(headers['cache-control']).toBe('no-store');
    const { secret, ...shown } = body;
    const statistics = {
      oldest_undelivered_at: null,
      last_received_at: null,
      last_failed_at: null,
      last_failure: null,
      last_day: { attempts: 0, received: 0, success_rate: null, latency_p95_ms: null, lag_p95_ms: null },
      last_test: null,
    };
    expect((await call('GET', `${path}/${body.id}`)).body).toEqual({ ...shown, statistics });
    const { body: list } = await call('GET', path);
    expect(list.items).toContainEqual(shown);
    expect(JSON.stringify(list)).not.toContain('whsec_');
    expect(await secretOf(body.id)).toBe(secret);
  });

  test('keeps a secret that the receiver has already', async () => {
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    const { body } = await create({ secret });
    expect([body.secret, await secretOf(body.id)]).toEqual([secret, secret]);
  });

  test('is changed member by member, and each change is in the audit', async () => {
    const { body: made } = await create({ event_types: ['payment.success', 'customer.created', 'payment.success'] });
    expect(made.event_types).toEqual(['customer.created', 'payment.success']);
    const more = { on_exhausted: 'hold', rate_limit: 5, metadata: { team: 'books' } };
    const change = { url: 'https://hooks.test:8443/b', description: 'Books', enabled: false, ...more };
    const { status, body } = await call('PUT', `${path}/${made.id}`, { body: change });
    expect([status, body]).toEqual([200, expect.objectContaining({ ...change, event_types: made.event_types })]);
    await call('PUT', `${path}/${made.id}`, { body: { event_types: [], description: null } });
    expect((await call('GET', `${path}/${made.id}`)).body).toMatchObject({ event_types: [], description: 'Books' });
    expect(await secretOf(made.id)).toBe(made.secret);
    const audit = await rows(`select action, detail from audit_entry where object_id = $1 order by id`, [made.id]);
    expect(audit).toEqual([
      { action: 'created', detail: {} },
      {
        action: 'updated',
        detail: { changed: ['description', 'enabled', 'metadata', 'on_exhausted', 'rate_limit', 'url'] },
      },
      { action: 'updated', detail: { changed: ['event_types'] } },
    ]);
  });

  test('is deleted once and for good, with its secrets and its place in the feed', async () => {
    const { body } = await create();
    expect((await call('DELETE', `${path}/${body.id}`)).status).toBe(204);
    for (const [method, more] of [
      ['GET', ''],
      ['GET', '/secret'],
      ['PUT', ''],
      ['DELETE', ''],
    ] as const) {
      const answer = await call(method, `${path}/${body.id}${more}`, method === 'PUT' ? { body: {} } : {});
      expect([method, answer.status, answer.body.code]).toEqual([method, 404, 'not_found']);
    }
    const left = await rows(
      `select (select count(*)::int from webhook_cursor where endpoint_id = $1) + (select count(*)::int from webhook_filter where endpoint_id = $1) as places,
        (select secret_ciphertext from webhook_endpoint where id = $1) as sealed`,
      [body.id],
    );
    expect(left).toEqual([{ places: 0, sealed: null }]);
    expect((await call('GET', path)).body.items.map(({ id }: { id: string }) => id)).not.toContain(body.id);
  });

  test('is one of 20 at most, however many are made at once', async () => {
    const other = await base.otherTenant();
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => call('POST', path, { body: { url }, apiKey: other.apiKey })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    const refused = answers.find(({ status }) => status !== 201);
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
    expect(refused?.body.message).toContain('20 webhook endpoints at most');
  });

  test('is made once for one Idempotency-Key, and its secret is not shown again', async () => {
    const headers = { 'idempotency-key': 'one-endpoint' };
    const first = await call('POST', path, { body: { url, description: 'once' }, headers });
    const second = await call('POST', path, { body: { url, description: 'once' }, headers });
    expect([first.status, second.status]).toEqual([201, 409]);
    const { body } = await call('GET', path);
    expect(body.items.filter(({ description }: { description: string }) => description === 'once')).toHaveLength(1);
  });
});

describe('secrets', () => {
  test('of headers are masked, kept where the mask is sent back, and sealed with the signing secret', async () => {
    const { body } = await create({ headers: { Authorization: 'Bearer planted-1', 'X-Team': 'planted-2' } });
    const masked = { authorization: '•••', 'x-team': '•••' };
    expect(body.headers).toEqual(masked);
    const { body: kept } = await call('PUT', `${path}/${body.id}`, { body: { headers: masked, description: 'x' } });
    expect(kept.headers).toEqual(masked);
    const { body: fewer } = await call('PUT', `${path}/${body.id}`, { body: { headers: { 'x-team': '•••' } } });
    expect(fewer.headers).toEqual({ 'x-team': '•••' });
    const stored = await rows('select e::text as text, secret_ciphertext from webhook_endpoint e where id = $1', [
      body.id,
    ]);
    const all = `${JSON.stringify(stored)} ${(stored[0] as { secret_ciphertext: Buffer }).secret_ciphertext.toString('latin1')}`;
    for (const planted of ['planted-1', 'planted-2', body.secret.slice(6)]) expect(all).not.toContain(planted);
  });

  test('cannot be kept without a key to seal them with', async () => {
    const bare = await testApi({
      webhooks,
      config: {
        rateLimitPerSecond: 0,
        maxEventLoopDelayMs: 0,
        trustProxy: false,
        portalSigningKeys: [],
        portalUrl: '',
      },
    } as never);
    const { status, body } = await bare.call('POST', path, { body: { url } });
    expect([status, body.code]).toEqual([501, 'not_implemented']);
    expect((await bare.call('GET', path)).body.items).toEqual([]);
  });

  test('that are rotated while a worker takes the endpoint up are the ones it signs with', async () => {
    const { id } = (await create()).body;
    const keys = testSecretKeys.secretEncryptionKeys;
    const change = { secret: undefined, expireOldNow: true };
    const lease = (owner: string) =>
      inSqlTransaction(database, systemScope, async (tx) => {
        const shard = { shard: 0, shards: 1 };
        await leaseEndpoints(tx, { owner, shard, leaseMs: 60_000, all: true, prolong: false });
        const { endpoints } = await leasedEndpoints(tx, owner, shard, '');
        return openEndpoint(keys, endpoints!.find((each) => each.id === id)!).secret;
      });
    const rotated = await inTransaction(database, scope, async (tx) => {
      const { isServed, secrets } = await rotateSecret(tx, keys, id, change);
      const seen = lease('worker');
      expect(await locksAreAwaited(base)).toBe(true);
      return { isServed, secret: secrets[0]?.secret, seen };
    });
    expect(rotated.isServed).toBe(false);
    expect(await rotated.seen).toBe(rotated.secret);
    const again = await inTransaction(database, scope, (tx) => rotateSecret(tx, keys, id, change));
    expect(again.isServed).toBe(true);
  });

  test('are shown to who may change webhooks, not to who may read them', async () => {
    const { body } = await create();
    const { apiKey: reader } = await accountWithRoles(database, scope, ['all_reader']);
    expect((await call('GET', `${path}/${body.id}`, { apiKey: reader })).status).toBe(200);
    for (const [method, more] of [
      ['GET', '/secret'],
      ['POST', '/secret/rotate'],
      ['PUT', ''],
      ['DELETE', ''],
    ] as const) {
      const answer = await call(method, `${path}/${body.id}${more}`, {
        apiKey: reader,
        ...((method === 'PUT' || method === 'POST') && { body: {} }),
      });
      expect([method, answer.status, answer.body.code]).toEqual([method, 403, 'permission_denied']);
    }
    expect((await call('POST', path, { body: { url }, apiKey: reader })).status).toBe(403);
  });
});

describe('what is refused changes nothing', () => {
  test.each([
    [{ url: 'http://example.com/' }, 'url must be an https address'],
    [{ url: 'ftp://hooks.test' }, 'url must be an https address'],
    [{ url: 'hooks' }, 'url must be an https address'],
    [{ url: 'https://127.0.0.1/' }, 'url leads to an address that is not public'],
    [{ url: 'https://[::ffff:10.0.0.1]/' }, 'url leads to an address that is not public'],
    [{ url: 'https://[64:ff9b::a00:1]/' }, 'url leads to an address that is not public'],
    [{ url: 'https://169.254.169.254/latest' }, 'url leads to an address that is not public'],
    [{ url: 'https://localhost/' }, 'url leads to an address that is not public'],
    [{ url: 'https://u:p@hooks.test/' }, 'url must not carry credentials'],
    [{ url: 'https://hooks.test/#part' }, 'url must not have a fragment'],
    [{ url: 'https://example.com:25/' }, 'url must have port 443'],
    [{ url: `https://hooks.test/${'a'.repeat(2_048)}` }, 'url must have at most 2048 characters'],
    [{ event_types: ['payment.sucess'] }, 'event_types'],
    [{ on_exhausted: 'drop' }, 'on_exhausted'],
    [{ headers: { Host: 'x' } }, 'headers.host is set by the sender'],
    [{ headers: { 'Content-Type': 'x' } }, 'headers.content-type is set by the sender'],
    [{ headers: { 'Webhook-Id': 'x' } }, 'headers.webhook-id is set by the sender'],
    [{ headers: { 'svix-signature': 'x' } }, 'headers.svix-signature is set by the sender'],
    [{ headers: { 'X-Forwarded-For': 'x' } }, 'headers.x-forwarded-for is set by the sender'],
    [{ headers: { Cookie: 'x' } }, 'headers.cookie is set by the sender'],
    [{ headers: { 'x-a': 'a\r\nx-b: c' } }, 'headers.x-a must be 1 to 4096 visible characters'],
    [{ headers: { 'x a': 'a' } }, 'headers must have names of HTTP headers'],
    [{ headers: { 'x-a': '' } }, 'headers.x-a must be 1 to 4096 visible characters'],
    [{ headers: { 'x-a': '1', 'X-A': '2' } }, 'headers.x-a must be sent once'],
    [{ headers: { 'x-new': '•••' } }, 'headers.x-new has no value yet'],
    [{ rate_limit: -1 }, 'rate_limit'],
    [{ rate_limit: 1.5 }, 'rate_limit'],
    [{ rate_limit: 1_001 }, 'rate_limit'],
    [{ resume_from: 'now' }, 'resume_from'],
    [{ metadata: { '': 'x' } }, 'metadata'],
    [{ metadata: { team: 5 } }, 'metadata'],
  ])('%j', async (member, message) => {
    const { body: made } = await create({ headers: { 'x-kept': 'value' } });
    const before = await digest();
    for (const answer of [await create(member), await call('PUT', `${path}/${made.id}`, { body: member })]) {
      expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
      expect(answer.body.message).toContain(message);
    }
    expect(await digest()).toEqual(before);
    await call('DELETE', `${path}/${made.id}`);
  });

  test.each([
    'whsec_',
    'whsec_c2hvcnQ=',
    `whsec_${Buffer.alloc(65).toString('base64')}`,
    'secret',
    `${Buffer.alloc(32).toString('base64')}`,
  ])('the secret %s', async (secret) => {
    const before = await digest();
    const { status, body } = await create({ secret });
    expect([status, body.code]).toEqual([400, 'validation_error']);
    expect(body.message).toContain('base64 of 24 to 64 bytes');
    expect(await digest()).toEqual(before);
  });

  test.each([
    ['yesterday', 'start must be now, beginning or an RFC 3339 timestamp'],
    ['2026-01-31', 'start must be now, beginning or an RFC 3339 timestamp'],
    [new Date(Date.now() + 60_000).toISOString(), 'start must not be later than now'],
    [new Date(Date.now() - 31 * 86_400_000).toISOString(), 'start must be at most 30 days ago'],
  ])('a start at %s', async (start, message) => {
    const before = await digest();
    const { status, body } = await create({ start });
    expect([status, body.code]).toEqual([400, 'validation_error']);
    expect(body.message).toContain(message);
    expect(await digest()).toEqual(before);
  });

  test.each([
    [{ secret: 'short' }, 'base64 of 24 to 64 bytes'],
    [{ expire_old_now: 'yes' }, 'expire_old_now'],
    [{ expires: 'now' }, 'expires'],
  ])('a rotation by %j', async (change, message) => {
    const { body: made } = await create();
    const { status, body } = await call('POST', `${path}/${made.id}/secret/rotate`, { body: change });
    expect([status, body.code]).toEqual([400, 'validation_error']);
    expect(body.message).toContain(message);
    expect(await secretOf(made.id)).toBe(made.secret);
    await call('DELETE', `${path}/${made.id}`);
  });

  test('a host that is not known, and none of what was refused is told of another tenant', async () => {
    const { status, body } = await create({ url: 'https://no-such-host.invalid/' });
    expect([status, body.message]).toEqual([400, 'url has a host that is not known']);
    const { body: made } = await create();
    const other = await base.otherTenant();
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const options = { apiKey: other.apiKey, ...(method === 'PUT' ? { body: { enabled: false } } : {}) };
      expect((await call(method, `${path}/${made.id}`, options)).status).toBe(404);
    }
    expect((await call('GET', `${path}/${made.id}/secret`, { apiKey: other.apiKey })).status).toBe(404);
    expect((await call('GET', `${path}/${made.id}`)).body.enabled).toBe(true);
  });
});
