/**
 * Named moments at which the fault tests kill a worker: before a step's effect, after it, and before its answer. They do
 * nothing unless PERENNIAL_CRASH_POINTS names them, as `chargePayment.afterEffect` or `chargePayment.afterEffect:3` for the
 * third time it is reached. design: quality.md Faults
 */
const armed = parseCrashPoints(process.env.PERENNIAL_CRASH_POINTS ?? '');

/** Every crash point there is; the fault test goes through them. */
export const crashPoints = [
  'chargePayment.beforeEffect',
  'chargePayment.afterEffect',
  'chargePayment.beforeAnswer',
  'lookUpPayment.beforeEffect',
  'lookUpPayment.afterEffect',
  'lookUpPayment.beforeAnswer',
  'recordPayment.beforeEffect',
  'recordPayment.afterEffect',
  'recordPayment.beforeAnswer',
] as const;

export type CrashPoint = (typeof crashPoints)[number];

/** Ends this process as a power cut would when `point` is armed; returns at once otherwise. */
export function crashPoint(point: CrashPoint): void {
  const left = armed.get(point);
  if (left === undefined) return;
  if (left > 1) {
    armed.set(point, left - 1);
    return;
  }
  process.kill(process.pid, 'SIGKILL');
}

/** The points of `a,b:2` with how often each must be reached. */
export function parseCrashPoints(text: string): Map<string, number> {
  const entries = text.split(',').filter((entry) => entry.trim() !== '');
  return new Map(
    entries.map((entry): [string, number] => {
      const [name = '', times = '1'] = entry.trim().split(':');
      if (!crashPoints.some((point) => point === name) || !/^[1-9]\d*$/.test(times)) {
        throw new Error(
          `PERENNIAL_CRASH_POINTS: ${entry} is not one of ${crashPoints.join(', ')}, with :times at most`,
        );
      }
      return [name, Number(times)];
    }),
  );
}
