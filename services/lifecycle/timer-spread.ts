import { createHash } from 'node:crypto';

/**
 * By how many milliseconds the timers of an object are late: from 0 up to but without `windowMs`, evenly over the ids and
 * always the same for one. So what falls due at one instant is spread, while its boundaries stay exact. design:
 * architecture §3 Load
 */
export function timerSpread(objectId: string, windowMs: number): number {
  if (windowMs <= 0) return 0;
  return createHash('sha256').update(objectId).digest().readUInt32BE(0) % windowMs;
}
