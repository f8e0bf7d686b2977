import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** What a person did wrong or a machine lacks, in one sentence that says what to do. Printed without a stack. */
export class StartupProblem extends Error {
  override readonly name = 'StartupProblem';
}

/** A program the launcher started. It has its own process group, so a terminal's Ctrl-C reaches the launcher only. */
export interface RunningProgram {
  readonly name: string;
  readonly child: ChildProcess;
  /** Resolves when the program has ended, however it ended. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface ProgramOptions {
  name: string;
  file: string;
  args: readonly string[];
  /** Everything the program prints is appended here. */
  logFile: string;
  /** Remembers the program, so that the next launcher finds it when this one is killed. */
  pidFile?: string;
  env?: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
  cwd?: string;
}

/** Starts a program in its own process group with its output in a file, which outlives a launcher that is killed. */
export function startProgram(options: ProgramOptions): RunningProgram {
  const log = openSync(options.logFile, 'a');
  try {
    const child = spawn(options.file, [...options.args], {
      detached: true,
      stdio: ['ignore', log, log],
      env: options.env ?? process.env,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.gid === undefined ? {} : { gid: options.gid }),
    });
    if (options.pidFile && child.pid)
      writeFileSync(options.pidFile, `${child.pid}\n${[options.file, ...options.args].join(' ')}\n`);
    const ended = Promise.race([
      once(child, 'exit').then(([code, signal]) => ({ code, signal })),
      once(child, 'error').then(() => ({ code: 127, signal: null })),
    ]);
    return { name: options.name, child, ended };
  } finally {
    closeSync(log);
  }
}

/** Asks a program to stop with `signal`, and after `patienceMs` stops it with `lastSignal`. Resolves when it has ended. */
export async function stopProgram(
  program: RunningProgram,
  signal: NodeJS.Signals,
  patienceMs: number,
  lastSignal: NodeJS.Signals = 'SIGKILL',
): Promise<void> {
  if (program.child.exitCode !== null || program.child.signalCode !== null) return;
  program.child.kill(signal);
  const abort = new AbortController();
  const ended = await Promise.race([
    program.ended.then(() => true),
    delay(patienceMs, false, { signal: abort.signal }).catch(() => false),
  ]);
  abort.abort();
  if (ended) return;
  program.child.kill(lastSignal);
  await program.ended;
}

/** Ends the program a pid file names, if it still runs: a launcher that was killed could not. */
export async function endFormerProgram(pidFile: string, signal: NodeJS.Signals, patienceMs = 10_000): Promise<void> {
  const [pidText = '', command = ''] = readText(pidFile).split('\n');
  const pid = Number(pidText);
  if (Number.isInteger(pid) && pid > 1 && isAlive(pid) && commandOf(pid) === command)
    await endProcess(pid, signal, patienceMs);
  rmSync(pidFile, { force: true });
}

/** Ends a process that is not our child, the hard way after `patienceMs`. */
export async function endProcess(pid: number, signal: NodeJS.Signals, patienceMs: number): Promise<void> {
  const gone = () => (isAlive(pid) ? undefined : true);
  process.kill(pid, signal);
  if (await poll(gone, patienceMs)) return;
  process.kill(pid, 'SIGKILL');
  await poll(gone, patienceMs);
}

/** The command line of a process as `ps` shows it. */
export function commandOf(pid: number): string {
  return (spawnSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '').trim();
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** True while a process of that id exists, whoever owns it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Calls `attempt` until it answers something other than undefined; undefined when `limitMs` have passed. */
export async function poll<T>(
  attempt: () => Promise<T | undefined> | T | undefined,
  limitMs: number,
  everyMs = 25,
): Promise<T | undefined> {
  const end = performance.now() + limitMs;
  for (;;) {
    const answer = await attempt();
    if (answer !== undefined) return answer;
    if (performance.now() >= end) return undefined;
    await delay(everyMs);
  }
}

/** A loopback port nobody listens on: `preferred` when it is free, else one the system chooses. */
export async function freePort(preferred = 0): Promise<number> {
  return (await listenOnce(preferred)) ?? (await listenOnce(0)) ?? 0;
}

/** Whether a loopback port can be listened on. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await listenOnce(port)) !== undefined;
}

async function listenOnce(port: number): Promise<number | undefined> {
  const server = createServer();
  const listening = Promise.race([once(server, 'listening').then(() => true), once(server, 'error').then(() => false)]);
  server.listen({ port, host: '127.0.0.1', exclusive: true });
  if (!(await listening)) return undefined;
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : undefined;
}
