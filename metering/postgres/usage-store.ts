import { refuse } from '../../billing/refusal.ts';
import type { Database } from '../../db/orm.ts';
import { type Scope, systemScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { onCustomersMarked } from '../../services/usage-mark.ts';
import { UsageNotices } from '../usage-notices.ts';
import type { UsageStore } from '../usage-store.ts';
import { buildMeterRollups } from './build-rollups.ts';
import { CatalogueCache } from './catalogue-cache.ts';
import { DenseUsage } from './dense-usage.ts';
import { appendBatch, appendIn } from './event/append.ts';
import { countEvents } from './event/count-events.ts';
import { readEachEvent } from './event/each-event.ts';
import { listEvents } from './event/list-events.ts';
import { measureEvents } from './event/measure-events.ts';
import { noteOwnEvents } from './event/own-events.ts';
import { readEvent } from './event/read-event.ts';
import { isDataError } from './event/unstorable-event.ts';
import { countVoided, voidEvent } from './event/void-event.ts';
import { defaultLimits, type QueueLimits, WriteQueue } from './event/write-queue.ts';
import { MarkKeeper } from './mark-keeper.ts';
import { readBreakdown, readBucketBreakdown } from './read-breakdown.ts';
import { readSeries } from './read-series.ts';
import { readUsage } from './read-usage.ts';
import { verifyRollups, verifySample } from './verify.ts';

const partitionMonthsAhead = 3;

/**
 * The usage engine on the tables of schema `usage`. One a process: it holds the write queue. `onMarked` hears, now and then,
 * that customers were marked whose usage somebody watches. design: usage.md
 */
export function openPostgresUsageStore(
  database: Database,
  limits: QueueLimits = defaultLimits,
  onMarked?: (scope: Scope) => void,
): UsageStore {
  const cache = new CatalogueCache();
  const partitions = partitionKeeper(database);
  const notices = new UsageNotices(onMarked ?? (() => undefined));
  const marks = new MarkKeeper(database, (scope) => notices.arrived(scope));
  const writer = { cache, marks };
  if (onMarked) onCustomersMarked((scope) => notices.arrived(scope));
  const dense = new DenseUsage(database);
  const queue = new WriteQueue(async (scope, events) => {
    await partitions();
    return appendBatch(database, writer, scope, events);
  }, limits);
  return {
    append: (scope, events) => queue.append(scope, events),
    async load(scope, events, also, turn) {
      await partitions();
      const load = { also, ...(turn ? { turn } : {}) };
      return appendBatch(database, writer, scope, events, load);
    },
    async appendWithin(sql, events) {
      try {
        await appendIn(sql, writer, sql.scope, events);
      } catch (error) {
        if (!isDataError(error)) throw error;
        throw refuse('validation_error', 'one of the events cannot be stored: send other values');
      }
      await noteOwnEvents(sql);
    },
    usage: (sql, scope, questions) => readUsage(sql, scope, questions, (cut) => dense.cut(scope, cut)),
    eachEvent: readEachEvent,
    series: readSeries,
    breakdown: readBreakdown,
    bucketBreakdown: readBucketBreakdown,
    charged: measureEvents,
    counts: countEvents,
    events: listEvents,
    event: readEvent,
    recompute: buildMeterRollups,
    voidEvent,
    countVoided,
    verifySample,
    verify: verifyRollups,
    async close() {
      await queue.drained();
      await marks.close();
      await dense.close();
      notices.close();
    },
  };
}

/** Makes the partitions of the coming months, once a month and process: nothing has to be scheduled. */
function partitionKeeper(database: Database): () => Promise<void> {
  let ensured = '';
  return async () => {
    const month = new Date().toISOString().slice(0, 7);
    if (month === ensured) return;
    await inSqlTransaction(database, systemScope, (tx) =>
      tx.rows('select usage.ensure_event_partitions($1)', [partitionMonthsAhead]),
    );
    ensured = month;
  };
}
