import { readFileSync } from 'node:fs';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, TestRunner } from 'vitest';
import type { WebhookDependencies } from '../../activities/event/webhook/shard.ts';
import type { PaymentPages } from '../../activities/invoice/payer-page.ts';
import { createWorkers } from '../../activities/workers.ts';
import type { ProviderAdapters } from '../../integrations/provider-adapter.ts';
import { openPostgresUsageStore } from '../../metering/postgres/usage-store.ts';
import { type TestApp, testOutgoing } from './app.ts';
import type { TestDatabase } from './database.ts';
import { testPortal } from './portal.ts';
import { keptWorkflowThread } from './runtime.ts';
import { testSecretKeys } from './secret-keys.ts';
import { stopWithConnection, type TestTemporal, workflowBundle } from './temporal.ts';

const testPages: PaymentPages = { signingKeys: testPortal.portalSigningKeys, url: 'http://localhost:80' };

/** Workers that run until they are stopped, at the latest when the file ends. */
export interface TestWorkers {
  stop(): Promise<void>;
  isRunning(): boolean;
}

/** Runs the production workers against the file's database and namespace. */
export async function startWorkers(
  base: TestDatabase,
  temporal: TestTemporal,
  {
    gateway,
    providers,
    pages = testPages,
    webhooks,
    outboundEventDays,
  }: Pick<TestApp, 'gateway'> & {
    providers?: ProviderAdapters;
    pages?: PaymentPages;
    webhooks?: WebhookDependencies;
    outboundEventDays?: number | undefined;
  },
): Promise<TestWorkers> {
  const connection = await NativeConnection.connect({ address: temporal.address });
  const metering = openPostgresUsageStore(base.database);
  const workers = await createWorkers({
    connection,
    namespace: temporal.namespace,
    temporal: temporal.client,
    database: base.database,
    metering,
    gateways: new Map([[gateway.name, gateway]]),
    ...(providers ? { providers: { adapters: providers, secretKeys: testSecretKeys.secretEncryptionKeys } } : {}),
    pages,
    outgoing: testOutgoing,
    webhooks,
    outboundEventDays,
    workflowBundle: { code: readFileSync(await workflowBundle(), 'utf8') },
    workflowThread: keptWorkflowThread,
  });
  const running = workers.run();
  let stopped: Promise<void> | null = null;
  const stop = async () => {
    workers.shutdown();
    await running;
    await metering.close();
    await connection.close();
  };
  const stopOnce = () => {
    stopped ??= stop();
    return stopped;
  };
  atEnd(stopOnce);
  return { stop: stopOnce, isRunning: () => stopped === null };
}

/** A hook that is registered while a file loads is called at its end; vitest never calls one registered inside a test. */
function atEnd(stop: () => Promise<void>): void {
  if (TestRunner.getCurrentTest()) stopWithConnection(stop);
  else afterAll(stop);
}
