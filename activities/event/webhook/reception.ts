import type { DisablingReason } from '../../../services/event/webhook/disabling.ts';
import type { EndpointReception } from '../../../services/event/webhook/progress.ts';

const hourMs = 3_600_000;
/** Time without a receipt after which an endpoint is disabled, where so many attempts failed over such a time. design: people-and-events §B 19 */
const silentMs = 5 * 24 * hourMs;
const fewestFailures = 10;
const shortestFailingMs = 24 * hourMs;

/**
 * Answers of a receiver lately, and whether its endpoint is to be disabled for them: at once after 410; else when nothing was received for
 * five days and ten attempts or more failed, the first of them a day or more before the last. design: people-and-events §B 19
 */
export class Reception {
  #receivedMs: number | null;
  #failedMs: number | null;
  #failure: string | null;
  #silentSinceMs: number | null;
  #failingSinceMs: number | null;
  #failures: number;
  #reason: DisablingReason | null = null;

  constructor({ receivedAt, failedAt, failure, silentSince, failingSince, failures }: EndpointReception) {
    this.#receivedMs = millisecondsOf(receivedAt);
    this.#failedMs = millisecondsOf(failedAt);
    this.#failure = failure;
    this.#silentSinceMs = millisecondsOf(silentSince);
    this.#failingSinceMs = millisecondsOf(failingSince);
    this.#failures = failures;
  }

  /** Reason to disable the endpoint; null while there is none. */
  get reason(): DisablingReason | null {
    return this.#reason;
  }

  /** Takes in the end of an attempt: null for a receipt, else the failure. */
  learn(failure: string | null, nowMs: number): void {
    if (failure === null) {
      this.#receivedMs = nowMs;
      this.#countAnew(nowMs);
      if (this.#reason === 'failing') this.#reason = null;
      return;
    }
    this.#failedMs = nowMs;
    this.#failure = failure;
    this.#silentSinceMs ??= nowMs;
    this.#failingSinceMs ??= nowMs;
    this.#failures += 1;
    const isFailing =
      this.#failures >= fewestFailures &&
      nowMs - this.#failingSinceMs >= shortestFailingMs &&
      nowMs - this.#silentSinceMs >= silentMs;
    if (failure === 'answered 410') this.#reason = 'gone';
    else if (isFailing) this.#reason ??= 'failing';
  }

  /** Forgets failures, because the receiver is another one. */
  restart(): void {
    this.#countAnew(null);
    this.#reason = null;
  }

  /** The answers as they are to be written. */
  get written(): EndpointReception {
    return {
      receivedAt: instantOf(this.#receivedMs),
      failedAt: instantOf(this.#failedMs),
      failure: this.#failure,
      silentSince: instantOf(this.#silentSinceMs),
      failingSince: instantOf(this.#failingSinceMs),
      failures: this.#failures,
    };
  }

  #countAnew(silentSinceMs: number | null): void {
    this.#silentSinceMs = silentSinceMs;
    this.#failingSinceMs = null;
    this.#failures = 0;
  }
}

function millisecondsOf(instant: string | null): number | null {
  return instant === null ? null : Date.parse(instant);
}

function instantOf(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
