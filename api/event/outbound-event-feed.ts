import { setTimeout as pause } from 'node:timers/promises';
import { refuse } from '../../billing/refusal.ts';
import type { Database } from '../../db/orm.ts';
import type { Scope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { type FeedPage, readOutboundEvents } from '../../services/event/outbound-event.ts';
import { createOutboxListener, type OutboxListener } from '../../services/event/outbox-listener.ts';

export interface FeedQuery {
  after: string | null;
  limit: number;
  /** How long to wait for an event when there is none; 0 answers at once. */
  waitMs: number;
}

/** The feed of one process: short reads, and a bounded number of readers that wait for what comes next. */
export interface OutboundEventFeed {
  /** The next page; empty when nothing came within `waitMs`, `gone` was aborted, or the process drains. */
  read(scope: Scope, query: FeedQuery, gone: AbortSignal): Promise<FeedPage>;
  close(): Promise<void>;
}

const maxWaitingReaders = 100;
/** The safety net under the notifications, which may be lost with a connection. */
const slowPollMs = 1_000;

/**
 * Long polling on the outbox. No transaction is open and no connection is held while a reader waits. Throws
 * `too_many_requests` when 100 readers wait already. design: architecture §5 Outbox
 */
export function createOutboundEventFeed(
  database: Database,
  maxWaiting = maxWaitingReaders,
  listener: OutboxListener = createOutboxListener(database),
): OutboundEventFeed {
  let waiting = 0;
  const readOnce = (scope: Scope, query: FeedQuery) =>
    inSqlTransaction(database, scope, (tx) => readOutboundEvents(tx, query));

  async function wait(scope: Scope, query: FeedQuery, gone: AbortSignal): Promise<FeedPage> {
    const deadline = performance.now() + query.waitMs;
    let position = query;
    for (;;) {
      // Listening starts before the read: what commits after the read is heard.
      const wish = await listener.listen(scope.environmentId);
      try {
        const page = await readOnce(scope, position);
        const leftMs = deadline - performance.now();
        if (page.events.length > 0 || leftMs <= 0 || gone.aborted || listener.closed) return page;
        position = { ...query, after: page.next };
        await heardWithin(wish.heard, Math.min(slowPollMs, leftMs), gone);
      } finally {
        wish.forget();
      }
    }
  }

  return {
    async read(scope, query, gone) {
      if (query.waitMs === 0) return readOnce(scope, query);
      if (waiting >= maxWaiting) {
        throw refuse(
          'too_many_requests',
          `${maxWaiting} readers wait for outbound events already; try again, or send wait=0`,
        );
      }
      waiting += 1;
      try {
        return await wait(scope, query, gone);
      } finally {
        waiting -= 1;
      }
    },
    close: () => listener.close(),
  };
}

/** Returns when something was heard, the time is over, or `gone` was aborted. */
export async function heardWithin(heard: Promise<void>, milliseconds: number, gone: AbortSignal): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([gone, over.signal]);
  const silence = pause(milliseconds, undefined, { signal }).catch(() => undefined);
  try {
    await Promise.race([heard, silence]);
  } finally {
    over.abort();
  }
}
