import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, inject } from 'vitest';
import { createWorkers } from '../../activities/workers.ts';
import { prepareNamespace } from '../../dev/temporal-namespace.ts';
import { connectGateways } from '../../integrations/connect.ts';
import type { PaymentGateways } from '../../integrations/payment-gateway.ts';
import { openPostgresUsageStore } from '../../metering/postgres/usage-store.ts';
import { callInterceptors } from '../../temporal-connection.ts';
import type { TestDatabase } from './database.ts';
import { keptWorkflowThread } from './runtime.ts';

/** Temporal for one test file: the run's server with a namespace of the file's own, so that files never share a queue. */
export interface TestTemporal {
  client: Client;
  address: string;
  namespace: string;
}

/** Stops of workers, called before the file's connection closes. Inside a test no hook could be registered for them. */
const onceAtTheEnd: (() => Promise<void>)[] = [];

/** Registers the stop of workers, also from inside a test: it is called before the file's connection closes. */
export function stopWithConnection(stop: () => Promise<void>): void {
  onceAtTheEnd.push(stop);
}

/** Call it at the top of a test file; the first file that does so starts the server. */
export async function testTemporal(): Promise<TestTemporal> {
  const address = await ask('/temporal');
  const namespace = `test-${randomUUID()}`;
  await prepareNamespace(address, namespace);
  const connection = await Connection.connect({ address, interceptors: callInterceptors() });
  afterAll(async () => {
    for (const stop of onceAtTheEnd.splice(0).toReversed()) await stop();
    await connection.close();
  });
  return { client: new Client({ connection, namespace }), address, namespace };
}

/** The file of the workflow bundle, which is built once a run. */
export function workflowBundle(): Promise<string> {
  return ask('/workflows');
}

export interface TestWorker {
  /** Stops it before the end of the file, as when a worker is down; `startWorker` brings another. */
  stop(): Promise<void>;
}

export interface WorkerOptions {
  /** Other gateways than the sandbox. */
  gateways?: PaymentGateways;
  timerSpreadMs?: number;
  maxCachedWorkflows?: number;
}

/** Runs the production workers of one process inside the test, on the file's database and namespace. */
export async function startWorker(
  base: TestDatabase,
  temporal: TestTemporal,
  options: WorkerOptions = {},
): Promise<TestWorker> {
  const connection = await NativeConnection.connect({ address: temporal.address });
  const metering = openPostgresUsageStore(base.database);
  const own = options.gateways ? undefined : connectGateways({ databaseUrl: base.applicationUrl });
  const workers = await createWorkers({
    connection,
    namespace: temporal.namespace,
    temporal: temporal.client,
    database: base.database,
    metering,
    gateways: options.gateways ?? own?.registry ?? new Map(),
    workflowBundle: { codePath: await workflowBundle() },
    workflowThread: keptWorkflowThread,
    timerSpreadMs: options.timerSpreadMs ?? 0,
    maxCachedWorkflows: options.maxCachedWorkflows ?? 200,
  });
  const running = workers.run();
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= (async () => {
      workers.shutdown();
      await running;
      await metering.close();
      await own?.close();
      await connection.close();
    })();
    return stopping;
  };
  stopWithConnection(stop);
  // A worker that fails by itself is an error of the file, not of nothing.
  running.catch((error: unknown) => console.error('the worker of this test file failed', error));
  return { stop };
}

async function ask(path: string): Promise<string> {
  const response = await fetch(`${inject('servers').controlUrl}${path}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`the test run could not make ${path}: ${text}`);
  return text;
}
