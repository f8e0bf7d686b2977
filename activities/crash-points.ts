import { writeSync } from 'node:fs';

/** The moments of a step at which a fault test may kill its worker. */
export const crashMoments = ['beforeEffect', 'afterEffect', 'beforeCommit', 'beforeAnswer'] as const;

/** A step and a moment of it: `chargePayment.afterEffect`, `closePeriod.beforeCommit`. */
export type CrashPoint = `${string}.${(typeof crashMoments)[number]}`;

/**
 * Named moments at which the fault tests kill a worker. They do nothing unless PERENNIAL_CRASH_POINTS names them, as
 * `chargePayment.afterEffect` or `chargePayment.afterEffect:3` for the third time it is reached. design: quality.md Faults
 */
const armed = parseCrashPoints(process.env.PERENNIAL_CRASH_POINTS ?? '');

/** Ends this process as a power cut would when `point` is armed; returns at once otherwise. */
export function crashPoint(point: CrashPoint): void {
  const left = armed.get(point);
  if (left === undefined) return;
  if (left > 1) {
    armed.set(point, left - 1);
    return;
  }
  writeSync(process.stderr.fd, `crash point ${point} reached\n`);
  process.kill(process.pid, 'SIGKILL');
}

/** The points of `a.beforeEffect,b.beforeCommit:2` with how often each must be reached. Throws on anything else. */
export function parseCrashPoints(text: string): Map<string, number> {
  const entries = text.split(',').filter((entry) => entry.trim() !== '');
  return new Map(
    entries.map((entry): [string, number] => {
      const [point = '', times = '1'] = entry.trim().split(':');
      const isPoint =
        /^[A-Za-z]+\.[A-Za-z]+$/.test(point) && crashMoments.some((moment) => point.endsWith(`.${moment}`));
      if (!isPoint || !/^[1-9]\d*$/.test(times)) {
        throw new Error(`PERENNIAL_CRASH_POINTS: ${entry} is not <step>.<${crashMoments.join('|')}>[:<times>]`);
      }
      return [point, Number(times)];
    }),
  );
}
