import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import type { FastifyInstance } from 'fastify';
import { checkInvariants } from '../activities/check/check.ts';
import { createWorkers, type WorkerDependencies } from '../activities/workers.ts';
import { bundleWorkflows } from '../activities/workflow-bundle.ts';
import { usageWatchSignal } from '../api/alert/usage-watch.ts';
import { buildApp } from '../api/app.ts';
import { type Database, openDatabase } from '../db/orm.ts';
import { applicationRole, prepareDatabase } from '../db/prepare.ts';
import type { Scope } from '../db/scope.ts';
import { freePort } from '../dev/ports.ts';
import { type RunningPostgres, startPostgres } from '../dev/postgres.ts';
import { removeDirectory } from '../dev/postgres-account.ts';
import type { RunningProgram } from '../dev/processes.ts';
import { temporalCli } from '../dev/temporal-binary.ts';
import { prepareNamespace } from '../dev/temporal-namespace.ts';
import { startTemporal } from '../dev/temporal-server.ts';
import { paymentGateways } from '../integrations/payment-gateway.ts';
import { openSandboxGateway, type SandboxGateway } from '../integrations/sandbox-gateway/gateway.ts';
import { sandboxOperator } from '../integrations/sandbox-gateway/operator.ts';
import { installSandboxGateway, openSandboxStore } from '../integrations/sandbox-gateway/store.ts';
import { feedRound } from '../metering/clickhouse/feed.ts';
import { openUsageStore } from '../metering/open-usage-store.ts';
import type { UsageStore } from '../metering/usage-store.ts';
import { createSandbox, type Sandbox } from '../services/platform/tenant.ts';
import { callInterceptors } from '../temporal-connection.ts';
import { fileServerHost } from './ingest/file-server.ts';
import { benchSettings } from './server.ts';

/** Keys that sign the pages of a bench. */
export const benchSigningKeys = ['a-key-for-the-pages-of-benches-and-recordings'];

const benchOutgoing = { allowedHosts: [fileServerHost] };

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** A database of its own with a sandbox tenant, and the API over it. Without Temporal only records and streams work. */
export interface BenchDatabase {
  database: Database;
  applicationUrl: string;
  ownerUrl: string;
  sandbox: Sandbox;
  scope: Scope;
  metering: UsageStore;
  gateway: SandboxGateway;
  postgres: RunningPostgres;
  /** Calls `/v1` + path, which must succeed, and returns the body. */
  api<Body = { id: string }>(method: Method, path: string, body?: unknown): Promise<Body>;
  /** Lets ClickHouse take in what was appended, where CLICKHOUSE_URL names one. */
  fed(): Promise<void>;
  /** Fails unless every invariant of quality.md holds. */
  checkInvariants(): Promise<void>;
}

/** A whole Perennial in this process, on a PostgreSQL and a Temporal of its own. */
export interface BenchPlatform extends BenchDatabase {
  temporal: Client;
  temporalServer: { address: string; program: RunningProgram };
  connection: NativeConnection;
  namespace: string;
  bundle: { code: string };
  /** Runs the production workers; there are none before. The answer stops them. */
  startWorkers(options?: Partial<WorkerDependencies>): Promise<() => Promise<void>>;
}

/** Runs `work` with a database of its own and takes everything down afterwards, also when it fails. */
export function withBenchDatabase<T>(work: (base: BenchDatabase) => Promise<T>): Promise<T> {
  return withClosing(async (onClose) => work(await openBenchDatabase(onClose)));
}

/** Runs `work` with a platform of its own and takes everything down afterwards, also when it fails. */
export function withBenchPlatform<T>(work: (platform: BenchPlatform) => Promise<T>): Promise<T> {
  return withClosing(async (onClose) => work(await openPlatform(onClose)));
}

type OnClose = (close: () => unknown) => void;

