import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, statfsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { applicationRole, prepareDatabase } from '../../db/prepare.ts';
import { freePort } from '../../dev/ports.ts';
import { endFormerPostgres, type RunningPostgres, startPostgres } from '../../dev/postgres.ts';
import { removeDirectory } from '../../dev/postgres-account.ts';
import { endFormerProgram, isAlive, type RunningProgram } from '../../dev/processes.ts';
import { temporalCli } from '../../dev/temporal-binary.ts';
import { type RunningTemporal, startTemporal } from '../../dev/temporal-server.ts';
import { installSandboxGateway } from '../../integrations/sandbox-gateway/store.ts';

/** The servers of one test run. */
export interface ServersOfRun {
  postgresUrl: string;
  /** Answers `/temporal` with the address of the server and `/workflows` with the file of the bundle. */
  controlUrl: string;
  stop(): Promise<void>;
}

export const templateDatabase = 'perennial_template';
export const applicationPassword = 'application';
const directoryPrefix = 'perennial-test-';

// Durability costs time and a test's data is worth nothing after the run.
const fastSettings = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Statistics that come in the middle of a test would change the plans that it measures.
  autovacuum: 'off',
  // The log lies in memory too.
  max_wal_size: '256MB',
  // A file asks each statement a few times on new connections: planned for its values each time, it took longer to plan than to run.
  plan_cache_mode: 'force_generic_plan',
  // Both sides hash the password of each new connection, here once instead of 4,096 times: it protects nothing.
  scram_iterations: '1',
};

const memory = '/dev/shm';
const roomBytes = 2 ** 31;

/**
 * Directory for the data of a run: in memory where there is room, because each file's database is a thousand small files, which a disk
 * takes half a second of processor time to make.
 */
function placeOfData(): string {
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize < roomBytes ? tmpdir() : memory;
}

/** Starts PostgreSQL with a migrated template database. Temporal is found now, because building it takes long, and started when asked for. */
export async function startServers(): Promise<ServersOfRun> {
  await removeFormerRuns();
  const directory = mkdtempSync(join(placeOfData(), `${directoryPrefix}${process.pid}-`));
  // PostgreSQL started by root runs under another account, which must get into the directory.
  chmodSync(directory, 0o711);
  const [cli, postgres] = await Promise.all([
    temporalCli((line) => console.log(line)),
    startPostgres({
      directory: join(directory, 'postgres'),
      port: await freePort(),
      password: 'test',
      logFile: join(directory, 'postgres.log'),
      settings: fastSettings,
      onStart: endWithThisProcess,
    }),
  ]);
  await makeTemplate(postgres);
  const temporal = onceAskedFor(async () => startTemporalOfRun(cli, await freePort(), directory));
  const bundle = onceAskedFor(() => writeBundle(directory));
  const control = await serveControl({
    '/temporal': async () => (await temporal.get()).address,
    '/workflows': bundle.get,
  });
  return {
    postgresUrl: postgres.url('postgres'),
    controlUrl: control.url,
    async stop() {
      control.close();
      await (await temporal.started())?.stop();
      await postgres.stop();
      removeDirectory(directory);
    },
  };
}

async function makeTemplate(postgres: RunningPostgres): Promise<void> {
  const ownerUrl = postgres.url(templateDatabase);
  await prepareDatabase({ ownerUrl, applicationPassword });
  await installSandboxGateway(ownerUrl, applicationRole);
  const client = new pg.Client({ connectionString: postgres.url('postgres') });
  await client.connect();
  await client.query(`alter database ${templateDatabase} is_template true allow_connections false`);
  await client.end();
}

function startTemporalOfRun(cli: string, port: number, directory: string): Promise<RunningTemporal> {
  return startTemporal({
    cli,
    port,
    databaseFile: join(directory, 'temporal.db'),
    logFile: join(directory, 'temporal.log'),
    pidFile: join(directory, 'temporal.pid'),
    onStart: endWithThisProcess,
  });
}

async function writeBundle(directory: string): Promise<string> {
  const { bundleWorkflows } = await import('../../activities/workflow-bundle.ts');
  const { code } = await bundleWorkflows();
  const file = join(directory, 'workflows.js');
  writeFileSync(file, code);
  return file;
}

/** Answers each path with what its function returns; the first question makes it. */
async function serveControl(answers: Record<string, () => Promise<string>>): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ''];
    if (!answer) return void response.writeHead(404).end();
    answer().then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.stack : String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function onceAskedFor<T>(make: () => Promise<T>): { get(): Promise<T>; started(): Promise<T | undefined> } {
  let made: Promise<T> | undefined;
  return {
    get() {
      made ??= make();
      return made;
    },
    started: async () => made?.catch(() => undefined),
  };
}

/** A run that is told to end before its tear-down takes its servers with it. */
function endWithThisProcess({ child }: RunningProgram): void {
  process.once('exit', () => child.kill('SIGQUIT'));
  if (process.listenerCount('SIGTERM') === 0) process.once('SIGTERM', () => process.exit(143));
}

/** Ends what runs that were killed left behind: their servers still run, their directories still exist. */
async function removeFormerRuns(): Promise<void> {
  mkdirSync(tmpdir(), { recursive: true });
  for (const place of [tmpdir(), memory].filter((folder) => existsSync(folder))) {
    for (const name of readdirSync(place)) await removeFormerRun(place, name);
  }
}

async function removeFormerRun(place: string, name: string): Promise<void> {
  const pid = Number(new RegExp(`^${directoryPrefix}(\\d+)-`).exec(name)?.[1]);
  if (!Number.isInteger(pid) || isAlive(pid)) return;
  const directory = join(place, name);
  await endFormerPostgres(join(directory, 'postgres'));
  await endFormerProgram(join(directory, 'temporal.pid'), 'SIGTERM');
  removeDirectory(join(directory, 'postgres'));
  removeDirectory(directory);
}
