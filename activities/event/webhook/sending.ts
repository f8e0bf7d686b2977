import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../../db/orm.ts';
import type { GuardedClient } from '../../../integrations/guarded-client.ts';
import type { DueEvent } from '../../../services/event/webhook/due-event.ts';
import type { EndpointSecrets } from '../../../services/event/webhook/endpoint-secret.ts';
import type { RenderInvoices } from '../../../services/event/webhook/frozen-body.ts';
import type { LeasedEndpoint } from '../../../services/event/webhook/lease.ts';
import { crashPoint } from '../../crash-points.ts';
import { type AttemptOutcome, attemptEvent } from './attempt.ts';
import type { AttemptLog } from './attempt-log.ts';
import { contentOf } from './content.ts';
import type { FeedEnd } from './feed-end.ts';
import type { Lines } from './lines.ts';
import type { Past } from './past.ts';
import type { Pause } from './pause.ts';
import type { Rate } from './rate.ts';
import type { Reception } from './reception.ts';
import { type RetrySchedule, staleAfterMs } from './schedule.ts';

/** An endpoint with its secrets opened. */
export type OpenEndpoint = LeasedEndpoint & { secrets: EndpointSecrets };

export interface SendingOptions {
  database: Database;
  client: GuardedClient;
  renderInvoices: RenderInvoices;
  schedule: RetrySchedule;
  /** Pace of all requests to the endpoint. */
  rate: Rate;
  /** Resolves true when an attempt may start now, which is false for ever once the sender has to end. */
  permit(): Promise<boolean>;
}

export interface SenderOptions extends SendingOptions {
  feedEnd: FeedEnd;
  pause: Pause;
  log: AttemptLog;
  /** Told after an attempt failed, and after an object or the endpoint does not wait any more. */
  onStanding(): void;
}

/** State of an endpoint that each sending changes. */
interface SendingState {
  lines: Lines;
  past: Past;
  pause: Pause;
  reception: Reception;
  /** The endpoint as it is now: it may have changed since a sending began. */
  current(): OpenEndpoint;
}

/** Outcome of an event that needs no attempt. */
export const settled: AttemptOutcome = {
  failure: null,
  waitMs: null,
  pauseMs: null,
  isUnreached: false,
  answer: null,
};

/** Outcome of an event whose bytes cannot be made. */
export const unreadable: AttemptOutcome = { ...settled, failure: 'its object cannot be read' };

/** Sends single events of one endpoint, and notes of each what came of it. */
export class Sending {
  readonly #options: SendingOptions;
  readonly #state: SendingState;
  readonly #signal: AbortSignal;

  constructor(options: SendingOptions, state: SendingState, signal: AbortSignal) {
    this.#options = options;
    this.#state = state;
    this.#signal = signal;
  }

  /**
   * Makes attempt `number` of an event, counted from 1, and answers how it ended; an event that is too old, or that the endpoint was to
   * resume behind, is settled without one. Null when nothing may be sent now. Throws when the request was broken off.
   * design: people-and-events §A 3, 6, 7, B 19
   */
  async send(endpoint: OpenEndpoint, event: DueEvent, number: number): Promise<AttemptOutcome | null> {
    if (event.place <= BigInt(endpoint.droppedPosition)) {
      this.skip(event, 'dropped');
      return settled;
    }
    const isAskedFor = event.place <= BigInt(endpoint.createdPosition);
    if (number === 1 && !isAskedFor && Date.now() - Date.parse(event.createdAt) > staleAfterMs) {
      this.skip(event, 'stale');
      return settled;
    }
    const { lines, past, pause, reception, current } = this.#state;
    const content = await contentOf(this.#options, endpoint, event);
    if (content === null) {
      lines.log.note(event, number, unreadable, { startedMs: Date.now(), durationMs: 0 });
      return unreadable;
    }
    const nowMs = await this.#begin();
    if (nowMs === null) return null;
    const { url, secrets } = current();
    const before = past.before(event.entityId);
    crashPoint('webhook.beforeEffect');
    const attempt = { url, secrets, event, content, before, number, nowMs };
    const outcome = await attemptEvent(this.#options.client, attempt, this.#signal);
    crashPoint('webhook.afterEffect');
    lines.log.note(event, number, outcome, { startedMs: nowMs, durationMs: Date.now() - nowMs });
    if (outcome.failure === null) past.received(event);
    // The answer of an address that the endpoint has left says nothing of the present one.
    if (current().url !== url) return { ...outcome, waitMs: null, pauseMs: null };
    const wasProbing = pause.isProbing;
    pause.learn(event.entityId, outcome, Date.now());
    reception.learn(outcome.failure, Date.now());
    if (wasProbing && !pause.isProbing) lines.retryUnreached();
    return outcome;
  }

  /** Waits until a request may begin, and answers that instant in milliseconds; null when nothing may be sent now. */
  async #begin(): Promise<number | null> {
    const { pause, reception, current } = this.#state;
    for (;;) {
      if (!(await this.#options.permit()) || reception.reason !== null) return null;
      const waitMs = this.#options.rate.take(current().rateLimit, performance.now());
      if (waitMs === 0) return Date.now();
      await delay(Math.ceil(waitMs), undefined, { signal: this.#signal });
      if (pause.holds(Date.now())) return null;
    }
  }

  /** Notes that the endpoint does not get an event by itself; the next one of the object says so. */
  skip({ id: eventId, entityId, sequence }: DueEvent, reason: 'failed' | 'stale' | 'dropped'): void {
    const consecutive = this.#state.past.skipped({ entityId, sequence });
    this.#state.lines.skip({ entityId, sequence, eventId, reason, consecutive });
  }
}
