import type { Delivery } from '../../../services/event/webhook/delivery.ts';
import type { DueEvent } from '../../../services/event/webhook/due-event.ts';
import type { AttemptOutcome } from './attempt.ts';

/** Time of an attempt: its beginning and its length. */
export interface AttemptTime {
  startedMs: number;
  durationMs: number;
}

/** Attempts of one endpoint that are not written yet. design: people-and-events §B 27 */
export class AttemptLog {
  /** Failed attempts by their object, of which is not known yet when the next one is. */
  readonly #undecided = new Map<string, Delivery>();
  #ended: Delivery[] = [];

  /** True while something is to be written. */
  get isChanged(): boolean {
    return this.#ended.length > 0;
  }

  /** Notes how attempt `number` of an event ended; one that failed waits for `decide`. */
  note(event: Pick<DueEvent, 'id' | 'entityId'>, number: number, outcome: AttemptOutcome, time: AttemptTime): void {
    const delivery = { ...deliveryOf(event, number, outcome, time), isReplay: false };
    if (outcome.failure === null) this.#ended.push(delivery);
    else this.#undecided.set(event.entityId, delivery);
  }

  /** Notes how attempt `number` of an event that is sent again ended, and when the next one is. */
  noteReplay(
    event: Pick<DueEvent, 'id'>,
    number: number,
    outcome: AttemptOutcome,
    time: AttemptTime,
    nextAttemptAt: string | null,
  ): void {
    this.#ended.push({ ...deliveryOf(event, number, outcome, time), isReplay: true, nextAttemptAt });
  }

  /** Says when the object whose attempt failed last is tried again; a time that is over already says that it is not. */
  decide(entityId: string, nextAt: string | null): void {
    const delivery = this.#undecided.get(entityId);
    if (!delivery) return;
    this.#undecided.delete(entityId);
    const nextAttemptAt = nextAt !== null && Date.parse(nextAt) > Date.now() ? nextAt : null;
    this.#ended.push({ ...delivery, nextAttemptAt });
  }

  /** Attempts to be written, which count as written from here on. */
  take(): Delivery[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }
}

function deliveryOf(
  { id }: Pick<DueEvent, 'id'>,
  attempt: number,
  { answer, failure }: AttemptOutcome,
  { startedMs, durationMs }: AttemptTime,
): Omit<Delivery, 'isReplay'> {
  return {
    eventId: id,
    attempt,
    attemptedAt: new Date(startedMs).toISOString(),
    durationMs,
    statusCode: answer?.statusCode ?? null,
    error: failure,
    responseExcerpt: answer?.excerpt ?? '',
    nextAttemptAt: null,
  };
}
