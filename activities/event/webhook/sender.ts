import { workflowScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { beforeEvents, type DueEvent, dueEvents, dueEventsOf } from '../../../services/event/webhook/due-event.ts';
import { type WaitingLine, waitingLines } from '../../../services/event/webhook/progress.ts';
import type { AttemptOutcome } from './attempt.ts';
import { Backlog } from './backlog.ts';
import { Lines } from './lines.ts';
import { Past } from './past.ts';
import type { Pause } from './pause.ts';
import { Reception } from './reception.ts';
import { lineAfter } from './schedule.ts';
import { type OpenEndpoint, type SenderOptions, Sending, settled } from './sending.ts';
import { WrittenState } from './written-state.ts';

/** Requests under way at one receiver. */
const mostAtOnce = 8;
/** Requests among them for objects that wait, while others have events. */
const mostRetrying = 4;
const pageSize = 200;
const catchUpSize = 50;
/** Objects that may wait; with more than these nothing new is read. design: people-and-events §B 16 */
export const mostWaiting = 10_000;
const writeEveryMs = 50;

/**
 * Sends one endpoint its events: of each object in order and one at a time, of several objects side by side. The feed tells which events
 * there are; where one is not received its object waits in a line of its own while others go on. A sender that dies has written its place
 * behind what it settled, so its successor sends some again and leaves none out. design: people-and-events §A 1, 3, 5, 6, B 20
 */
export class Sender {
  #endpoint: OpenEndpoint;
  readonly #options: SenderOptions;
  readonly #lines: Lines;
  readonly #past = new Past();
  #wasProbing = false;
  readonly #pause: Pause;
  readonly #reception: Reception;
  readonly #backlog: Backlog;
  /** Objects with a request under way. */
  readonly #busy = new Set<string>();
  readonly #aborting = new AbortController();
  readonly #sending: Sending;
  readonly #written: WrittenState;
  #hasNews = true;
  #retrying = 0;
  #isEnding = false;
  #failure: { error: unknown } | undefined;
  #wake = Promise.withResolvers<void>();

  constructor(endpoint: OpenEndpoint, options: SenderOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#pause = options.pause;
    this.#lines = new Lines(options.log);
    this.#reception = new Reception(endpoint.reception);
    this.#backlog = new Backlog(BigInt(endpoint.position));
    const state = { lines: this.#lines, pause: this.#pause, reception: this.#reception };
    this.#written = new WrittenState(options.database, { ...state, backlog: this.#backlog });
    const current = () => this.#endpoint;
    this.#sending = new Sending(options, { ...state, past: this.#past, current }, this.#aborting.signal);
  }

  get endpoint(): OpenEndpoint {
    return this.#endpoint;
  }

  /** Tells that there are new events, or that something else changed. */
  wake(): void {
    this.#hasNews = true;
    this.#wake.resolve();
  }

  /** Has a changed URL, secret or rule hold from the next attempt on. */
  change(endpoint: OpenEndpoint): void {
    if (endpoint.url !== this.#endpoint.url) {
      this.#pause.end();
      this.#reception.restart();
      this.#lines.retryAll();
    }
    if (endpoint.onExhausted === 'skip') this.#lines.retryHeld();
    this.#endpoint = endpoint;
    this.wake();
  }

  /** Starts no more requests; with `abort` those under way are broken off too. */
  end({ abort }: { abort: boolean }): void {
    this.#isEnding = true;
    if (abort) this.#aborting.abort();
    this.#wake.resolve();
  }

  /** Sends until it is told to end or another sender has the endpoint, and writes its last state. Throws what the database throws. */
  async run(): Promise<void> {
    const { id } = this.#endpoint;
    this.#lines.load(await this.#read((tx) => waitingLines(tx, id)));
    let writtenMs = 0;
    while (!this.#isEnding) {
      this.#wake = Promise.withResolvers();
      if (this.#failure) throw this.#failure.error;
      await this.#readOn();
      const nowMs = Date.now();
      this.#dispatch(nowMs);
      const writeMs = this.#written.isChanged ? Math.max(0, writtenMs + writeEveryMs - performance.now()) : Infinity;
      await this.#rest(Math.min(writeMs, this.#msUntilDue(nowMs)));
      if (this.#written.isChanged && performance.now() - writtenMs >= writeEveryMs) {
        await this.#write();
        writtenMs = performance.now();
      }
    }
    while (this.#busy.size > 0) {
      this.#wake = Promise.withResolvers();
      await this.#wake.promise;
    }
    await this.#write();
  }

  #mayRead(): boolean {
    return this.#hasNews && this.#backlog.hasRoom && this.#lines.size < mostWaiting;
  }

  /** Reads the feed on while there is room, and queues each event behind those of its object. */
  async #readOn(): Promise<void> {
    while (this.#mayRead()) {
      this.#hasNews = false;
      const { id: endpointId } = this.#endpoint;
      const isNeeded = (entityId: string) => this.#busy.has(entityId) || this.#backlog.has(entityId);
      const end = await this.#options.feedEnd(workflowScope(this.#endpoint));
      const { page, before } = await this.#read(async (tx) => {
        const page = await dueEvents(tx, { endpointId, after: this.#backlog.scanned, end, limit: pageSize });
        // The next event of an object that waits is not the one that was read here.
        const next = page.due.filter(({ entityId }) => !this.#lines.has(entityId));
        return { page, before: await beforeEvents(tx, endpointId, this.#past.unknown(next, isNeeded)) };
      });
      this.#past.learn(before);
      if (page.isMore) this.#hasNews = true;
      this.#backlog.take(page, (entityId) => this.#lines.passOver(entityId));
    }
  }

  /** Starts requests for objects that have none under way, those that waited longest first. */
  #dispatch(nowMs: number): void {
    this.#pause.passIfOver(nowMs);
    if (this.#wasProbing && !this.#pause.isProbing) this.#lines.retryUnreached();
    this.#wasProbing = this.#pause.isProbing;
    if (this.#pause.holds(nowMs) || this.#reception.reason !== null) return;
    if (this.#pause.isProbing) this.#probe(nowMs);
    else this.#dispatchAll(nowMs);
  }

  #dispatchAll(nowMs: number): void {
    const free = () => !this.#isEnding && this.#busy.size < mostAtOnce;
    for (const line of this.#lines.due(nowMs)) {
      // Others are not held up by objects that wait.
      if (!free() || (this.#backlog.hasQueues && this.#retrying >= mostRetrying)) break;
      if (!this.#busy.has(line.entityId)) this.#startRetry(line);
    }
    for (const entityId of this.#backlog.objects) {
      if (!free()) return;
      if (!this.#busy.has(entityId)) this.#start(entityId, () => this.#drain(entityId));
    }
  }

  /** Tries one event of a receiver that could not be reached: that of the longest waiting object. */
  #probe(nowMs: number): void {
    if (this.#isEnding || this.#busy.size > 0) return;
    const line = this.#lines.next();
    const [entityId] = this.#backlog.objects;
    if (line) this.#startRetry(line, line.nextAt !== null && Date.parse(line.nextAt) > nowMs);
    else if (entityId !== undefined) this.#start(entityId, () => this.#drain(entityId));
    else if (this.#endpoint.replays === '') this.#pause.end();
    else this.#pause.leaveToReplay();
  }

  #startRetry(line: WaitingLine, isEarly = false): void {
    this.#retrying += 1;
    this.#start(line.entityId, () =>
      this.#retry(line, isEarly).finally(() => {
        this.#retrying -= 1;
      }),
    );
  }

  #start(entityId: string, work: () => Promise<void>): void {
    this.#busy.add(entityId);
    work()
      .catch((error: unknown) => {
        // A request that was broken off settles nothing; anything else ends the sender.
        if (!this.#aborting.signal.aborted) this.#failure ??= { error };
      })
      .finally(() => {
        this.#busy.delete(entityId);
        this.#wake.resolve();
      });
  }

  /** Sends the events of an object that are queued, until one is not received or the endpoint pauses. */
  async #drain(entityId: string): Promise<void> {
    for (;;) {
      const event = this.#backlog.first(entityId);
      if (!event || this.#pause.holds(Date.now())) return;
      const outcome = await this.#sending.send(this.#endpoint, event, 1);
      if (outcome === null) return;
      if (outcome.failure !== null) {
        const known = this.#backlog.putOff(entityId);
        this.#putLine(event, outcome, { attempts: 1, line: undefined, isPassedOver: known > 1 });
        return;
      }
      this.#backlog.settle(entityId);
      this.#wake.resolve();
    }
  }

  /**
   * Tries the event that an object waits for, and once it is settled those that came meanwhile. An attempt before its time, which only asks
   * whether the receiver is back, does not count when it fails.
   */
  async #retry(line: WaitingLine, isEarly: boolean): Promise<void> {
    const { entityId } = line;
    let from = line.nextSequence;
    let attempts = line.attempts;
    for (;;) {
      this.#lines.lookAgain(entityId);
      const events = await this.#objectFrom(entityId, from);
      if (events.length === 0 && !this.#lines.isPassedOver(entityId)) break;
      for (const event of events) {
        // The line is due already, so it goes on here after the pause.
        if (this.#pause.holds(Date.now())) return;
        const isExhausted = attempts > this.#options.schedule.length;
        if (isExhausted) this.#sending.skip(event, 'failed');
        const outcome = isExhausted ? settled : await this.#sending.send(this.#endpoint, event, attempts + 1);
        if (outcome === null) return;
        if (outcome.failure !== null) {
          if (isEarly && from === line.nextSequence) this.#lines.keep(line);
          else this.#putLine(event, outcome, { attempts: attempts + 1, line, isPassedOver: true });
          return;
        }
        from = event.sequence + 1;
        attempts = 0;
        this.#lines.advance(entityId, from);
      }
    }
    this.#lines.free(entityId);
    this.#options.onStanding();
  }

  async #objectFrom(entityId: string, from: number): Promise<DueEvent[]> {
    const upTo = this.#backlog.scanned;
    const query = { endpointId: this.#endpoint.id, entityId, from, upTo, limit: catchUpSize };
    return this.#read(async (tx) => {
      const events = await dueEventsOf(tx, query);
      const [first] = events;
      if (first && !this.#past.has(entityId)) this.#past.learn(await beforeEvents(tx, query.endpointId, [first]));
      return events;
    });
  }

  #putLine(
    event: DueEvent,
    { failure, waitMs }: AttemptOutcome,
    { attempts, line, isPassedOver }: { attempts: number; line: WaitingLine | undefined; isPassedOver: boolean },
  ): void {
    const { schedule } = this.#options;
    const { onExhausted } = this.#endpoint;
    const failed = { attempts, failure: failure ?? '', waitMs, known: line, schedule, onExhausted };
    this.#lines.put(lineAfter(event, failed), isPassedOver);
    this.#options.onStanding();
  }

  async #write(): Promise<void> {
    if (await this.#written.write(this.#endpoint)) return;
    this.end({ abort: true });
    this.#options.onStanding();
  }

  #read<T>(work: Parameters<typeof inSqlTransaction<T>>[2]): Promise<T> {
    return inSqlTransaction(this.#options.database, workflowScope(this.#endpoint), work);
  }

  /** Milliseconds from `nowMs`, for which was just dispatched, until more is to be; infinite where only a message can bring it. */
  #msUntilDue(nowMs: number): number {
    const pausedMs = this.#pause.msUntilOver(nowMs);
    return pausedMs > 0 ? pausedMs : this.#lines.msUntilNext(nowMs);
  }

  /** Waits until something happens, for `milliseconds` at most; without a limit there is no timer. */
  async #rest(milliseconds: number): Promise<void> {
    if (this.#mayRead()) return;
    const timer = Number.isFinite(milliseconds) ? setTimeout(this.#wake.resolve, milliseconds) : undefined;
    await this.#wake.promise;
    clearTimeout(timer);
  }
}
