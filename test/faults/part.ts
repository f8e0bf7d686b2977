import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { hasEnded, poll, type RunningProgram } from '../../dev/processes.ts';
import { lastWords } from '../../dev/services.ts';

export const partNames = ['worker', 'API', 'PostgreSQL', 'Temporal'] as const;
export type PartName = (typeof partNames)[number];

/** A part of the installation that is started again whenever it ends, as an orchestrator does. */
export interface Part {
  readonly name: PartName;
  readonly isReady: boolean;
  /** How often it came up. */
  readonly starts: number;
  /** The memory its process holds; its children's is not in it. */
  residentBytes(): number;
  /** SIGKILL to its whole process tree. False when nothing runs at the moment. */
  kill(): boolean;
  /** Stops its whole process tree for a while and lets it go on. False when nothing runs at the moment. */
  pause(ms: number): Promise<boolean>;
  /** Stops it for good. */
  stop(): Promise<void>;
}

export interface PartOptions {
  name: PartName;
  /** Starts it and returns when it is ready; `onStart` hears of the process at once. */
  start(onStart: (program: RunningProgram) => void): Promise<RunningProgram>;
  /** Told when it ended although nobody killed it, after it had been ready. */
  onSurprise(problem: string): void;
  /** Told after every end, however it came. */
  onEnd?(): void;
  /** It could not be started for long, although everything it needs may be up again. */
  onGivingUp(problem: string): void;
}

const startPatienceMs = 90_000;
const retryMs = 100;

export async function keepRunning(options: PartOptions): Promise<Part> {
  let program: RunningProgram | null = null;
  let isReady = false;
  let starts = 0;
  let stopping = false;

  async function startOnce(): Promise<void> {
    const end = performance.now() + startPatienceMs;
    for (;;) {
      try {
        await options.start((started) => {
          program = started;
          if (stopping) void started.stop();
        });
        starts += 1;
        isReady = true;
        return;
      } catch (error) {
        options.onEnd?.();
        if (stopping) return;
        if (performance.now() > end) return options.onGivingUp(`${options.name} does not start: ${error}`);
        await delay(retryMs);
      }
    }
  }

  async function keep(): Promise<void> {
    while (!stopping && program !== null && isReady) {
      const { code, signal } = await program.ended;
      isReady = false;
      options.onEnd?.();
      if (stopping) return;
      if (signal !== 'SIGKILL')
        options.onSurprise(`${options.name} ended by itself (code ${code}, ${signal}): ${lastWords(program.logFile)}`);
      await startOnce();
    }
  }

  const signalAll = (signal: NodeJS.Signals) => {
    if (program === null || hasEnded(program) || program.child.pid === undefined) return false;
    for (const pid of tree(program.child.pid)) send(pid, signal);
    return true;
  };
  await startOnce();
  const keeping = keep();
  return {
    name: options.name,
    get isReady() {
      return isReady;
    },
    get starts() {
      return starts;
    },
    residentBytes: () => residentBytesOf(program?.child.pid),
    kill: () => signalAll('SIGKILL'),
    async pause(ms) {
      if (!signalAll('SIGSTOP')) return false;
      await delay(ms);
      signalAll('SIGCONT');
      return true;
    },
    async stop() {
      stopping = true;
      await program?.stop();
      await keeping;
    },
  };
}

/** A process and its children; PostgreSQL's are in sessions of their own, so no signal to a group reaches them. */
function tree(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  const children = (stdout ?? '')
    .split('\n')
    .map(Number)
    .filter((child) => child > 1);
  return [pid, ...children];
}

/** Reads /proc, so Linux only; 0 for a process that is not there. */
function residentBytesOf(pid: number | undefined): number {
  try {
    const [, kib = '0'] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kib) * 1024;
  } catch {
    return 0;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Waits until `holds`; throws with `what` when it does not in time. */
export async function waitUntil(what: string, limitMs: number, holds: () => boolean | Promise<boolean>): Promise<void> {
  const held = await poll(async () => ((await holds()) ? true : undefined), limitMs, 50);
  if (!held) throw new Error(`${what}: not within ${limitMs / 1000} s`);
}
