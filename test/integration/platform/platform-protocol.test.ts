import { type AddressInfo, connect } from 'node:net';
import { Writable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../../api/app.ts';
import { testApi } from '../../support/api.ts';

const lines: string[] = [];
const stream = new Writable({
  write(chunk, _encoding, done) {
    lines.push(String(chunk));
    done();
  },
});
const { app, call, apiKey } = await testApi({ logger: { level: 'trace', stream } });

const raw = (payload: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  app.inject({ method: 'POST', url: '/v1/customers', headers: { 'x-api-key': apiKey, ...headers }, payload });

describe('paths', () => {
  it.each([
    ['GET', '/v1/nothing'],
    ['GET', '/nothing'],
    ['DELETE', '/v1/customers'],
    ['POST', '/v1/customers/x'],
  ] as const)('%s %s is unknown, with and without a key', async (method, path) => {
    for (const key of [apiKey, null]) {
      const { status, body } = await call(method, path, { apiKey: key, body: method === 'POST' ? {} : undefined });
      expect([status, body.code, body.success]).toEqual([404, 'not_found', false]);
    }
  });

  it('begin at the reference: / leads there, with and without a key', async () => {
    for (const headers of [{}, { 'x-api-key': apiKey }]) {
      const answer = await app.inject({ method: 'GET', url: '/', headers });
      expect([answer.statusCode, answer.headers.location]).toEqual([302, '/reference']);
    }
    const page = await app.inject({ method: 'GET', url: '/reference/' });
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html')]);
  });

  it('that are unknown are so before the body is looked at', async () => {
    const headers = { 'content-type': 'application/json' };
    const answer = await app.inject({ method: 'POST', url: '/v1/nothing', headers, payload: '{' });
    expect(answer.statusCode).toBe(404);
  });

  it('that are no HTTP answer in the same form', async () => {
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    socket.end('NONSENSE\r\n\r\n');
    const answer = await readText(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 'validation_error', success: false });
  });

  it('that are no URL answer in the same form', async () => {
    const answer = await app.inject({ method: 'GET', url: '/v1/customers/%E0%A4%A' });
    expect([answer.statusCode, answer.json().code]).toEqual([400, 'validation_error']);
  });
});

describe('bodies', () => {
  it.each([
    ['malformed', '{"a":'],
    ['NUL', '{"external_id":"a\\u0000","name":"x"}'],
    ['a prototype', '{"__proto__":{"x":1},"external_id":"p","name":"x"}'],
    ['empty', ''],
    ['not an object', '[]'],
    ['too deep', `{"metadata":${'['.repeat(70)}${']'.repeat(70)}}`],
  ])('that are %s are refused', async (_name, payload) => {
    const answer = await raw(payload);
    expect([answer.statusCode, answer.json().code]).toEqual([400, 'validation_error']);
  });

  it('that are too large or no JSON are refused with 400', async () => {
    const large = await raw(JSON.stringify({ external_id: 'l', name: 'x'.repeat(5 * 1024 * 1024) }));
    expect([large.statusCode, large.json().code]).toEqual([400, 'validation_error']);
    const form = await raw('a=b', { 'content-type': 'application/x-www-form-urlencoded' });
    expect([form.statusCode, form.json().code]).toEqual([400, 'validation_error']);
  });

  it('name the first failing field by its path and map all of them', async () => {
    const body = {
      filters: [{ field: 'name', operator: 'eq', data_type: 'string', value: { string: 7 } }],
      limit: 'x',
    };
    const { body: refused } = await call('POST', '/v1/customers/search', { body });
    expect(Object.keys(refused.details.fields).sort()).toEqual(['filters[0].value.string', 'limit']);
  });
});

describe('headers', () => {
  it('echo a well-formed request id and replace another', async () => {
    const given = await call('GET', '/v1/customers', { headers: { 'x-request-id': 'abc-1.2_3' } });
    expect(given.headers['x-request-id']).toBe('abc-1.2_3');
    const bad = await call('GET', '/v1/customers', { headers: { 'x-request-id': 'bad id' } });
    expect(bad.headers['x-request-id']).toMatch(/^[0-9A-Z]{26}$/);
  });

  it('secure every answer, errors included', async () => {
    for (const path of ['/v1/customers', '/v1/nothing', '/health']) {
      expect((await call('GET', path)).headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
        'permissions-policy': expect.stringContaining('camera=()'),
      });
    }
    expect((await call('GET', '/v1/customers')).headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('allow any origin without credentials', async () => {
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
    const answer = await app.inject({ method: 'OPTIONS', url: '/v1/customers', headers });
    expect(answer.statusCode).toBe(204);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    expect(String(answer.headers['access-control-allow-headers'])).toContain('Idempotency-Key');
  });
});

describe('health, metrics and the reference', () => {
  it('answer without a key', async () => {
    for (const path of ['/health', '/v1/health']) {
      expect(await call('GET', path, { apiKey: null })).toMatchObject({ status: 200, body: { status: 'ok' } });
      expect((await call('POST', path, { apiKey: null })).status).toBe(200);
    }
    const ready = await call('GET', '/ready', { apiKey: null });
    expect(ready.status).toBe(503);
    expect(ready.body).toEqual({ status: 'unavailable', database: 'ok', workflow_engine: 'unavailable' });
    const metrics = await app.inject('/metrics');
    expect(metrics.body).toContain('perennial_http_request_duration_seconds_bucket');
    expect(metrics.body).toContain('route="/v1/customers"');
    expect(metrics.body).toContain('perennial_ingested_events_total');
  });

  it('the reference page loads nothing from elsewhere', async () => {
    const page = await app.inject({ url: '/reference/', headers: { accept: 'text/html' } });
    expect(page.statusCode).toBe(200);
    const sources = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(sources.length).toBeGreaterThan(0);
    // Neither a way to other services nor tools for whoever designs the page.
    expect(page.body).toMatch(/"mcp":\s*\{\s*"disabled":\s*true/);
    expect(page.body).toMatch(/"showDeveloperTools":\s*"never"/);
    for (const source of sources) expect(source).not.toMatch(/^(https?:)?\/\//);
    const document = await app.inject('/openapi.json');
    expect(document.json().paths['/v1/customers'].post.operationId).toBe('createCustomer');
  });
});

describe('limits', () => {
  it('refuse what comes too fast, with Retry-After, but never a health check', async () => {
    const dependencies = { ...app.dependencies, logger: false as const };
    const limited = await buildApp({ ...dependencies, config: { ...dependencies.config, rateLimitPerSecond: 1 } });
    afterAll(() => limited.close());
    const ask = (path: string) => limited.inject({ url: path, headers: { 'x-api-key': apiKey } });
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 4; attempt += 1) statuses.push((await ask('/v1/users/me')).statusCode);
    expect(statuses.slice(0, 2)).toEqual([200, 200]);
    const refused = await ask('/v1/users/me');
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toMatchObject({ code: 'too_many_requests', http_status_code: 429, success: false });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    for (let attempt = 0; attempt < 5; attempt += 1) expect((await ask('/health')).statusCode).toBe(200);
  });
});

it('a database that is away is 503, not a word about it', async () => {
  const pool = new pg.Pool({ connectionString: 'postgres://nobody:planted@127.0.0.1:1/nothing' });
  const database = { ...app.dependencies.database, pool };
  const away = await buildApp({ ...app.dependencies, database, logger: false });
  afterAll(async () => {
    await away.close();
    await pool.end();
  });
  const answer = await away.inject({ url: '/v1/customers', headers: { 'x-api-key': apiKey } });
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBe('1');
  expect(answer.json()).toMatchObject({
    code: 'service_unavailable',
    details: { context: { request_id: expect.any(String) } },
  });
  expect(answer.body).not.toContain('127.0.0.1');
  expect((await away.inject('/health')).statusCode).toBe(200);
});

describe('the log', () => {
  it('has ids and routes, and none of the secrets that passed by', async () => {
    const secret = 'planted-secret-4711';
    await call('GET', `/v1/customers?email=${secret}@x.example`, { headers: { 'x-request-id': 'logged-1' } });
    await call('GET', '/v1/customers', { apiKey: `sk_${secret}` });
    await call('GET', '/v1/customers', { headers: { authorization: `Bearer ${secret}`, cookie: secret } });
    await raw(`{"name":"${secret}",`);
    await raw(JSON.stringify({ external_id: secret, name: secret, metadata: { a: secret } }));
    await raw(JSON.stringify({ external_id: secret, name: secret, metadata: { a: secret } }));
    await call('POST', '/v1/secrets/api/keys', { body: { name: secret, type: 'private_key' } });
    const text = lines.join('');
    expect(text).toContain('"request_id":"logged-1"');
    expect(text).toContain('"route":"/v1/customers"');
    expect(text).not.toContain(secret);
    expect(text).not.toContain(apiKey);
    expect(text).not.toMatch(/"route":"[^"]*\/health"/);
  });
});
