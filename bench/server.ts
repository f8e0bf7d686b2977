import { chmodSync, mkdtempSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApp } from '../api/app.ts';
import { connectTemporal } from '../api/temporal.ts';
import { type Database, openDatabase } from '../db/orm.ts';
import { prepareDatabase } from '../db/prepare.ts';
import { freePort } from '../dev/ports.ts';
import { startPostgres } from '../dev/postgres.ts';
import { removeDirectory } from '../dev/postgres-account.ts';
import { providerAdapters } from '../integrations/connect.ts';
import { openPostgresUsageStore } from '../metering/postgres/usage-store.ts';
import type { UsageStore } from '../metering/usage-store.ts';
import { createSandbox, type Sandbox } from '../services/platform/tenant.ts';

/** The API on a PostgreSQL of its own, listening on loopback. */
export interface BenchServer {
  database: Database;
  store: UsageStore;
  sandbox: Sandbox;
  ownerUrl: string;
  port: number;
  stop(): Promise<void>;
}

// design: quality.md PostgreSQL settings for benches
export const benchSettings = {
  shared_buffers: '4GB',
  effective_cache_size: '14GB',
  work_mem: '64MB',
  max_wal_size: '8GB',
  synchronous_commit: 'on',
  fsync: 'on',
};

/**
 * Starts everything a bench of the API needs; Temporal is not there, so only records and streams work. `stripeUrl` is the address of a server
 * that plays Stripe.
 */
export async function startBenchServer({ stripeUrl }: { stripeUrl?: string } = {}): Promise<BenchServer> {
  const directory = mkdtempSync(join(tmpdir(), 'perennial-bench-'));
  chmodSync(directory, 0o711);
  const postgres = await startPostgres({
    directory: join(directory, 'postgres'),
    port: await freePort(),
    password: 'bench',
    logFile: join(directory, 'postgres.log'),
    settings: benchSettings,
  });
  const ownerUrl = postgres.url('perennial');
  const { applicationUrl } = await prepareDatabase({ ownerUrl, applicationPassword: 'bench' });
  const database = await openDatabase({ url: applicationUrl, poolSize: 10 });
  const sandbox = await createSandbox(database, { tenantName: 'Bench' });
  const store = openPostgresUsageStore(database);
  const temporal = connectTemporal({ address: '127.0.0.1:1', connectTimeout: '200ms', namespace: 'default' });
  const app = await buildApp({
    config: {
      rateLimitPerSecond: 0,
      maxEventLoopDelayMs: 0,
      trustProxy: false,
      secretEncryptionKeys: [{ id: 'bench', key: 'b0'.repeat(32) }],
    },
    providers: providerAdapters({ stripe: stripeUrl }),
    database,
    temporal: temporal.client,
    metering: store,
    gateways: new Map(),
    logger: false,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    database,
    store,
    sandbox,
    ownerUrl,
    port: (app.server.address() as AddressInfo).port,
    async stop() {
      await app.close();
      await store.close();
      await temporal.close();
      await database.close();
      await postgres.stop();
      removeDirectory(directory);
    },
  };
}
