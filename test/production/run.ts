import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../dev/ports.ts';
import { startPostgres } from '../../dev/postgres.ts';
import { removeDirectory } from '../../dev/postgres-account.ts';
import { poll, type RunningProgram, StartupProblem } from '../../dev/processes.ts';
import { makeTenant } from '../../dev/sandbox.ts';
import { apiAnswers, type ServiceOptions, startReady, workerPolls, workerService } from '../../dev/services.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { startCluster, temporalServerPrograms } from './temporal-cluster.ts';

/**
 * `npm run test:production`: the arrangement of docker-compose.yml without containers. A real Temporal server on
 * PostgreSQL, two API and two worker processes from the production entry files behind one address, the demo against
 * them, a rolling restart of all four in the middle of it, then the invariants. design: architecture §8
 */
const repository = join(import.meta.dirname, '../..');
const directory = mkdtempSync(join(tmpdir(), 'perennial-production-'));
const started: RunningProgram[] = [];
const startedMs = performance.now();
const results: { name: string; passed: boolean; note: string }[] = [];

function say(line: string): void {
  console.log(`${((performance.now() - startedMs) / 1000).toFixed(1).padStart(6)} s  ${line}`);
}

/** One part of the arrangement that can leave and come back. */
interface Replica {
  options: ServiceOptions;
  program: RunningProgram;
  /** Its port behind the balancer; workers have none. */
  port?: number;
}

function runNode(name: string, file: string, env: NodeJS.ProcessEnv): Promise<number> {
  return runProgram(name, process.execPath, [join(repository, file)], env);
}

function runProgram(name: string, program: string, args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  say(`${name} …`);
  const child = spawn(program, args, { cwd: repository, env, stdio: 'inherit' });
  return new Promise((resolve) => {
    child.once('close', (code) => resolve(code ?? 1));
    child.once('error', () => resolve(1));
  });
}

function record(name: string, passed: boolean, note = ''): void {
  results.push({ name, passed, note });
  say(`${passed ? 'passed' : 'FAILED'}: ${name}${note ? ` (${note})` : ''}`);
}

async function startReplicas(
  environment: NodeJS.ProcessEnv,
  temporalAddress: string,
  balancer: Balancer,
): Promise<Replica[]> {
  const common = { directory, patienceMs: 60_000, onStart: (program: RunningProgram) => void started.push(program) };
  const api = async (slug: string): Promise<Replica> => {
    const port = await freePort();
    const options = {
      ...common,
      name: slug,
      slug,
      entry: 'api/server.ts',
      env: { ...environment, PORT: String(port) },
      isReady: () => apiAnswers(`http://127.0.0.1:${port}`),
    };
    const program = await startReady(options);
    balancer.add(port);
    return { options, program, port };
  };
  const worker = async (slug: string): Promise<Replica> => {
    const options = {
      ...common,
      ...workerService,
      name: slug,
      slug,
      env: environment,
      isReady: (pid: number) => workerPolls(temporalAddress, 'default', pid),
    };
    return { options, program: await startReady(options) };
  };
  return [await worker('worker-1'), await api('api-1'), await worker('worker-2'), await api('api-2')];
}

/** Restarts every replica in turn, as an orchestrator does: out of rotation, SIGTERM, a new one, ready, back in. */
async function rollingRestart(replicas: Replica[], balancer: Balancer, isOver: () => boolean): Promise<void> {
  for (const replica of replicas) {
    if (replica.port !== undefined) balancer.remove(replica.port);
    await replica.program.stop();
    const { code, signal } = await replica.program.ended;
    record(`${replica.options.slug} drains and ends by itself`, code === 0, `code ${code}, signal ${signal}`);
    replica.program = await startReady(replica.options);
    if (replica.port !== undefined) balancer.add(replica.port);
    say(`${replica.options.slug} is back${isOver() ? '' : ' while the demo runs'}`);
  }
}

/** Waits until the demo has subscribed its first customer. Undefined when it ends before. */
async function firstSubscription(ownerUrl: string, isOver: () => boolean): Promise<true | undefined> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const many = await poll(
      async () => {
        if (isOver()) return false;
        const { rows } = await client.query<{ made: number }>('select count(*)::int as made from subscription');
        return (rows[0]?.made ?? 0) > 0 ? true : undefined;
      },
      10 * 60_000,
      100,
    );
    return many || undefined;
  } finally {
    await client.end();
  }
}

async function run(): Promise<void> {
  const programs = await temporalServerPrograms(say);
  const postgres = await startPostgres({
    directory: join(directory, 'postgres'),
    port: await freePort(),
    password: 'production-test',
    logFile: join(directory, 'postgres.log'),
    settings: { max_connections: '300' },
    onStart: (program) => void started.push(program),
  });
  const cluster = await startCluster({
    programs,
    postgres,
    directory,
    onStart: (program) => void started.push(program),
  });
  say(`PostgreSQL and Temporal run; logs are in ${directory}`);
  const applicationUrl = `postgresql://perennial_app:application@127.0.0.1:${postgres.port}/perennial`;
  const environment = {
    ...process.env,
    NODE_ENV: 'production',
    DATABASE_URL: applicationUrl,
    TEMPORAL_ADDRESS: cluster.address,
    TEMPORAL_NAMESPACE: 'default',
    HOST: '127.0.0.1',
    RATE_LIMIT_PER_SECOND: '0',
  };
  const ownerUrl = postgres.url('perennial');
  record(
    'migrations run',
    (await runNode('migrations', 'dev/migrate.ts', { ...environment, DATABASE_OWNER_URL: ownerUrl })) === 0,
  );
  record('the namespace is registered', (await runNode('namespace', 'dev/register.ts', environment)) === 0);
  const { apiKey } = await makeTenant(applicationUrl, 'Production test');
  const balancer = await startBalancer(await freePort());
  const replicas = await startReplicas(environment, cluster.address, balancer);
  say('two API and two worker processes are ready');
  let demoIsOver = false;
  const demo = runNode('demo', 'dev/demo.ts', {
    ...environment,
    PERENNIAL_URL: balancer.url,
    PERENNIAL_API_KEY: apiKey,
  }).then((code) => {
    demoIsOver = true;
    return code;
  });
  record('the restart begins while the demo runs', (await firstSubscription(ownerUrl, () => demoIsOver)) === true);
  await rollingRestart(replicas, balancer, () => demoIsOver);
  record('the demo ends well', (await demo) === 0);
  record('every request was answered', balancer.failures() === 0, `${balancer.failures()} failed`);
  record(
    'all invariants hold',
    (await runProgram('invariants', 'npm', ['run', '--silent', 'check'], {
      ...environment,
      DATABASE_OWNER_URL: ownerUrl,
    })) === 0,
  );
  balancer.close();
}

async function stopAll(): Promise<void> {
  for (const program of started.toReversed()) await program.stop();
}

process.once('SIGINT', () => void stopAll().then(() => process.exit(130)));
process.once('SIGTERM', () => void stopAll().then(() => process.exit(143)));
// PostgreSQL started by root runs under another account, which must get into the directory.
chmodSync(directory, 0o711);
try {
  await run();
} catch (error) {
  record(
    'the arrangement runs',
    false,
    error instanceof StartupProblem ? error.message : String((error as Error).stack),
  );
}
await stopAll();
const failed = results.filter(({ passed }) => !passed).length;
if (failed === 0) {
  removeDirectory(join(directory, 'postgres'));
  rmSync(directory, { recursive: true, force: true });
}
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
