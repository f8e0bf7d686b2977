import { Context } from '@temporalio/activity';
import type { Database } from '../../db/orm.ts';
import { type Scope, workflowScope } from '../../db/scope.ts';
import { inSqlTransaction, type SqlTransaction } from '../../db/transaction.ts';
import {
  beginPriceSync,
  endPriceSync,
  lockPriceSync,
  type PriceSyncRow,
  recordStep,
} from '../../services/subscription/price-sync/price-sync.ts';
import { countWanted, nextParticipants, syncSet } from '../../services/subscription/price-sync/price-sync-set.ts';
import type { PriceSyncStanding, PriceSyncStart } from '../../workflows/catalogue/price-sync.messages.ts';
import { crashPoint } from '../crash-points.ts';
import { isOutage } from '../failure.ts';
import { withHeartbeat } from '../heartbeat.ts';

/** So many subscriptions share a transaction; a command on one of them waits no longer than that takes. */
const maxSubscriptionsASet = 200;
/** A step tells its workflow how far it is after this long. */
const stepMs = 5_000;

export type PriceSyncActivities = ReturnType<typeof createPriceSyncActivities>;

/** What a price sync does. design: architecture §3; spec: catalogue-and-metering §3.1 */
export function createPriceSyncActivities({ database }: { database: Database }) {
  const inScope = <T>(start: PriceSyncStart, work: (tx: SqlTransaction) => Promise<T>) =>
    inSqlTransaction(database, { ...workflowScope(start), ...start.caller }, work);

  return {
    beginPriceSync: (start: PriceSyncStart): Promise<PriceSyncStanding> =>
      inScope(start, async (tx) => standingOf(await beginPriceSync(tx, tx.scope, start))),

    /** Syncs one set after the other for some seconds; when none is left the run is completed. */
    async syncPrices(start: PriceSyncStart): Promise<PriceSyncStanding> {
      const { cancellationSignal } = Context.current();
      return withHeartbeat(async () => {
        const run = await setAfterSet(inScope, start, cancellationSignal);
        crashPoint('syncPrices.beforeAnswer');
        return standingOf(run);
      });
    },

    /** Ends a run before its time; what is synced stays synced. */
    endPriceSync: (start: PriceSyncStart): Promise<PriceSyncStanding> =>
      inScope(start, async (tx) => standingOf(await endPriceSync(tx, tx.scope, start.syncId, 'cancelled'))),
  };
}

type InScope = <T>(start: PriceSyncStart, work: (tx: SqlTransaction) => Promise<T>) => Promise<T>;

async function setAfterSet(inScope: InScope, start: PriceSyncStart, cancelled: AbortSignal): Promise<PriceSyncRow> {
  const until = Date.now() + stepMs;
  for (;;) {
    const run = await nextSet(inScope, start);
    if (run.syncStatus !== 'running' || Date.now() >= until || cancelled.aborted) return run;
  }
}

/** One set in one transaction; when that fails each of its subscriptions is tried alone, so that one fails only itself. */
async function nextSet(inScope: InScope, start: PriceSyncStart): Promise<PriceSyncRow> {
  crashPoint('syncPrices.beforeEffect');
  try {
    return await inScope(start, async (tx) => {
      const run = await syncNext(tx, tx.scope, start.syncId, maxSubscriptionsASet);
      crashPoint('syncPrices.beforeCommit');
      return run;
    });
  } catch (error) {
    if (isOutage(error)) throw error;
    return alone(inScope, start);
  }
}

async function alone(inScope: InScope, start: PriceSyncStart): Promise<PriceSyncRow> {
  for (let done = 0; done < maxSubscriptionsASet; done += 1) {
    const run = await inScope(start, (tx) => syncNext(tx, tx.scope, start.syncId, 1)).catch((error: unknown) => {
      if (isOutage(error)) throw error;
      return leaveBehind(inScope, start, error as Error);
    });
    if (run.syncStatus !== 'running') return run;
  }
  return inScope(start, (tx) => lockPriceSync(tx, tx.scope, start.syncId));
}

async function syncNext(tx: SqlTransaction, scope: Scope, syncId: string, limit: number): Promise<PriceSyncRow> {
  const run = await lockPriceSync(tx, scope, syncId);
  if (run.syncStatus !== 'running') return run;
  const subscriptionIds = await nextParticipants(tx, scope, run, limit);
  const lastId = subscriptionIds.at(-1);
  if (lastId === undefined) return endPriceSync(tx, scope, syncId, 'completed');
  const { planId, targetSequence } = run;
  const counts = await syncSet(tx, scope, { syncId, planId, targetSequence, subscriptionIds });
  await recordStep(tx, scope, syncId, { ...counts, lastId, failures: [] });
  return lockPriceSync(tx, scope, syncId);
}

/** Notes why the next subscription could not be synced, and goes on behind it. The next run tries it again. */
async function leaveBehind(inScope: InScope, start: PriceSyncStart, error: Error): Promise<PriceSyncRow> {
  const next = (tx: SqlTransaction, run: PriceSyncRow) => nextParticipants(tx, tx.scope, run, 1);
  const found = await inScope(start, async (tx) => {
    const run = await lockPriceSync(tx, tx.scope, start.syncId);
    const { planId, targetSequence } = run;
    const subscriptionIds = await next(tx, run);
    return countWanted(tx, tx.scope, { syncId: start.syncId, planId, targetSequence, subscriptionIds });
  }).catch(() => 0);
  return inScope(start, async (tx) => {
    const run = await lockPriceSync(tx, tx.scope, start.syncId);
    const [failed] = run.syncStatus === 'running' ? await next(tx, run) : [];
    // What failed was not a subscription: the step as a whole does, and its workflow waits for a person.
    if (failed === undefined) throw error;
    const failures = [{ subscription_id: failed, reason: error.message.slice(0, 300) }];
    const nothing = { synced: 0, created: 0, terminated: 0 };
    await recordStep(tx, tx.scope, start.syncId, { ...nothing, found, lastId: failed, failures });
    return lockPriceSync(tx, tx.scope, start.syncId);
  });
}

function standingOf(run: PriceSyncRow): PriceSyncStanding {
  return {
    sync_status: run.syncStatus,
    subscriptions_found: run.subscriptionsFound,
    subscriptions_synced: run.subscriptionsSynced,
    subscriptions_failed: run.subscriptionsFailed,
    line_items_found_for_creation: run.lineItemsFoundForCreation,
    line_items_created: run.lineItemsCreated,
    line_items_terminated: run.lineItemsTerminated,
  };
}
