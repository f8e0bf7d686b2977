import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import * as searchAttributeKeys from '../workflows/search-attributes.ts';
import { accepts, PortTaken } from './ports.ts';
import { endFormerProgram, hasEnded, poll, type RunningProgram, StartupProblem, startProgram } from './processes.ts';

/** What operators search workflows by, with Temporal's spelling of the types: `TenantId` is a `Keyword`. */
export const searchAttributes = Object.values(searchAttributeKeys).map(({ name, type }) => ({
  name,
  type: type.charAt(0) + type.slice(1).toLowerCase(),
}));

export interface TemporalOptions {
  cli: string;
  port: number;
  /** Without a UI port there is no UI. */
  uiPort?: number;
  /** Without a file the server keeps everything in memory. */
  databaseFile?: string;
  logFile: string;
  pidFile: string;
  onStart?: ((program: RunningProgram) => void) | undefined;
}

export interface RunningTemporal {
  readonly address: string;
  readonly program: RunningProgram;
  stop(): Promise<void>;
}

/**
 * Starts Temporal's dev server with the settings that architecture §3 measured, and waits until it answers. Throws
 * PortTaken when another has one of its ports.
 */
export async function startTemporal(options: TemporalOptions): Promise<RunningTemporal> {
  if (options.databaseFile) mkdirSync(dirname(options.databaseFile), { recursive: true });
  await endFormerProgram(options.pidFile, 'SIGTERM');
  const { cli: file, logFile, pidFile, onStart } = options;
  const before = readLog(logFile).length;
  const said = () => readLog(logFile).slice(before);
  const program = startProgram({
    name: 'Temporal',
    file,
    args: serverArguments(options),
    logFile,
    pidFile,
    onStart,
    env: { ...process.env, GOMAXPROCS: process.env.GOMAXPROCS ?? String(coresOfServer) },
  });
  const startedMs = performance.now();
  // Who accepts may be another server that took the port: ours says that it listens, or, of another version, lives on.
  const isOurs = () => saysItListens.test(said()) || performance.now() - startedMs > patienceForWordsMs;
  const answered = await poll(
    async () => (hasEnded(program) ? false : ((await accepts(options.port)) && isOurs()) || undefined),
    30_000,
  );
  if (!answered) {
    await program.stop();
    const problem = `Temporal did not start on port ${options.port}: ${lastLine(said())} (all of it in ${logFile})`;
    throw said().includes('address already in use') ? new PortTaken(problem) : new StartupProblem(problem);
  }
  return {
    address: `127.0.0.1:${options.port}`,
    program,
    stop: program.stop,
  };
}

/** It shares the machine with all it serves: on every core at once it takes more processor time for the same work. */
const coresOfServer = Math.max(1, Math.floor(availableParallelism() / 2));

function serverArguments(options: TemporalOptions): string[] {
  const flags = ['--ip', '127.0.0.1', '--port', String(options.port), '--log-level', 'warn'];
  if (options.uiPort === undefined) flags.push('--headless');
  else flags.push('--ui-ip', '127.0.0.1', '--ui-port', String(options.uiPort));
  if (options.databaseFile) flags.push('--db-filename', options.databaseFile);
  for (const pragma of ['journal_mode=WAL', 'synchronous=OFF']) flags.push('--sqlite-pragma', pragma);
  for (const { name, type } of searchAttributes) flags.push('--search-attribute', `${name}=${type}`);
  for (const name of ['matching.enableFairness', 'system.enableActivityEagerExecution']) {
    flags.push('--dynamic-config-value', `${name}=true`);
  }
  // After several crashes of a worker the server waits ever longer for a task, up to ten minutes, before it gives it away.
  flags.push('--dynamic-config-value', 'history.workflowTaskRetryMaxInterval="5s"');
  // A run that rolls over in its first second would have its next one wait for the rest of it; on test clocks a year is less.
  flags.push('--dynamic-config-value', 'history.workflowIdReuseMinimalInterval="10ms"');
  // Each shard looks for tasks to hand out 20 times a second when it is busy, and this server has one shard: every task of every
  // workflow would wait up to 50 ms for the next look.
  flags.push('--dynamic-config-value', 'history.transferProcessorMaxPollRPS=100');
  return ['server', 'start-dev', ...flags];
}

const saysItListens = /^(Temporal )?Server:\s/m;
const patienceForWordsMs = 5_000;

function readLog(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
