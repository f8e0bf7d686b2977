import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { accepts, isPortFree } from '../../dev/ports.ts';
import type { RunningPostgres } from '../../dev/postgres.ts';
import { hasEnded, poll, type RunningProgram, StartupProblem, startProgram } from '../../dev/processes.ts';
import { cacheDirectory, goInstall } from '../../dev/temporal-binary.ts';

const serverVersion = '1.29.1';
const superuserPassword = (postgres: RunningPostgres) => decodeURIComponent(new URL(postgres.url('postgres')).password);

/** The programs of the real Temporal server; built once from the Go module proxy into the cache. */
export async function temporalServerPrograms(say: (line: string) => void): Promise<{ server: string; sql: string }> {
  const directory = join(cacheDirectory(), `temporal-server-v${serverVersion}`);
  const programs = { server: join(directory, 'server'), sql: join(directory, 'sql') };
  const modules = { server: 'cmd/server', sql: 'cmd/tools/sql' } as const;
  for (const name of ['server', 'sql'] as const) {
    if (existsSync(programs[name])) continue;
    if (!(await goInstall(`go.temporal.io/server/${modules[name]}@v${serverVersion}`, programs[name], say))) {
      throw new StartupProblem(
        `The Temporal server ${serverVersion} could not be built: install Go 1.25 and see that its module proxy is reachable.`,
      );
    }
  }
  return programs;
}

export interface ClusterOptions {
  programs: { server: string; sql: string };
  postgres: RunningPostgres;
  directory: string;
  onStart(program: RunningProgram): void;
}

/** Starts the four services of a Temporal server in one process, with its persistence in PostgreSQL. */
export async function startCluster(options: ClusterOptions): Promise<{ address: string; program: RunningProgram }> {
  const directory = join(options.directory, 'temporal');
  mkdirSync(directory, { recursive: true });
  makeSchemas(options);
  const ports = await servicePorts();
  writeFileSync(join(directory, 'dynamic.yaml'), dynamicConfiguration);
  writeFileSync(
    join(directory, 'production.yaml'),
    stringify(configuration(options.postgres, ports, join(directory, 'dynamic.yaml'))),
  );
  const program = startProgram({
    name: 'Temporal',
    file: options.programs.server,
    args: ['--root', directory, '--config', '.', '--env', 'production', '--allow-no-auth', 'start'],
    logFile: join(options.directory, 'temporal.log'),
    onStart: options.onStart,
  });
  const port = ports.frontend.grpcPort;
  if (!(await poll(async () => (hasEnded(program) ? false : (await accepts(port)) || undefined), 60_000))) {
    throw new StartupProblem(`The Temporal server did not start; see ${program.logFile}`);
  }
  return { address: `127.0.0.1:${port}`, program };
}

const dynamicConfiguration = `
matching.enableFairness: [{value: true}]
system.enableActivityEagerExecution: [{value: true}]
history.workflowTaskRetryMaxInterval: [{value: 5s}]
history.workflowIdReuseMinimalInterval: [{value: 10ms}]
`;

/** The schemas are embedded in the tool; every step may run again. */
function makeSchemas({ programs, postgres }: ClusterOptions): void {
  const connection = ['--plugin', 'postgres12', '--ep', '127.0.0.1', '-p', String(postgres.port), '-u', 'postgres'];
  for (const [database, schema] of [
    ['temporal', 'temporal'],
    ['temporal_visibility', 'visibility'],
  ] as const) {
    const common = [...connection, '--pw', superuserPassword(postgres), '--db', database];
    for (const step of [
      ['create-database'],
      ['setup-schema', '-v', '0.0'],
      ['update-schema', '--schema-name', `postgresql/v12/${schema}`],
    ]) {
      const result = spawnSync(programs.sql, [...common, ...step], { encoding: 'utf8' });
      if (result.status !== 0) throw new Error(`${step[0]} of ${database} failed: ${result.stderr}${result.stdout}`);
    }
  }
}

interface ServicePorts {
  grpcPort: number;
  membershipPort: number;
}
type AllPorts = Record<'frontend' | 'history' | 'matching' | 'worker', ServicePorts>;

/** Temporal keeps its ports in a smallint: they must be below 32768, where the system's own choices rarely are. */
async function servicePorts(): Promise<AllPorts> {
  let candidate = 17_000;
  const next = async (): Promise<number> => {
    do candidate += 1;
    while (candidate < 32_768 && !(await isPortFree(candidate)));
    return candidate;
  };
  const pair = async () => ({ grpcPort: await next(), membershipPort: await next() });
  return { frontend: await pair(), history: await pair(), matching: await pair(), worker: await pair() };
}

function configuration(postgres: RunningPostgres, ports: AllPorts, dynamicFile: string) {
  const store = (databaseName: string, connections: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: `127.0.0.1:${postgres.port}`,
      connectProtocol: 'tcp',
      user: 'postgres',
      password: superuserPassword(postgres),
      maxConns: connections,
      maxIdleConns: connections,
      maxConnLifetime: '1h',
    },
  });
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'main',
      visibilityStore: 'visibility',
      numHistoryShards: 4,
      datastores: { main: store('temporal', 20), visibility: store('temporal_visibility', 10) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: Object.fromEntries(
      Object.entries(ports).map(([name, rpc]) => [name, { rpc: { ...rpc, bindOnLocalHost: true } }]),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${ports.frontend.grpcPort}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamicFile, pollInterval: '60s' },
  };
}
