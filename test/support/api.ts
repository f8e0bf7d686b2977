import type { FastifyInstance, InjectOptions } from 'fastify';
import { afterAll } from 'vitest';
import { buildApp } from '../../api/app.ts';
import type { AppDependencies } from '../../api/dependencies.ts';
import { connectTemporal } from '../../api/temporal.ts';
import type { InvariantId } from '../../db/check/invariant.ts';
import { paymentGateways } from '../../integrations/payment-gateway.ts';
import { openPostgresUsageStore } from '../../metering/postgres/usage-store.ts';
import { createSandbox, type Sandbox } from '../../services/platform/tenant.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { checkDocumented } from './documented.ts';
import { testPortal } from './portal.ts';
import { testSecretKeys } from './secret-keys.ts';
import { expectStrictWire } from './wire-rules.ts';

/** An answer as a test reads it. `body` is the parsed JSON, null when there is none. */
export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came over the wire
  body: any;
  headers: Record<string, string | string[] | number | undefined>;
}

export interface CallOptions {
  body?: unknown;
  /** Null sends no key. */
  apiKey?: string | null;
  headers?: Record<string, string>;
}

/** The API of one test file over a database of its own, without workflows. */
export interface TestApi extends TestDatabase {
  app: FastifyInstance;
  /** `await call('POST', '/v1/customers', { body })`, with the sandbox's key unless another is given. */
  call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, options?: CallOptions): Promise<Answer>;
  /** Another tenant in the same database. */
  otherTenant(): Promise<Sandbox>;
}

/**
 * Builds the API for this file; closed after its last test. Temporal is not there: what needs a workflow answers 503.
 * `const { call } = await testApi();`
 */
export async function testApi(
  overrides: Partial<AppDependencies> = {},
  options: { breaks?: readonly InvariantId[] } = {},
): Promise<TestApi> {
  const testDb = await testDatabase(options);
  const temporal = connectTemporal({ address: '127.0.0.1:1', namespace: 'default' });
  const metering = openPostgresUsageStore(testDb.database);
  const app = await buildApp({
    config: { rateLimitPerSecond: 0, maxEventLoopDelayMs: 0, trustProxy: false, ...testPortal, ...testSecretKeys },
    database: testDb.database,
    temporal: temporal.client,
    metering,
    gateways: paymentGateways([]),
    logger: false,
    ...overrides,
  });
  afterAll(async () => {
    await app.close();
    await metering.close();
    await temporal.close();
  });
  const call: TestApi['call'] = async (method, path, options = {}) => {
    const apiKey = options.apiKey === undefined ? testDb.apiKey : options.apiKey;
    const request: InjectOptions = {
      method,
      url: path,
      headers: { ...(apiKey === null ? {} : { 'x-api-key': apiKey }), ...options.headers },
      ...(options.body === undefined ? {} : { payload: options.body as object }),
    };
    const response = await app.inject(request);
    const isJson = String(response.headers['content-type'] ?? '').startsWith('application/json');
    const body = isJson && response.body !== '' ? response.json() : null;
    checkDocumented(method, path, response.statusCode, options.body, body);
    expectStrictWire(`${method} ${path}`, body);
    return { status: response.statusCode, body, headers: response.headers };
  };
  return { ...testDb, app, call, otherTenant: () => createSandbox(testDb.database, { tenantName: 'Other' }) };
}
