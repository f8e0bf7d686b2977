import { readdirSync, readFileSync } from 'node:fs';
import type { RunningProgram } from '../dev/processes.ts';

/** The kernel counts processor time of other processes in hundredths of a second. */
const tickMs = 10;
const bytesPerMiB = 2 ** 20;

/** Processor time this process has used, with all its threads, in milliseconds. */
export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Processor time of a program and its children, the ended ones included, in milliseconds. Reads /proc, so Linux only.
 * PostgreSQL does its work in a child for each connection.
 */
export function programCpuMs(program: RunningProgram): number {
  const own = processesOf(program);
  const ended = own.find(({ pid }) => pid === program.child.pid)?.endedChildrenTicks ?? 0;
  return (own.reduce((sum, each) => sum + each.ticks, 0) + ended) * tickMs;
}

/** Memory of this process that is resident, in MiB. */
export function ownMemoryMiB(): number {
  return process.memoryUsage.rss() / bytesPerMiB;
}

/** Resident memory of a program and its children in MiB; what they share counts once. Reads /proc, so Linux only. */
export function programMemoryMiB(program: RunningProgram): number {
  return processesOf(program).reduce((sum, { pid }) => sum + proportionalMiB(pid), 0);
}

function proportionalMiB(pid: number): number {
  try {
    const [, kiB] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')) ?? [];
    return Number(kiB ?? 0) / 1024;
  } catch {
    return 0;
  }
}

interface ProcessStat {
  pid: number;
  parent: number;
  ticks: number;
  endedChildrenTicks: number;
}

function processesOf({ child: { pid }, name }: RunningProgram): ProcessStat[] {
  if (pid === undefined) throw new Error(`${name} does not run`);
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => statOf(Number(entry)) ?? [])
    .filter((each) => each.pid === pid || each.parent === pid);
}

function statOf(pid: number): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name in parentheses and may hold anything; fields count from behind it.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0, , , , , , , , , , user = 0, system = 0, childUser = 0, childSystem = 0] = fields;
    return { pid, parent, ticks: user + system, endedChildrenTicks: childUser + childSystem };
  } catch {
    return null;
  }
}
