import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** What a person did wrong or a machine lacks, in one sentence that says what to do. Printed without a stack. */
export class StartupProblem extends Error {
  override readonly name = 'StartupProblem';
}

/** A program the launcher started. It has its own process group, so a terminal's Ctrl-C reaches the launcher only. */
export interface RunningProgram {
  readonly name: string;
  readonly child: ChildProcess;
  readonly logFile: string;
  /** Resolves when the program has ended, however it ended. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Asks the program to stop, insists when it takes too long, and resolves when it has ended. */
  stop(): Promise<void>;
}

export interface ProgramOptions {
  name: string;
  file: string;
  args: readonly string[];
  /** Everything the program prints is appended here. */
  logFile: string;
  /** Remembers the program, so that the next launcher finds it when this one is killed. */
  pidFile?: string;
  /** How it is asked to stop, how long it may take, and how it is made to. */
  stopping?: { signal: NodeJS.Signals; patienceMs: number; lastSignal: NodeJS.Signals };
  /** Told at once, before the program is ready. */
  onStart?: ((program: RunningProgram) => void) | undefined;
  /** Where cores are short others go first: for work that nobody waits for by the millisecond. */
  givesWay?: boolean | undefined;
  env?: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
  cwd?: string;
}

const politely = { signal: 'SIGTERM', patienceMs: 10_000, lastSignal: 'SIGKILL' } as const;

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
    if (options.givesWay && child.pid) giveWay(child.pid);
    const command = [options.file, ...options.args].join(' ');
    if (options.pidFile && child.pid) writeFileSync(options.pidFile, `${child.pid}\n${command}\n`);
    const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
      child.once('error', () => resolve({ code: 127, signal: null }));
    });
    const { name, logFile } = options;
    const program = { name, child, logFile, ended, stop: () => stopProgram(program, options.stopping ?? politely) };
    options.onStart?.(program);
    return program;
  } finally {
    closeSync(log);
  }
}

/** A third of the share of a core that others have. */
const lowerPriority = 5;

/**
 * Lowers the priority of a program that has just started, and of what it starts. Linux shares time between sessions before it does
 * between their programs, so the session is told too. Where that is not possible, the program goes on as urgent as others.
 */
function giveWay(pid: number): void {
  try {
    setPriority(pid, lowerPriority);
    writeFileSync(`/proc/${pid}/autogroup`, String(lowerPriority));
  } catch {
    // It ended at once, or this is no Linux, or one without such groups.
  }
}

/** True when a program has ended or could not be started at all. */
export function hasEnded({ child }: RunningProgram): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}

async function stopProgram(program: RunningProgram, stopping: NonNullable<ProgramOptions['stopping']>): Promise<void> {
  if (hasEnded(program)) return;
  program.child.kill(stopping.signal);
  const patience = new AbortController();
  const late = delay(stopping.patienceMs, true, { signal: patience.signal }).catch(() => false);
  const isLate = await Promise.race([program.ended.then(() => false), late]);
  patience.abort();
  if (isLate) program.child.kill(stopping.lastSignal);
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
