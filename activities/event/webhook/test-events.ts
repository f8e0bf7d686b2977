import type { Database } from '../../../db/orm.ts';
import { systemScope } from '../../../db/scope.ts';
import { inSqlTransaction } from '../../../db/transaction.ts';
import { CallFailed, createGuardedClient, type OutgoingPolicy } from '../../../integrations/guarded-client.ts';
import { openEndpoint } from '../../../services/event/webhook/endpoint-secret.ts';
import type { Shard } from '../../../services/event/webhook/lease.ts';
import {
  returnTestEvent,
  settleTestEvent,
  type TakenTestEvent,
  takeTestEvents,
} from '../../../services/event/webhook/test-event.ts';
import type { EnvelopeKey } from '../../../services/platform/sealed-secret.ts';
import { deadlineMs, signedHeaders } from './attempt.ts';

interface TestEventOptions {
  database: Database;
  policy: OutgoingPolicy;
  secretKeys: readonly EnvelopeKey[];
  warn(error: unknown, endpointId: string): void;
}

const mostAtOnce = 8;
/** Longer than an attempt, so that nobody else takes what is sent. */
const takenMs = 30_000;

/**
 * Sends the test events of one shard: each once, signed as events are, without the headers of an object, whatever else its endpoint gets or
 * waits for. One whose worker died in the middle is sent again with the same id. design: people-and-events §B 23
 */
export class TestEvents {
  readonly #shard: Shard;
  readonly #options: TestEventOptions;
  readonly #aborting = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  #taking: Promise<void> | null = null;
  #isEnding = false;

  constructor(shard: Shard, options: TestEventOptions) {
    this.#shard = shard;
    this.#options = options;
  }

  /** Takes those that wait and begins to send them. */
  take(): void {
    if (this.#isEnding || this.#taking) return;
    this.#taking = this.#take()
      .catch((error: unknown) => this.#options.warn(error, ''))
      .finally(() => {
        this.#taking = null;
      });
  }

  /** Takes no more; with `abort` those under way are given back. */
  end({ abort }: { abort: boolean }): void {
    this.#isEnding = true;
    if (abort) this.#aborting.abort();
  }

  /** Resolves when none is under way. */
  async done(): Promise<void> {
    await this.#taking;
    await Promise.all(this.#sending);
  }

  async #take(): Promise<void> {
    const limit = mostAtOnce - this.#sending.size;
    if (limit <= 0) return;
    const taken = await inSqlTransaction(this.#options.database, systemScope, (tx) =>
      takeTestEvents(tx, this.#shard, { limit, takenMs }),
    );
    const mayBeMore = taken.length === limit;
    for (const test of taken) {
      const sending = this.#send(test)
        .catch((error: unknown) => this.#options.warn(error, test.endpoint.id))
        .finally(() => {
          this.#sending.delete(sending);
          if (mayBeMore) this.take();
        });
      this.#sending.add(sending);
    }
  }

  async #send({ id, body: text, url, endpoint }: TakenTestEvent): Promise<void> {
    const { database, policy, secretKeys } = this.#options;
    const client = createGuardedClient(policy);
    const { signal } = this.#aborting;
    try {
      const body = Buffer.from(text);
      const headers = signedHeaders({ id, body, secrets: openEndpoint(secretKeys, endpoint), nowMs: Date.now() });
      const failure = await client.post({ url, headers, body, deadlineMs, signal }).then(
        ({ status }) => (status >= 200 && status < 300 ? null : `answered ${status}`),
        (error: unknown) => {
          if (error instanceof CallFailed) return error.failure;
          throw error;
        },
      );
      await inSqlTransaction(database, systemScope, (tx) =>
        failure === 'call ended' ? returnTestEvent(tx, id) : settleTestEvent(tx, id, failure),
      );
    } finally {
      await client.close();
    }
  }
}
