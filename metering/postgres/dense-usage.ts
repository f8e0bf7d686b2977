import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { environmentNumber } from './environment-number.ts';
import { denseDayText, denseHourText } from './text/dense-text.ts';

/** A bucket with many events that an answer cut through. */
export interface CutBucket {
  readonly meterId: string;
  readonly subject: string;
  readonly unit: 'hour' | 'day';
  readonly bucket: string;
  /** How many events the roll-ups knew. */
  readonly events: string;
}

const maxRemembered = 10_000;
const maxWaiting = 1_000;

/**
 * Takes dense hours and days apart that questions cut through, after the answer, in transactions of their own and one after the
 * other. It begins when one is met again with as many events as before: an hour that is still being written would be behind at
 * once. What fails is not tried again by itself, because every answer is right without it, and asks for it anew.
 * design: usage.md Reading
 */
export class DenseUsage {
  readonly #database: Database;
  readonly #met = new Map<string, string>();
  readonly #waiting = new Map<string, { scope: Scope; cut: CutBucket }>();
  #working: Promise<void> | null = null;
  #isClosed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Notes what an answer cut through. */
  cut(scope: Scope, buckets: readonly CutBucket[]): void {
    for (const cut of buckets) {
      const key = `${scope.environmentId} ${cut.meterId} ${cut.subject} ${cut.unit} ${cut.bucket}`;
      const isSettled = this.#met.get(key) === cut.events;
      if (this.#met.size >= maxRemembered) this.#met.clear();
      this.#met.set(key, cut.events);
      if (isSettled && !this.#isClosed && this.#waiting.size < maxWaiting) this.#waiting.set(key, { scope, cut });
    }
    if (this.#waiting.size === 0 || this.#working) return;
    this.#working = this.#work().finally(() => {
      this.#working = null;
    });
  }

  /** Ends with what is under way; what waits is asked for again by the next question. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    for (const [key, { scope, cut }] of this.#waiting) {
      await takeApart(this.#database, scope, cut).catch(() => undefined);
      this.#waiting.delete(key);
      if (this.#isClosed) return;
    }
  }
}

/** While it looks, no event is voided and no meter changes; writers go on, and what they add makes it out of date. */
export async function takeApart(database: Database, scope: Scope, cut: CutBucket): Promise<void> {
  await inSqlTransaction(database, scope, async (tx) => {
    await tx.rows('select pg_advisory_xact_lock_shared(7101, $1)', [await environmentNumber(tx, scope)]);
    const text = cut.unit === 'hour' ? denseHourText : denseDayText;
    await tx.rows(text, [scope.environmentId, cut.meterId, cut.subject, cut.bucket]);
  });
}
