import { afterAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../../api/app.ts';
import type { AppDependencies } from '../../../api/dependencies.ts';
import { type SharedLimit, sharedLimit } from '../../../api/shared-limit.ts';
import { newKeyText } from '../../../services/platform/tenant.ts';
import { accountWithRoles } from '../../support/account.ts';
import { testApi } from '../../support/api.ts';

const { app, apiKey, database, scope, otherTenant } = await testApi();

/** A process of the API with these limits, over the same database. */
async function limitedApi(limits: Partial<AppDependencies['config']>) {
  const { config } = app.dependencies;
  const api = await buildApp({ ...app.dependencies, logger: false, config: { ...config, ...limits } });
  afterAll(() => api.close());
  const ask = (key: string, options: { address?: string; headers?: Record<string, string>; path?: string } = {}) =>
    api.inject({
      url: options.path ?? '/v1/users/me',
      remoteAddress: options.address ?? '192.0.2.1',
      headers: { ...(key === '' ? {} : { 'x-api-key': key }), ...options.headers },
    });
  return { api, ask };
}

const countOf = (statuses: number[], status: number) => statuses.filter((each) => each === status).length;

describe('an address', () => {
  it('that tries keys at random is refused, whatever it sends, and others are not', async () => {
    const { ask } = await limitedApi({ rateLimitPerAddressPerSecond: 20 });
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 600; attempt += 1) {
      const { statusCode } = await ask(newKeyText('private_key'), {
        headers: { 'x-forwarded-for': `198.51.100.${attempt % 250}` },
      });
      statuses.push(statusCode);
    }
    expect(countOf(statuses, 401) + countOf(statuses, 429)).toBe(600);
    expect(countOf(statuses, 429)).toBeGreaterThan(0);
    const refused = await ask('');
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toMatchObject({ code: 'too_many_requests', http_status_code: 429, success: false });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await ask(apiKey, { address: '192.0.2.2' })).statusCode).toBe(200);
    expect((await ask('', { path: '/health' })).statusCode).toBe(200);
  });

  it('does not hold up a key that was good before', async () => {
    const { ask } = await limitedApi({ rateLimitPerAddressPerSecond: 1 });
    expect((await ask(apiKey)).statusCode).toBe(200);
    const guesses = await Promise.all(Array.from({ length: 20 }, () => ask(newKeyText('private_key'))));
    expect(guesses.some(({ statusCode }) => statusCode === 429)).toBe(true);
    expect((await ask(apiKey)).statusCode).toBe(200);
    const other = await otherTenant();
    expect((await ask(other.apiKey)).statusCode).toBe(429);
  });

  it('is not counted for keys that are good', async () => {
    const { ask } = await limitedApi({ rateLimitPerAddressPerSecond: 1 });
    for (let attempt = 0; attempt < 30; attempt += 1) {
      const { apiKey: key } = await accountWithRoles(database, scope, ['all_reader']);
      expect((await ask(key)).statusCode).toBe(200);
    }
  });

  it('is the one that a trusted proxy saw, not one that the caller made up', async () => {
    const { ask } = await limitedApi({ rateLimitPerAddressPerSecond: 1, trustProxy: 1 });
    const from = (forwarded: string) => ask(newKeyText('private_key'), { headers: { 'x-forwarded-for': forwarded } });
    const statuses = [];
    for (let attempt = 0; attempt < 12; attempt += 1)
      statuses.push((await from(`203.0.113.${attempt}, 198.51.100.1`)).statusCode);
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(statuses.at(-1)).toBe(429);
    expect((await from('203.0.113.1, 198.51.100.2')).statusCode).toBe(401);
  });
});

describe('a key and its account', () => {
  it('have one share in all processes together', async () => {
    // A window that outlasts the test, however busy the machine is.
    const options = { pool: database.pool, name: newKeyText('private_key'), perSecond: 1, windowSeconds: 100 };
    const [one, two] = [sharedLimit(options), sharedLimit(options)];
    const taken = async (limit: SharedLimit, times: number) => {
      const states = await Promise.all(Array.from({ length: times }, () => limit.take('a caller')));
      await limit.report();
      return states.filter(({ waitMs }) => waitMs === 0).length;
    };
    expect(await taken(one, 120)).toBe(100);
    expect(await taken(two, 30)).toBe(30);
    expect(await taken(two, 1)).toBe(0);
    expect((await two.take('another caller')).waitMs).toBe(0);
  });

  it('are told how much is left', async () => {
    const { ask } = await limitedApi({ rateLimitPerSecond: 50 });
    const answer = await ask(apiKey);
    expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '99' });
  });

  it('are limited together over all keys of the account', async () => {
    const { ask } = await limitedApi({ rateLimitPerSecond: 100, rateLimitPerTenantPerSecond: 5 });
    const other = await otherTenant();
    const keys = await Promise.all(Array.from({ length: 4 }, () => accountWithRoles(database, scope, ['all_reader'])));
    const answers = await Promise.all(keys.flatMap(({ apiKey: key }) => Array.from({ length: 4 }, () => ask(key))));
    expect(
      countOf(
        answers.map(({ statusCode }) => statusCode),
        200,
      ),
    ).toBe(10);
    expect((await ask(other.apiKey)).statusCode).toBe(200);
  });

  it('go on by the count of the process when the database does not count', async () => {
    const away = { ...database, pool: { ...database.pool, query: () => Promise.reject(new Error('away')) } as never };
    const api = await buildApp({
      ...app.dependencies,
      logger: false,
      config: { ...app.dependencies.config, rateLimitPerAddressPerSecond: 1 },
      database: away,
    });
    afterAll(() => api.close());
    const statuses = [];
    for (let attempt = 0; attempt < 12; attempt += 1) statuses.push((await api.inject('/v1/users/me')).statusCode);
    await api.callerLimits.report();
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
  });
});
