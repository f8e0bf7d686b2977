import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as searchAttributeKeys from '../workflows/search-attributes.ts';
import { accepts } from './ports.ts';
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

/** Starts Temporal's dev server with the settings that architecture §3 measured, and waits until it answers. */
export async function startTemporal(options: TemporalOptions): Promise<RunningTemporal> {
  if (options.databaseFile) mkdirSync(dirname(options.databaseFile), { recursive: true });
  await endFormerProgram(options.pidFile, 'SIGTERM');
  const { cli: file, logFile, pidFile, onStart } = options;
  const program = startProgram({ name: 'Temporal', file, args: serverArguments(options), logFile, pidFile, onStart });
  const answered = await poll(
    async () => (hasEnded(program) ? false : (await accepts(options.port)) || undefined),
    30_000,
  );
  if (!answered) {
    await program.stop();
    throw new StartupProblem(
      `Temporal did not start on port ${options.port}: ${lastLine(options.logFile)} (all of it in ${options.logFile})`,
    );
  }
  return {
    address: `127.0.0.1:${options.port}`,
    program,
    stop: program.stop,
  };
}

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
  return ['server', 'start-dev', ...flags];
}

function lastLine(file: string): string {
  return readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '';
}
