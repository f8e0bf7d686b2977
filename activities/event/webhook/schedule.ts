import { realNow } from '../../../db/clock.ts';
import type { WaitingLine } from '../../../services/event/webhook/progress.ts';

/** Pauses after the attempts of an event that failed, in milliseconds; after the last of them comes the last attempt. */
export type RetrySchedule = readonly number[];

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** spec: platform §17.5 Retry schedule */
export const retrySchedule: RetrySchedule = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];

/** Share by which a pause is shorter or longer, so that those who failed together do not come back together. */
const jitter = 0.2;

/**
 * Instant of the next attempt after `attempts` that failed, the last one at `nowMs`; null after the last. `random` is in [0, 1).
 * spec: platform §17.5 Retry schedule
 */
export function nextAttemptAt(
  schedule: RetrySchedule,
  attempts: number,
  nowMs: number,
  random: () => number,
): string | null {
  const pauseMs = schedule[attempts - 1];
  if (pauseMs === undefined) return null;
  return new Date(nowMs + pauseMs * (1 - jitter + 2 * jitter * random())).toISOString();
}

/** An event that no attempt has reached by then is not sent any more. design: people-and-events §A 3 */
export const staleAfterMs = 48 * hour;

/**
 * Line of an object after an attempt of an event that failed, `attempts` with it: tried again after a pause; after the last attempt held for
 * good, or due at once, to be skipped. `known` is the line it had. design: people-and-events §A 3
 */
export function lineAfter(
  { entityId, sequence: nextSequence }: { entityId: string; sequence: number },
  failed: {
    attempts: number;
    failure: string;
    known: WaitingLine | undefined;
    schedule: RetrySchedule;
    onExhausted: string;
    /** Milliseconds for which the receiver asked to get nothing; never shortened. */
    waitMs: number | null;
  },
): WaitingLine {
  const { attempts, failure, known, schedule, onExhausted, waitMs } = failed;
  const now = realNow();
  const scheduledAt = nextAttemptAt(schedule, attempts, Date.parse(now), Math.random);
  const askedAt = new Date(Date.parse(now) + (waitMs ?? 0)).toISOString();
  const againAt = scheduledAt !== null && scheduledAt < askedAt ? askedAt : scheduledAt;
  return {
    entityId,
    nextSequence,
    attempts,
    nextAt: againAt === null && onExhausted !== 'hold' ? now : againAt,
    failure,
    failedSince: known?.nextSequence === nextSequence && known.attempts > 0 ? known.failedSince : now,
  };
}
