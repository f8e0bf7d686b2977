import type { EndpointPause } from '../../../services/event/webhook/progress.ts';
import type { AttemptOutcome } from './attempt.ts';
import type { RetrySchedule } from './schedule.ts';

/** Objects whose attempts in a row found no receiver before the endpoint is taken for unreachable. */
const unreachedObjects = 3;
const jitter = 0.2;

/**
 * Pause of a whole endpoint: its receiver asked to be left alone for a while, or cannot be reached. Of one that cannot be reached a single
 * event is tried after pauses that double from the first of the schedule to the second. design: people-and-events §B 20
 */
export class Pause {
  readonly #schedule: RetrySchedule;
  #pause: EndpointPause | null;
  #untilMs: number;
  #isChanged = false;
  readonly #unreached = new Set<string>();
  #isLeftToReplay = false;
  #probes = 0;

  constructor(schedule: RetrySchedule, pause: EndpointPause | null) {
    this.#schedule = schedule;
    this.#pause = pause;
    this.#untilMs = pause === null ? 0 : Date.parse(pause.until);
    if (pause?.reason === 'unreachable') this.#probes = 1;
  }

  /** True while nothing at all is sent. */
  holds(nowMs: number): boolean {
    return this.#pause !== null && nowMs < this.#untilMs;
  }

  /** True while one event is tried to see whether the receiver is back. */
  get isProbing(): boolean {
    return this.#pause?.reason === 'unreachable';
  }

  /** True where nothing else is there to try an unreachable receiver with than what is sent again. */
  get isLeftToReplay(): boolean {
    return this.#isLeftToReplay && this.isProbing;
  }

  /** Has what is sent again find out when the receiver is back, until the next attempt told something. */
  leaveToReplay(): void {
    this.#isLeftToReplay = true;
  }

  /** Milliseconds until something may be sent again; 0 where it may be now. */
  msUntilOver(nowMs: number): number {
    return this.#pause === null ? 0 : Math.max(0, this.#untilMs - nowMs);
  }

  /** Takes in how an attempt ended. */
  learn(entityId: string, outcome: AttemptOutcome, nowMs: number): void {
    if (outcome.isUnreached) {
      this.#unreached.add(entityId);
      if (this.#unreached.size < unreachedObjects && !this.isProbing) return;
      // Attempts under way when the pause began tell nothing new.
      if (this.holds(nowMs)) return;
      this.#put('unreachable', nowMs + this.#probePauseMs());
      this.#probes += 1;
      return;
    }
    this.#unreached.clear();
    this.#probes = 0;
    if (outcome.pauseMs !== null) {
      const untilMs = nowMs + outcome.pauseMs;
      if (this.#pause?.reason !== 'asked' || untilMs > this.#untilMs) this.#put('asked', untilMs);
    } else if (this.isProbing) this.end();
  }

  /** Forgets a pause whose time is over; one of an unreachable receiver ends with an answer only. */
  passIfOver(nowMs: number): void {
    if (this.#pause?.reason === 'asked' && nowMs >= this.#untilMs) this.end();
  }

  /** Has everything be sent again, because the receiver is another one or answered. */
  end(): void {
    this.#unreached.clear();
    this.#probes = 0;
    if (this.#pause === null) return;
    this.#pause = null;
    this.#isChanged = true;
  }

  /** True while it is to be written. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  /** The pause as it is to be written, which counts as written from here on. */
  take(): EndpointPause | null {
    this.#isChanged = false;
    return this.#pause;
  }

  #put(reason: EndpointPause['reason'], untilMs: number): void {
    this.#isLeftToReplay = false;
    this.#pause = { reason, until: new Date(untilMs).toISOString() };
    this.#untilMs = untilMs;
    this.#isChanged = true;
  }

  #probePauseMs(): number {
    const [first = 0, longest = first] = this.#schedule;
    const pauseMs = Math.min(first * 2 ** this.#probes, longest);
    return pauseMs * (1 - jitter + 2 * jitter * Math.random());
  }
}
