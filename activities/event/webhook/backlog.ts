import type { DueEvent, DuePage } from '../../../services/event/webhook/due-event.ts';

/** Events read ahead of the first that is not settled. */
const windowSize = 200;

/**
 * Events of one endpoint that were read from the feed and are neither received nor put off: a queue for each object, and the place up to
 * which everything is settled. design: people-and-events §B 16
 */
export class Backlog {
  readonly #queues = new Map<string, DueEvent[]>();
  /** Places that were read and are not settled, the lowest first. */
  readonly #open = new Set<bigint>();
  #scanned: bigint;

  constructor(position: bigint) {
    this.#scanned = position;
  }

  /** Place up to which the feed was read. */
  get scanned(): bigint {
    return this.#scanned;
  }

  /** Place behind which nothing is settled. */
  get settled(): bigint {
    const [first] = this.#open;
    return first === undefined ? this.#scanned : first - 1n;
  }

  /** True while more may be read ahead. */
  get hasRoom(): boolean {
    return this.#open.size < windowSize;
  }

  /** True while an object has events that wait for their first attempt. */
  get hasQueues(): boolean {
    return this.#queues.size > 0;
  }

  /** Objects with queued events. */
  get objects(): Iterable<string> {
    return this.#queues.keys();
  }

  has(entityId: string): boolean {
    return this.#queues.has(entityId);
  }

  /** First queued event of an object. */
  first(entityId: string): DueEvent | undefined {
    return this.#queues.get(entityId)?.[0];
  }

  /** Queues the events of a page, each behind those of its object; `isPutOff` says which objects wait in a line of their own. */
  take({ due, scanned }: DuePage, isPutOff: (entityId: string) => boolean): void {
    this.#scanned = scanned;
    for (const event of due) {
      if (isPutOff(event.entityId)) continue;
      this.#open.add(event.place);
      const queue = this.#queues.get(event.entityId);
      if (queue) queue.push(event);
      else this.#queues.set(event.entityId, [event]);
    }
  }

  /** Settles the first queued event of an object. */
  settle(entityId: string): void {
    const queue = this.#queues.get(entityId);
    const event = queue?.shift();
    if (event) this.#open.delete(event.place);
    if (queue?.length === 0) this.#queues.delete(entityId);
  }

  /** Takes an object out of the backlog, its events found again when its turn comes. Answers how many there were. */
  putOff(entityId: string): number {
    const queue = this.#queues.get(entityId) ?? [];
    for (const { place } of queue) this.#open.delete(place);
    this.#queues.delete(entityId);
    return queue.length;
  }
}
