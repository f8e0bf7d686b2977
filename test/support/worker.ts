import { readFileSync } from 'node:fs';
import { NativeConnection } from '@temporalio/worker';
import { afterAll } from 'vitest';
import { createWorkers } from '../../activities/workers.ts';
import { openPostgresUsageStore } from '../../metering/postgres/usage-store.ts';
import type { TestApp } from './app.ts';
import type { TestDatabase } from './database.ts';
import { type TestTemporal, workflowBundle } from './temporal.ts';

/** Runs the production workers against the file's database and namespace until the file ends. */
export async function startWorkers(
  base: TestDatabase,
  temporal: TestTemporal,
  { gateway }: Pick<TestApp, 'gateway'>,
): Promise<void> {
  const connection = await NativeConnection.connect({ address: temporal.address });
  const metering = openPostgresUsageStore(base.database);
  const workers = await createWorkers({
    connection,
    namespace: temporal.namespace,
    temporal: temporal.client,
    database: base.database,
    metering,
    gateways: new Map([[gateway.name, gateway]]),
    workflowBundle: { code: readFileSync(await workflowBundle(), 'utf8') },
  });
  const running = workers.run();
  afterAll(async () => {
    workers.shutdown();
    await running;
    await metering.close();
    await connection.close();
  });
}
