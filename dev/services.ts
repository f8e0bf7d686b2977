import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TemporalConnectionOptions } from '../temporal-connection.ts';
import { endFormerProgram, hasEnded, poll, type RunningProgram, StartupProblem, startProgram } from './processes.ts';
import { hasWorker } from './temporal-namespace.ts';

const repository = join(import.meta.dirname, '..');
/** The task queue a worker polls when it is up. design: architecture §3 Load */
const lifecycleQueue = 'lifecycle';

/** The worker as a service, which gives way to the API. docs: operations.md Cores */
export const workerService = { name: 'worker', slug: 'worker', entry: 'worker.ts', givesWay: true } as const;

export interface ServiceOptions {
  name: string;
  /** `api` or `worker`: names the log and the pid file. */
  slug: string;
  /** The entry file, relative to the repository. */
  entry: string;
  directory: string;
  env: NodeJS.ProcessEnv;
  /** How long it may drain when it is stopped. */
  patienceMs?: number;
  onStart?: (program: RunningProgram) => void;
  /** Where cores are short others go first. */
  givesWay?: boolean;
  isReady(pid: number): Promise<boolean>;
}

/** Starts a production entry file as a process of its own. */
export async function startService(options: ServiceOptions): Promise<RunningProgram> {
  const pidFile = join(options.directory, `${options.slug}.pid`);
  await endFormerProgram(pidFile, 'SIGTERM');
  return startProgram({
    name: options.name,
    file: process.execPath,
    args: [join(repository, options.entry)],
    logFile: join(options.directory, `${options.slug}.log`),
    pidFile,
    env: options.env,
    onStart: options.onStart,
    givesWay: options.givesWay,
    stopping: { signal: 'SIGTERM', patienceMs: options.patienceMs ?? 6_000, lastSignal: 'SIGKILL' },
    cwd: repository,
  });
}

/** Starts a service and waits until it is ready. Throws a StartupProblem with its last words when it ends or takes too long. */
export async function startReady(options: ServiceOptions, limitMs = 60_000): Promise<RunningProgram> {
  const program = await startService(options);
  const ready = await poll(
    async () => (hasEnded(program) ? false : (await options.isReady(program.child.pid ?? 0)) || undefined),
    limitMs,
    50,
  );
  if (ready) return program;
  throw new StartupProblem(
    `${options.name} ${hasEnded(program) ? 'ended while starting' : 'did not become ready'}: ${lastWords(program.logFile)} (all of it in ${program.logFile})`,
  );
}

/** Ready when `/ready` answers 200. */
export async function apiAnswers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** Ready when the server sees this process poll the workflows' task queue. */
export async function workerPolls(
  server: string | TemporalConnectionOptions,
  namespace: string,
  pid: number,
): Promise<boolean> {
  return hasWorker(server, namespace, lifecycleQueue, pid).catch(() => false);
}

/** The last error a log holds, or its last line, cut to something readable. */
export function lastWords(file: string): string {
  let lines: string[] = [];
  try {
    lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  } catch {
    return 'it said nothing';
  }
  const line = lines.findLast((text) => /error|fatal|EADDRINUSE|not usable/i.test(text)) ?? lines.at(-1) ?? '';
  return line.trim().slice(0, 400) || 'it said nothing';
}
