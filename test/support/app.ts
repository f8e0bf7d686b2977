import { Client, Connection } from '@temporalio/client';
import type { FastifyInstance } from 'fastify';
import { afterAll } from 'vitest';
import { usageWatchSignal } from '../../api/alert/usage-watch.ts';
import { buildApp } from '../../api/app.ts';
import type { AppDependencies } from '../../api/dependencies.ts';
import { paymentGateways } from '../../integrations/payment-gateway.ts';
import { openSandboxGateway, type SandboxGateway } from '../../integrations/sandbox-gateway/gateway.ts';
import { defaultLimits } from '../../metering/postgres/event/write-queue.ts';
import { openPostgresUsageStore } from '../../metering/postgres/usage-store.ts';
import type { TestDatabase } from './database.ts';
import { checkDocumented } from './documented.ts';
import { testPortal } from './portal.ts';
import { testSecretKeys } from './secret-keys.ts';
import type { TestTemporal } from './temporal.ts';
import { expectStrictWire } from './wire-rules.ts';

/** An answer of the API. */
export interface ApiAnswer<Body> {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  body: Body;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Calls `/v1` + path as the sandbox's API key. `headers` are added; `x-api-key: ''` calls without a key. */
export type Api = <Body = Record<string, unknown>>(
  method: Method,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<ApiAnswer<Body>>;

export interface TestApp {
  app: FastifyInstance;
  api: Api;
  gateway: SandboxGateway;
}

/** The servers of the tests themselves; everything else that is not public is refused as in production. */
export const testOutgoing = { allowedHosts: ['127.0.0.1'] };

/** Builds the API over the file's database. Without `temporal` whatever needs a workflow fails. Closed after the file. */
export async function testApp(
  base: TestDatabase,
  temporal?: TestTemporal,
  more: Pick<AppDependencies, 'providers'> = {},
): Promise<TestApp> {
  const gateway = openSandboxGateway({ url: base.applicationUrl });
  const watch = temporal ? usageWatchSignal(temporal.client) : undefined;
  const metering = openPostgresUsageStore(base.database, defaultLimits, watch);
  const app = await buildApp({
    config: { rateLimitPerSecond: 0, maxEventLoopDelayMs: 0, trustProxy: false, ...testPortal, ...testSecretKeys },
    database: base.database,
    temporal: temporal?.client ?? new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) }),
    metering,
    gateways: paymentGateways([gateway]),
    ...more,
    outgoing: testOutgoing,
    webhooks: testOutgoing,
    logger: process.env.TEST_LOG ? { level: 'error' } : false,
  });
  afterAll(async () => {
    await app.close();
    await metering.close();
    await gateway.close();
  });
  return { app, gateway, api: apiOf(app, base.apiKey) };
}

function apiOf(app: FastifyInstance, apiKey: string): Api {
  return async <Body>(method: Method, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const withoutEmpty = Object.entries({ 'x-api-key': apiKey, ...headers }).filter(([, value]) => value !== '');
    const response = await app.inject({
      method,
      url: `/v1${path}`,
      headers: Object.fromEntries(withoutEmpty),
      ...(body === undefined ? {} : { payload: body as object }),
    });
    const isJson = String(response.headers['content-type'] ?? '').includes('json');
    const answered: unknown = isJson ? response.json() : response.body;
    checkDocumented(method, `/v1${path}`, response.statusCode, body, answered);
    expectStrictWire(`${method} ${path}`, answered);
    return { status: response.statusCode, headers: response.headers, body: answered as Body };
  };
}
