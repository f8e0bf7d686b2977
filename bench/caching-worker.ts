import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createWorkers } from '../activities/workers.ts';
import { openDatabase } from '../db/orm.ts';
import { openPostgresUsageStore } from '../metering/postgres/usage-store.ts';

/** What the process is told as its one argument. */
export interface CachingWorker {
  kind: 'product' | 'empty';
  address: string;
  namespace: string;
  databaseUrl: string;
  /** The file of the workflow bundle. */
  codePath: string;
}

/** Entry file of the processes whose memory workflow-memory measures: one worker, told over IPC what to do. */
const options = JSON.parse(process.argv[2] ?? '{}') as CachingWorker;
const workflowBundle = { codePath: options.codePath };
const maxCachedWorkflows = 5_000;

Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
const connection = await NativeConnection.connect({ address: options.address });
const worker = options.kind === 'product' ? await productWorker() : await emptyWorker();
process.on('message', (message) => void (message === 'measure' ? measure() : worker.shutdown()));
process.on('disconnect', () => process.exit(1));
const running = worker.run();
process.send?.('ready');
await running;
process.exit(0);

async function productWorker(): Promise<{ run(): Promise<void>; shutdown(): void }> {
  const database = await openDatabase({ url: options.databaseUrl, poolSize: 10 });
  return createWorkers({
    connection,
    namespace: options.namespace,
    temporal: new Client({ connection: await Connection.connect({ address: options.address }) }),
    database,
    metering: openPostgresUsageStore(database),
    gateways: new Map(),
    workflowBundle,
    maxCachedWorkflows,
  });
}

/** The worker of the SDK as it comes, which follows every promise of a workflow; ours does not. */
async function emptyWorker(): Promise<{ run(): Promise<void>; shutdown(): void }> {
  const { namespace } = options;
  return Worker.create({ connection, namespace, taskQueue: 'lifecycle', workflowBundle, maxCachedWorkflows });
}

/** The garbage of starting goes first: what stays is what an idle workflow holds. */
async function measure(): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    globalThis.gc?.();
    await delay(200);
  }
  process.send?.(process.memoryUsage.rss());
}
