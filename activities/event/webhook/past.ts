import type { Before, DueEvent } from '../../../services/event/webhook/due-event.ts';

const mostRemembered = 50_000;
const nothing: Before = { previous: 0, skipped: 0 };

/** Last event of each object at one endpoint, as far as it is remembered. design: people-and-events §A 4 */
export class Past {
  readonly #before = new Map<string, Before>();

  /** Event before the next one of an object, and the skipped ones up to it. */
  before(entityId: string): Before {
    return this.#before.get(entityId) ?? nothing;
  }

  has(entityId: string): boolean {
    return this.#before.has(entityId);
  }

  learn(found: ReadonlyMap<string, Before>): void {
    for (const [entityId, before] of found) this.#before.set(entityId, before);
  }

  received({ entityId, sequence }: Pick<DueEvent, 'entityId' | 'sequence'>): void {
    this.#before.set(entityId, { previous: sequence, skipped: 0 });
  }

  /** Answers how many were skipped in a row, with this one. */
  skipped({ entityId, sequence }: Pick<DueEvent, 'entityId' | 'sequence'>): number {
    const skipped = this.before(entityId).skipped + 1;
    this.#before.set(entityId, { previous: sequence, skipped });
    return skipped;
  }

  /** The first events of objects of which it is not known what came before. `isNeeded` says which may not be forgotten. */
  unknown(events: readonly DueEvent[], isNeeded: (entityId: string) => boolean): DueEvent[] {
    if (this.#before.size > mostRemembered) {
      for (const entityId of this.#before.keys()) if (!isNeeded(entityId)) this.#before.delete(entityId);
    }
    const first = new Map<string, DueEvent>();
    for (const event of events) {
      if (!this.#before.has(event.entityId) && !first.has(event.entityId)) first.set(event.entityId, event);
    }
    return [...first.values()];
  }
}
