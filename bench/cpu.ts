import { readdirSync, readFileSync } from 'node:fs';
import type { RunningProgram } from '../dev/processes.ts';

/** The kernel counts processor time of other processes in hundredths of a second. */
const tickMs = 10;

/** Processor time this process has used, with all its threads, in milliseconds. */
export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Processor time of a program and its children, the ended ones included, in milliseconds. Reads /proc, so Linux only.
 * PostgreSQL does its work in a child for each connection.
 */
export function programCpuMs({ child: { pid }, name }: RunningProgram): number {
  if (pid === undefined) throw new Error(`${name} does not run`);
  const processes = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => statOf(Number(entry)) ?? []);
  const own = processes.filter((each) => each.pid === pid || each.parent === pid);
  const ended = own.find((each) => each.pid === pid)?.endedChildrenTicks ?? 0;
  return (own.reduce((sum, each) => sum + each.ticks, 0) + ended) * tickMs;
}

function statOf(pid: number): { pid: number; parent: number; ticks: number; endedChildrenTicks: number } | null {
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