/** What was opened is closed in the opposite order. */
async function withClosing<T>(work: (onClose: OnClose) => Promise<T>): Promise<T> {
  const closing: (() => unknown)[] = [];
  try {
    return await work((close) => closing.push(close));
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}

async function openBenchDatabase(
  onClose: OnClose,
  temporal = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1', connectTimeout: '200ms' }) }),
): Promise<BenchDatabase> {
  const directory = newDirectory(onClose);
  const postgres = await startPostgres({
    directory: join(directory, 'postgres'),
    port: await freePort(),
    password: 'bench',
    logFile: join(directory, 'postgres.log'),
    settings: benchSettings,
    onStart: endWithThisProcess,
  });
  onClose(postgres.stop);
  const ownerUrl = postgres.url('perennial');
  const { applicationUrl } = await prepareDatabase({ ownerUrl, applicationPassword: 'bench' });
  await installSandboxGateway(ownerUrl, applicationRole);
  const database = await openDatabase({ url: applicationUrl, poolSize: 20 });
  onClose(database.close);
  const { metering, clickhouse } = openUsageStore({
    database,
    clickhouseUrl: process.env.CLICKHOUSE_URL || null,
    onMarked: usageWatchSignal(temporal),
    onPassedOn: ({ message }) => console.error(`usage was answered by PostgreSQL: ${message}`),
  });
  const fed = async () => {
    while (clickhouse && (await feedRound({ database, clickhouse })));
  };
  onClose(metering.close);
  const gateway = openSandboxGateway({ url: applicationUrl });
  onClose(() => gateway.close());
  const sandbox = await createSandbox(database, { tenantName: 'Bench' });
  const scope = { ...sandbox, actor: 'system', requestId: 'bench' };
  const app = await buildApp({
    config: {
      rateLimitPerSecond: 0,
      maxEventLoopDelayMs: 0,
      trustProxy: false,
      portalSigningKeys: benchSigningKeys,
    },
    database,
    temporal,
    metering,
    gateways: paymentGateways([gateway]),
    outgoing: benchOutgoing,
    logger: false,
  });
  onClose(() => app.close());
  const api = apiOf(app, sandbox.apiKey);
  const check = () => assertInvariants({ database, metering, applicationUrl });
  return {
    database,
    applicationUrl,
    ownerUrl,
    sandbox,
    scope,
    metering,
    fed,
    gateway,
    postgres,
    api,
    checkInvariants: check,
  };
}

async function openPlatform(onClose: OnClose): Promise<BenchPlatform> {
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  const directory = newDirectory(onClose);
  const server = await startTemporal({
    cli: await temporalCli((line) => console.error(line)),
    port: await freePort(),
    databaseFile: join(directory, 'temporal.db'),
    logFile: join(directory, 'temporal.log'),
    pidFile: join(directory, 'temporal.pid'),
    onStart: endWithThisProcess,
  });
  onClose(server.stop);
  const namespace = 'default';
  await prepareNamespace(server.address, namespace);
  const clientConnection = await Connection.connect({ address: server.address, interceptors: callInterceptors() });
  onClose(() => clientConnection.close());
  const temporal = new Client({ connection: clientConnection, namespace });
  const connection = await NativeConnection.connect({ address: server.address });
  onClose(() => connection.close());
  const base = await openBenchDatabase(onClose, temporal);
  const { database, metering } = base;
  const gateways = paymentGateways([base.gateway]);
  const bundle = await bundleWorkflows();
  const startWorkers: BenchPlatform['startWorkers'] = async (options = {}) => {
    const pages = { signingKeys: benchSigningKeys, url: 'http://localhost' };
    const world = { connection, namespace, temporal, database, metering, gateways, outgoing: benchOutgoing, pages };
    const defaults = { ...world, workflowBundle: bundle };
    const workers = await createWorkers({ ...defaults, ...options });
    const running = workers.run();
    let stopped: Promise<void> | undefined;
    const stop = () => {
      workers.shutdown();
      stopped ??= running;
      return stopped;
    };
    onClose(stop);
    return stop;
  };
  return { ...base, temporal, temporalServer: server, connection, namespace, bundle, startWorkers };
}

function apiOf(app: FastifyInstance, apiKey: string): BenchPlatform['api'] {
  return async <Body>(method: Method, path: string, body?: unknown) => {
    const response = await app.inject({
      method,
      url: `/v1${path}`,
      headers: { 'x-api-key': apiKey },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${response.body}`);
    return (response.body === '' ? null : response.json()) as Body;
  };
}

async function assertInvariants(base: { database: Database; metering: UsageStore; applicationUrl: string }) {
  const books = openSandboxStore({ url: base.applicationUrl, poolSize: 1 });
  try {
    const findings = await checkInvariants({ ...base, gateway: sandboxOperator(books) });
    const broken = findings.flatMap(({ id, violations }) =>
      violations.map(({ object, problem }) => `${id} ${object}: ${problem}`),
    );
    if (broken.length > 0) throw new Error(`invariants do not hold:\n${broken.slice(0, 20).join('\n')}`);
  } finally {
    await books.close();
  }
}

function newDirectory(onClose: OnClose): string {
  const directory = mkdtempSync(join(tmpdir(), 'perennial-bench-'));
  // PostgreSQL started by root runs under another account, which must get into the directory.
  chmodSync(directory, 0o711);
  onClose(() => removeDirectory(directory));
  return directory;
}

/** A bench that is interrupted takes its servers with it. */
function endWithThisProcess({ child }: RunningProgram): void {
  process.once('exit', () => child.kill('SIGQUIT'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    if (process.listenerCount(signal) === 0) process.once(signal, () => process.exit(130));
  }
}
