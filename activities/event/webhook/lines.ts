import type { Progress, SkippedEvent, WaitingLine } from '../../../services/event/webhook/progress.ts';
import type { AttemptLog } from './attempt-log.ts';

interface Line extends WaitingLine {
  /** Time of the next attempt as a number; infinite while the line is held. */
  nextMs: number;
  /** True when a later event of the object was read and not queued since it was last looked for. */
  passedOver: boolean;
}

/** The objects that wait at one endpoint, and what of them is not written yet. design: people-and-events §B 16 */
export class Lines {
  readonly #lines = new Map<string, Line>();
  readonly #changed = new Set<string>();
  #skipped: SkippedEvent[] = [];
  /** Attempts, of which the lines say when the next one is. */
  readonly log: AttemptLog;

  constructor(log: AttemptLog) {
    this.log = log;
  }

  get size(): number {
    return this.#lines.size;
  }

  /** True while something is to be written. */
  get isChanged(): boolean {
    return this.#changed.size > 0 || this.#skipped.length > 0 || this.log.isChanged;
  }

  /** Takes in what a sender before left; events of these objects may have been read by it. */
  load(lines: readonly WaitingLine[]): void {
    for (const line of lines) this.#lines.set(line.entityId, { ...line, nextMs: timeOf(line), passedOver: true });
  }

  has(entityId: string): boolean {
    return this.#lines.has(entityId);
  }

  /** True for an object that waits: the event that was read is found again when its turn comes. */
  passOver(entityId: string): boolean {
    const line = this.#lines.get(entityId);
    if (!line) return false;
    line.passedOver = true;
    return true;
  }

  put(line: WaitingLine, passedOver: boolean): void {
    const known = this.#lines.get(line.entityId);
    const isPassedOver = passedOver || (known?.passedOver ?? false);
    this.#lines.set(line.entityId, { ...line, nextMs: timeOf(line), passedOver: isPassedOver });
    this.#changed.add(line.entityId);
    this.log.decide(line.entityId, line.nextAt);
  }

  /** Leaves a line as it was, after an attempt before its time. */
  keep({ entityId, nextAt }: WaitingLine): void {
    const line = this.#lines.get(entityId);
    if (line) line.passedOver = true;
    this.log.decide(entityId, nextAt);
  }

  /** The event the object waited for is settled; those from `nextSequence` on have had no attempt. */
  advance(entityId: string, nextSequence: number): void {
    const line = this.#lines.get(entityId);
    if (!line) return;
    Object.assign(line, { nextSequence, attempts: 0 });
    this.#changed.add(entityId);
  }

  /** Forgets that events were passed over, before they are looked for. */
  lookAgain(entityId: string): void {
    const line = this.#lines.get(entityId);
    if (line) line.passedOver = false;
  }

  isPassedOver(entityId: string): boolean {
    return this.#lines.get(entityId)?.passedOver ?? false;
  }

  /** The object does not wait any more. */
  free(entityId: string): void {
    this.#lines.delete(entityId);
    this.#changed.add(entityId);
  }

  skip(event: SkippedEvent): void {
    this.#skipped.push(event);
  }

  /** Lines whose next attempt is due, the longest due first. */
  due(nowMs: number): WaitingLine[] {
    const due = [...this.#lines.values()].filter(({ nextMs }) => nextMs <= nowMs);
    return due.sort((a, b) => a.nextMs - b.nextMs);
  }

  /** Line whose attempt is next; undefined where none waits for one. */
  next(): WaitingLine | undefined {
    let next: Line | undefined;
    for (const line of this.#lines.values()) {
      if (Number.isFinite(line.nextMs) && line.nextMs < (next?.nextMs ?? Number.POSITIVE_INFINITY)) next = line;
    }
    return next;
  }

  /** Milliseconds until the next attempt is due, infinite without one; a line that is due already waits for a request to end. */
  msUntilNext(nowMs: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { nextMs } of this.#lines.values()) if (nextMs > nowMs && nextMs < next) next = nextMs;
    return next - nowMs;
  }

  /** Has every line tried at once as if for the first time, because the receiver is another one. */
  retryAll(): void {
    for (const line of this.#lines.values()) this.#retryNow(line, 0);
  }

  /** Has those that are held go on behind the event they are held by. */
  retryHeld(): void {
    for (const line of this.#lines.values()) if (line.nextAt === null) this.#retryNow(line, line.attempts);
  }

  /** Has those that found no receiver tried at once, now that there is one. */
  retryUnreached(): void {
    for (const line of this.#lines.values()) {
      if (line.nextAt !== null && !line.failure.startsWith('answered')) this.#retryNow(line, line.attempts);
    }
  }

  #retryNow(line: Line, attempts: number): void {
    const nextAt = new Date().toISOString();
    Object.assign(line, { attempts, nextAt, nextMs: Date.parse(nextAt) });
    this.#changed.add(line.entityId);
  }

  /** Changes to be written, which count as written from here on. */
  takeChanges(): Pick<Progress, 'lines' | 'freed' | 'skipped' | 'deliveries'> {
    const entityIds = [...this.#changed];
    const skipped = this.#skipped;
    this.#changed.clear();
    this.#skipped = [];
    return {
      lines: entityIds.flatMap((entityId) => this.#lines.get(entityId) ?? []),
      freed: entityIds.filter((entityId) => !this.#lines.has(entityId)),
      skipped,
      deliveries: this.log.take(),
    };
  }
}

function timeOf({ nextAt }: WaitingLine): number {
  return nextAt === null ? Number.POSITIVE_INFINITY : Date.parse(nextAt);
}
