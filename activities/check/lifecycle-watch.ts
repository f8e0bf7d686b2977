import { Context } from '@temporalio/activity';
import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  type WorkflowExecutionInfo,
} from '@temporalio/client';
import type { Database } from '../../db/orm.ts';
import { systemScope, workflowScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import { forgetDeliveries } from '../../services/event/webhook/delivery.ts';
import { eraseDeletedSecrets } from '../../services/integration/connection-secret.ts';
import { type LiveObject, liveAmong, restartIsAudited } from '../../services/lifecycle/live-object.ts';
import { writeAudit } from '../../services/platform/audit.ts';
import {
  type LifecycleWatchResult,
  lifecycleWatchInterval,
  lifecycleWatchScheduleId,
  lifecycleWatchWorkflowType,
  ownerKeys,
  watchedTypes,
} from '../../workflows/check/lifecycle-watch.messages.ts';
import { lifecycleTaskQueue, workflowTaskTimeout } from '../../workflows/start.messages.ts';
import { forgetOldEvents } from '../event/outbound-retention.ts';
import { withHeartbeat } from '../heartbeat.ts';
import type { ConnectedProviders } from '../integration/connected-gateway.ts';
import { readProviderEvents } from '../integration/provider-events.ts';
import { tendProviderInboxes } from '../integration/provider-inbox.ts';
import { tellLate } from './late-signals.ts';
import { startObject } from './reconcile.ts';

/** Visibility may learn of an end a little later than it happened, and clocks of machines differ. */
const overlapMs = 2 * 60_000;
/** Start of the first look; what was closed earlier was found by `reconcile` at the start of a worker. */
const firstLookMs = 60 * 60_000;
const pageSize = 200;
const maxStarting = 32;
/** Beginning of an instant's text that names its hour. */
const hourLength = '2026-01-31T00'.length;

/** A workflow that was closed from outside. */
interface ClosedLifecycle {
  objectType: string;
  objectId: string;
  environmentId: string;
  runId: string;
  /** `TERMINATED`, `CANCELLED`, `FAILED` or `TIMED_OUT`. */
  closedAs: string;
  closedAt: string;
}

export type LifecycleWatchActivities = ReturnType<typeof createLifecycleWatchActivities>;

/** Activities that start workflows again which somebody closed from outside. */
export function createLifecycleWatchActivities(dependencies: {
  database: Database;
  temporal: Client;
  providers?: ConnectedProviders | undefined;
  /** Days for which outbound events are kept; for good when absent. */
  outboundEventDays?: number | undefined;
}) {
  return {
    /**
     * Asks Temporal which lifecycles were closed from outside since `since`, and starts those again, as `reconcile` does, whose rows
     * still wait for something, tells again where a signal or a notification may have been lost, reads the events of providers once an hour, and erases
     * secrets and forgets attempts to deliver webhooks and outbound events that were kept long enough; those that an endpoint waited for once an hour.
     * Doing it again changes nothing: one that runs is left alone.
     */
    async restartClosed({ since }: { since: string | null }): Promise<LifecycleWatchResult> {
      return withHeartbeat(async () => {
        const until = new Date().toISOString();
        const from = since === null ? Date.now() - firstLookMs : Date.parse(since) - overlapMs;
        const found = { closed: 0, restarted: 0 };
        for await (const page of closedSince(dependencies.temporal, new Date(from).toISOString())) {
          found.closed += page.length;
          found.restarted += await restartPage(dependencies, page, Context.current());
        }
        await tendProviderInboxes(dependencies.database, dependencies.temporal);
        await readProviderEvents(dependencies.database, dependencies.temporal, dependencies.providers);
        await inSqlTransaction(dependencies.database, systemScope, (tx) => eraseDeletedSecrets(tx, until));
        await forgetOldDeliveries(dependencies.database, until);
        const withFreed = since === null || since.slice(0, hourLength) !== until.slice(0, hourLength);
        const { database, outboundEventDays: days } = dependencies;
        if (days !== undefined) await forgetOldEvents(database, { now: until, days, withFreed });
        return { until, ...found, told: await tellLate(dependencies) };
      });
    },
  };
}

/** Most steps of a look by which attempts to deliver webhooks are forgotten; the next look goes on. */
const mostForgetting = 100;

async function forgetOldDeliveries(database: Database, now: string): Promise<void> {
  for (let step = 0; step < mostForgetting; step += 1) {
    const forgotten = await inSqlTransaction(database, systemScope, (tx) => forgetDeliveries(tx, now));
    if (forgotten === 0) return;
  }
}

/** Pages of those closed since `from`, the last end of each object alone. */
async function* closedSince(temporal: Client, from: string): AsyncGenerator<ClosedLifecycle[]> {
  const types = Object.keys(watchedTypes).map((type) => `"${type}"`);
  const statuses = ['Terminated', 'Canceled', 'Failed', 'TimedOut'].map((status) => `"${status}"`);
  const query = `WorkflowType IN (${types}) AND ExecutionStatus IN (${statuses}) AND CloseTime >= "${from}"`;
  const seen = new Set<string>();
  let page: ClosedLifecycle[] = [];
  for await (const execution of temporal.workflow.list({ query, pageSize })) {
    const closed = closedLifecycle(execution);
    if (closed === null || seen.has(execution.workflowId)) continue;
    seen.add(execution.workflowId);
    page.push(closed);
    if (page.length < pageSize) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/** Null for one that does not say whose it is: it was started by something else. */
function closedLifecycle(execution: WorkflowExecutionInfo): ClosedLifecycle | null {
  const environmentId = execution.typedSearchAttributes.get(ownerKeys.environmentId);
  const objectType = watchedTypes[execution.type];
  if (!environmentId || !objectType) return null;
  return {
    objectType,
    objectId: execution.workflowId.slice(execution.workflowId.lastIndexOf('/') + 1),
    environmentId,
    runId: execution.runId,
    closedAs: execution.status.name,
    closedAt: (execution.closeTime ?? execution.startTime).toISOString(),
  };
}

/** Starts those of a page again that still wait for something; answers how many. */
async function restartPage(
  { database, temporal }: { database: Database; temporal: Client },
  page: readonly ClosedLifecycle[],
  context: Context,
): Promise<number> {
  const live = await inSqlTransaction(database, systemScope, async (tx) => {
    const groups = Object.values(Object.groupBy(page, (one) => `${one.environmentId} ${one.objectType}`));
    const found = new Map<string, LiveObject>();
    for (const [first, ...others] of groups as ClosedLifecycle[][]) {
      if (!first) continue;
      const ids = [first, ...others].map(({ objectId }) => objectId);
      for (const object of await liveAmong(tx, first, ids)) found.set(object.objectId, object);
    }
    return found;
  });
  const waiting = page.filter(({ objectId }) => live.has(objectId));
  let restarted = 0;
  const restart = async () => {
    for (let closed = waiting.shift(); closed; closed = waiting.shift()) {
      const object = live.get(closed.objectId) as LiveObject;
      const wasStarted = await startObject({ database, temporal }, object, false);
      // A worker that was killed between the start and its audit left that to the next try.
      if (!wasStarted && context.info.attempt === 1) continue;
      if (await auditRestart(database, object, closed)) restarted += 1;
    }
  };
  await Promise.all(Array.from({ length: maxStarting }, restart));
  return restarted;
}

/** Writes down, once for a run that was closed, that its object's workflow was started again; false where that was written. */
async function auditRestart(database: Database, object: LiveObject, closed: ClosedLifecycle): Promise<boolean> {
  const { objectType, objectId } = object;
  const { runId, closedAs, closedAt } = closed;
  const isNew = await inSqlTransaction(database, workflowScope(object), async (tx) => {
    if (await restartIsAudited(tx, { objectId, runId })) return false;
    const reason = `its workflow was closed from outside (${closedAs}) although it still waits for something`;
    const detail = { reason, run_id: runId, closed_at: closedAt };
    await writeAudit(tx, tx.scope, [
      { objectType, objectId, action: 'workflow restarted', occurredAt: new Date().toISOString(), detail },
    ]);
    return true;
  });
  if (isNew) countRestart(objectType);
  return isNew;
}

function countRestart(kind: string): void {
  Context.current()
    .metricMeter.createCounter(
      'perennial_restarted_lifecycles_total',
      undefined,
      'Lifecycles started again because their workflow was closed from outside, by kind',
    )
    .add(1, { kind });
}

/** Has it looked for closed lifecycles, by a schedule that all workers share. */
export async function scheduleLifecycleWatch(temporal: Client): Promise<void> {
  const schedule = {
    spec: { intervals: [{ every: lifecycleWatchInterval }] },
    action: {
      type: 'startWorkflow' as const,
      workflowType: lifecycleWatchWorkflowType,
      workflowId: lifecycleWatchScheduleId,
      taskQueue: lifecycleTaskQueue,
      workflowTaskTimeout,
      args: [] as [],
      staticSummary: 'Looks for lifecycles that were closed from outside',
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1m' as const },
  };
  try {
    await temporal.schedule.create({ ...schedule, scheduleId: lifecycleWatchScheduleId });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await temporal.schedule.getHandle(lifecycleWatchScheduleId).update((present) => ({ ...present, ...schedule }));
  }
}
