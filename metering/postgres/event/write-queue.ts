import { refuse } from '../../../billing/refusal.ts';
import type { Scope } from '../../../db/scope.ts';
import type { PreparedEvent } from '../../event.ts';
import type { UnstorableEvent } from '../../rejected-event.ts';

interface Waiting {
  readonly scope: Scope;
  readonly events: readonly PreparedEvent[];
  readonly bytes: number;
  resolve(unstorable: readonly UnstorableEvent[]): void;
  reject(error: unknown): void;
}

/** Bounds of one process. */
export interface QueueLimits {
  readonly batchRows: number;
  readonly waitingRows: number;
  readonly waitingBytes: number;
  readonly writers: number;
}

export const defaultLimits: QueueLimits = {
  batchRows: 1_000,
  waitingRows: 50_000,
  waitingBytes: 128 * 1024 * 1024,
  writers: 3,
};

/** Stores a batch but for the events it returns. */
type Write = (scope: Scope, events: readonly PreparedEvent[]) => Promise<readonly UnstorableEvent[]>;

/**
 * Groups what callers append at the same time into one statement per environment. A batch leaves as soon as a writer is
 * free: under light load an event waits for nothing, under load batches grow by themselves. What waits is bounded in rows
 * and bytes; above that `too_many_requests`. design: usage.md Findings
 */
export class WriteQueue {
  readonly #write: Write;
  readonly #limits: QueueLimits;
  readonly #waiting = new Map<string, Waiting[]>();
  #rows = 0;
  #bytes = 0;
  #writing = 0;
  #scheduled = false;
  #idle: (() => void) | null = null;

  constructor(write: Write, limits: QueueLimits = defaultLimits) {
    this.#write = write;
    this.#limits = limits;
  }

  /** Returns those of the events that could not be stored. */
  append(scope: Scope, events: readonly PreparedEvent[]): Promise<readonly UnstorableEvent[]> {
    if (events.length === 0) return Promise.resolve([]);
    const bytes = events.reduce((sum, event) => sum + sizeOf(event), 0);
    const full =
      this.#rows + events.length > this.#limits.waitingRows || this.#bytes + bytes > this.#limits.waitingBytes;
    if (full && this.#rows > 0) {
      throw refuse('too_many_requests', 'Too many events wait to be written; try again in a second.', {
        retry_after: 1,
      });
    }
    return new Promise((resolve, reject) => {
      const queue = this.#waiting.get(scope.environmentId) ?? [];
      queue.push({ scope, events, bytes, resolve, reject });
      this.#waiting.set(scope.environmentId, queue);
      this.#rows += events.length;
      this.#bytes += bytes;
      this.#schedule();
    });
  }

  /** Resolves when nothing waits and nothing is being written. */
  async drained(): Promise<void> {
    while (this.#rows > 0 || this.#writing > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
  }

  /** Requests that were read from their sockets in one turn of the event loop share a batch. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#start();
    });
  }

  #start(): void {
    while (this.#writing < this.#limits.writers) {
      const batch = this.#take();
      if (batch.length === 0) return;
      this.#writing += 1;
      void this.#run(batch).finally(() => {
        this.#writing -= 1;
        this.#start();
        if (this.#rows === 0 && this.#writing === 0) this.#idle?.();
      });
    }
  }

  /** The next batch of the environment that waits longest; environments take turns. */
  #take(): Waiting[] {
    const first = this.#waiting.entries().next();
    if (first.done) return [];
    const [environmentId, queue] = first.value;
    let rows = 0;
    let count = 0;
    for (const waiting of queue) {
      if (count > 0 && rows + waiting.events.length > this.#limits.batchRows) break;
      rows += waiting.events.length;
      count += 1;
    }
    const batch = queue.splice(0, count);
    this.#waiting.delete(environmentId);
    if (queue.length > 0) this.#waiting.set(environmentId, queue);
    this.#rows -= rows;
    this.#bytes -= batch.reduce((sum, waiting) => sum + waiting.bytes, 0);
    return batch;
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    const [first] = batch;
    if (!first) return;
    try {
      const events = batch.length === 1 ? first.events : batch.flatMap((waiting) => waiting.events);
      const unstorable = await this.#write(first.scope, events);
      for (const waiting of batch) waiting.resolve(ofCaller(unstorable, waiting));
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    }
  }
}

/** Those of the batch's bad events that one caller brought. */
function ofCaller(unstorable: readonly UnstorableEvent[], { events }: Waiting): readonly UnstorableEvent[] {
  if (unstorable.length === 0) return unstorable;
  const own = new Set(events);
  return unstorable.filter(({ event }) => own.has(event));
}

function sizeOf(event: PreparedEvent): number {
  return (
    200 +
    event.id.length +
    event.eventName.length +
    event.externalCustomerId.length +
    (event.propertiesText?.length ?? 0)
  );
}
