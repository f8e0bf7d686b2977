import { workflowScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import type { DueEvent } from '../../../services/event/webhook/due-event.ts';
import {
  nextReplayPage,
  type ReplayPage,
  type ReplayTask,
  saveReplay,
} from '../../../services/event/webhook/replay-progress.ts';
import { type Attempt, type AttemptOutcome, attemptEvent } from './attempt.ts';
import type { AttemptLog, AttemptTime } from './attempt-log.ts';
import { contentOf } from './content.ts';
import type { Pause } from './pause.ts';
import { Rate } from './rate.ts';
import { type OpenEndpoint, type SendingOptions, unreadable } from './sending.ts';

export interface ReplayLaneOptions extends SendingOptions {
  pause: Pause;
  log: AttemptLog;
  /** Told after an attempt, which left something to be written. */
  onAttempt(): void;
  /** Told at the end of a replay. */
  onEnd(): void;
  warn(error: unknown): void;
}

/** Requests under way: half as many as for what is sent by itself. */
const mostAtOnce = 4;
/** Attempts at an event, each after the first pause of the schedule; what is not received then is left to another replay. */
const mostAttempts = 3;
const lookAgainMs = 1_000;
const restAfterErrorMs = 5_000;

type Sent = 'received' | 'failed';
type PageEvent = ReplayPage['events'][number];

/**
 * Sends one endpoint again what it is asked for, beside what it is sent by itself and without changing anything of it: of each object in
 * order, of a few objects side by side. How far it is stands in the row of the replay, so another worker goes on with it, and may send the
 * last page again. design: people-and-events §B 13, 22
 */
export class ReplayLane {
  readonly #options: ReplayLaneOptions;
  readonly #aborting = new AbortController();
  readonly #sleepers = new Set<() => void>();
  /** Pace of the lane: half of that of the endpoint. */
  readonly #pace = new Rate();
  #endpoint: OpenEndpoint;
  /** Object with which an unreachable receiver is tried; null where none is. */
  #prober: string | null = null;
  /** Replay that is worked at; null once it is cancelled. */
  #current: string | null = null;
  #isEnding = false;
  #news = Promise.withResolvers<void>();

  constructor(endpoint: OpenEndpoint, options: ReplayLaneOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
  }

  /** Has a changed address, secret or list of replays hold from the next attempt on. */
  change(endpoint: OpenEndpoint): void {
    this.#endpoint = endpoint;
    if (this.#current !== null && !endpoint.replays.includes(this.#current)) this.#current = null;
    this.#rouse();
  }

  /** Starts no more requests; with `abort` those under way are broken off too. */
  end({ abort }: { abort: boolean }): void {
    this.#isEnding = true;
    if (abort) this.#aborting.abort();
    this.#rouse();
  }

  /** Works at what is asked for until the end. What it cannot do for now it tries again, and holds up nothing else. */
  async run(): Promise<void> {
    while (!this.#isEnding) {
      this.#news = Promise.withResolvers();
      try {
        while (await this.#sendPage());
        if (!this.#isEnding) await this.#news.promise;
      } catch (error) {
        if (this.#isEnding) return;
        this.#options.warn(error);
        await this.#rest(restAfterErrorMs);
      }
    }
  }

  /** Sends the next events there are; false where there is nothing to do. */
  async #sendPage(): Promise<boolean> {
    const { id: endpointId, epoch, replays } = this.#endpoint;
    if (replays === '' || this.#isEnding) return false;
    const page = await this.#write((tx) => nextReplayPage(tx, endpointId, epoch));
    if (page === null) return false;
    this.#current = page.task.id;
    const sent = new Map<string, Sent>();
    const objects = Map.groupBy(page.events, ({ event }) => event.entityId).values();
    await Promise.all(Array.from({ length: mostAtOnce }, () => this.#sendObjects(page.task, objects, sent)));
    this.#current = null;
    const receivedIds = [...sent].filter(([, how]) => how === 'received').map(([id]) => id);
    const progress = { id: page.task.id, endpointId, epoch, receivedIds, ...progressOf(page, sent) };
    if (await this.#write((tx) => saveReplay(tx, progress))) this.#options.onEnd();
    return true;
  }

  async #sendObjects(task: ReplayTask, objects: Iterable<PageEvent[]>, sent: Map<string, Sent>): Promise<void> {
    for (const events of objects) {
      for (const event of events) {
        const how = await this.#send(task, event);
        if (how === null) return;
        sent.set(event.event.id, how);
      }
    }
  }

  /** Sends an event until it is received or was tried often enough; null where the replay or the lane ended before. */
  async #send(task: ReplayTask, event: PageEvent): Promise<Sent | null> {
    const { schedule } = this.#options;
    let counted = 0;
    for (;;) {
      const tried = await this.#try(task, event, counted + 1).finally(() => {
        if (this.#prober === event.event.entityId) this.#prober = null;
      });
      if (tried === null) return null;
      const { outcome, time, isCounted } = tried;
      if (isCounted) counted += 1;
      const isOver = outcome.failure === null || outcome === unreadable || counted >= mostAttempts;
      const waitMs = Math.max(schedule[0] ?? 0, outcome.waitMs ?? 0);
      const nextAt = isOver ? null : new Date(Date.now() + waitMs).toISOString();
      this.#note(event.event, isCounted ? counted : counted + 1, outcome, time, nextAt);
      if (isOver) return outcome.failure === null ? 'received' : 'failed';
      await this.#rest(waitMs);
    }
  }

  /** Makes an attempt once it may be made; null where the replay or the lane ended before. */
  async #try(
    task: ReplayTask,
    { event, before }: PageEvent,
    number: number,
  ): Promise<{ outcome: AttemptOutcome; time: AttemptTime; isCounted: boolean } | null> {
    const { database, renderInvoices, pause } = this.#options;
    if (!(await this.#isFree(task.id, event.entityId))) return null;
    const content = await contentOf({ database, renderInvoices }, this.#endpoint, event);
    if (content === null) {
      return { outcome: unreadable, time: { startedMs: Date.now(), durationMs: 0 }, isCounted: true };
    }
    if (!(await this.#mayBegin(task.id, event.entityId))) return null;
    const id = task.newIds ? `${event.id}-r${task.number}` : event.id;
    const attempt = { content, before, number, nowMs: Date.now() };
    const made = await this.#attempt({ ...event, id }, attempt);
    // A receiver that asks to wait, or cannot be reached at all, has had no chance.
    return { ...made, isCounted: made.outcome.waitMs === null && !pause.isProbing };
  }

  async #attempt(
    event: Attempt['event'],
    of: Pick<Attempt, 'content' | 'before' | 'number' | 'nowMs'>,
  ): Promise<{ outcome: AttemptOutcome; time: AttemptTime }> {
    const { url, secrets } = this.#endpoint;
    const { client, pause } = this.#options;
    const attempt: Attempt = { url, secrets, event, ...of, isReplay: true };
    const outcome = await attemptEvent(client, attempt, this.#aborting.signal);
    // While a receiver is away, what is sent by itself finds out when it is back, where there is any.
    if (outcome.failure !== null || !pause.isProbing || pause.isLeftToReplay)
      pause.learn(event.entityId, outcome, Date.now());
    return { outcome, time: { startedMs: of.nowMs, durationMs: Date.now() - of.nowMs } };
  }

  #note(event: DueEvent, number: number, outcome: AttemptOutcome, time: AttemptTime, nextAt: string | null): void {
    this.#options.log.noteReplay(event, number, outcome, time, nextAt);
    this.#options.onAttempt();
  }

  /** Waits while the endpoint pauses, or until this object is to try whether the receiver is back; false once the replay or the lane has ended. */
  async #isFree(replayId: string, entityId: string): Promise<boolean> {
    const { pause } = this.#options;
    for (;;) {
      if (this.#isEnding || this.#current !== replayId) return false;
      const nowMs = Date.now();
      if (!pause.holds(nowMs)) {
        if (!pause.isProbing) return true;
        if (pause.isLeftToReplay && (this.#prober ?? entityId) === entityId) {
          this.#prober = entityId;
          return true;
        }
      }
      await this.#rest(Math.min(pause.msUntilOver(nowMs) || lookAgainMs, lookAgainMs));
    }
  }

  /** Waits for its turn within the rate limit; false once the replay or the lane has ended. */
  async #mayBegin(replayId: string, entityId: string): Promise<boolean> {
    const { permit, rate } = this.#options;
    const paces = [
      () => this.#pace.take(halfOf(this.#endpoint.rateLimit), performance.now()),
      () => rate.take(this.#endpoint.rateLimit, performance.now()),
    ];
    for (const take of paces) {
      for (let waitMs = take(); waitMs > 0; waitMs = take()) {
        await this.#rest(Math.ceil(waitMs));
        if (!(await this.#isFree(replayId, entityId))) return false;
      }
    }
    // To ask whether it may begin is to look whether the replay was cancelled, too.
    return (await permit()) && this.#current === replayId;
  }

  #write<T>(work: Parameters<typeof inSqlTransaction<T>>[2]): Promise<T> {
    return inSqlTransaction(this.#options.database, workflowScope(this.#endpoint), work);
  }

  /** Waits for so long, or until something changes. */
  async #rest(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    this.#sleepers.add(resolve);
    await promise;
    clearTimeout(timer);
    this.#sleepers.delete(resolve);
  }

  #rouse(): void {
    for (const wake of this.#sleepers) wake();
    this.#news.resolve();
  }
}

/** Requests a second that a replay may take of a rate limit; null for any number. */
function halfOf(rateLimit: number | null): number | null {
  return rateLimit === null ? null : Math.max(1, Math.floor(rateLimit / 2));
}

/** Events of a page up to the first that was not sent, and the place behind them. */
function progressOf({ task, events, scanned }: ReplayPage, sent: ReadonlyMap<string, Sent>) {
  const end = events.findIndex(({ event }) => !sent.has(event.id));
  const done = end < 0 ? events : events.slice(0, end);
  const received = done.filter(({ event }) => sent.get(event.id) === 'received').length;
  const position = end < 0 ? scanned : (done.at(-1)?.event.place ?? BigInt(task.position));
  return { position, received, failed: done.length - received };
}
