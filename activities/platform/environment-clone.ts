import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { refusalIn } from '../../billing/refusal.ts';
import type { EnvironmentClone } from '../../db/entities/platform/environment-clone.ts';
import type { Database } from '../../db/orm.ts';
import { workflowScope } from '../../db/scope.ts';
import { inSqlTransaction, inTransaction, type Transaction } from '../../db/transaction.ts';
import { beginMetering } from '../../metering/begin-metering.ts';
import { pendingBuilds } from '../../metering/postgres/meter-build.ts';
import {
  beginClone,
  type CloneOutcome,
  lockClone,
  noteItem,
  passOn,
} from '../../services/catalogue/clone/environment-clone.ts';
import { copyItem } from '../../services/catalogue/clone/environment-clone-copy.ts';
import type { CloneOrigin } from '../../services/catalogue/clone/environment-clone-reference.ts';
import {
  nextSourceFeature,
  nextSourcePlan,
  type SourceItem,
} from '../../services/catalogue/clone/environment-clone-source.ts';
import type {
  EnvironmentCloneStanding,
  EnvironmentCloneStart,
} from '../../workflows/platform/environment-clone.messages.ts';
import { meterBuildStartOptions, meterBuildWorkflowType } from '../../workflows/usage/meter-build.messages.ts';
import { crashPoint } from '../crash-points.ts';
import { isOutage } from '../failure.ts';
import { withHeartbeat } from '../heartbeat.ts';

/** A step tells its workflow how far it is after this long. */
const stepMs = 5_000;
const unexpected = 'could not be copied for a reason that nobody foresaw; the log of the worker has it';

export type EnvironmentCloneActivities = ReturnType<typeof createEnvironmentCloneActivities>;

/** What the clone of an environment does. spec: platform §9; design: architecture §3 */
export function createEnvironmentCloneActivities({ database, temporal }: { database: Database; temporal: Client }) {
  const cloner = new ItemCloner(database);
  return {
    beginEnvironmentClone: (start: EnvironmentCloneStart): Promise<EnvironmentCloneStanding> =>
      cloner.inTarget(start, async (tx) => standingOf(await beginClone(tx, start))),

    /** Copies one feature or plan after the other for some seconds; when none is left the run is completed. */
    async cloneItems(start: EnvironmentCloneStart): Promise<EnvironmentCloneStanding> {
      const context = Context.current();
      const until = Date.now() + stepMs;
      return withHeartbeat(async () => {
        const run = await cloner.copyUntil(start, () => Date.now() >= until || context.cancellationSignal.aborted);
        await buildMeters(database, temporal, start);
        crashPoint('cloneItems.beforeAnswer');
        return standingOf(run);
      });
    },
  };
}

/** Takes an item out of the source in one transaction, which sees nothing else, and puts it into the target in another. */
class ItemCloner {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  inTarget<T>(start: EnvironmentCloneStart, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return inTransaction(this.database, { ...workflowScope(start), ...start.caller }, work);
  }

  async copyUntil(start: EnvironmentCloneStart, isOver: () => boolean): Promise<EnvironmentClone> {
    let run = await this.inTarget(start, (tx) => lockClone(tx, start.cloneId));
    while (run.cloneStatus === 'running' && !isOver()) run = await this.copyNext(start, run);
    return run;
  }

  private async copyNext(start: EnvironmentCloneStart, run: EnvironmentClone): Promise<EnvironmentClone> {
    crashPoint('cloneItems.beforeEffect');
    const item = await this.nextItem(start, run);
    if (item === null) return this.goOn(start, run, passOn);
    const { sourceEnvironmentId } = start;
    const copy = () =>
      this.goOn(start, run, async (tx, locked) => {
        const origin: CloneOrigin = { sourceEnvironmentId, newMeters: [] };
        const outcome = await copyItem(tx, item, origin);
        await noteItem(tx, locked, item.id, { outcome });
        for (const meter of origin.newMeters) await beginMetering(tx, meter);
        crashPoint('cloneItems.beforeCommit');
      });
    // What somebody made at the same moment is there when it is looked for again.
    const onceMore = (error: unknown) =>
      refusalIn(error)?.code === 'already_exists' ? copy() : Promise.reject(error as Error);
    return copy()
      .catch(onceMore)
      .catch((error: unknown) => this.leaveBehind(start, run, item, error));
  }

  private nextItem(start: EnvironmentCloneStart, run: EnvironmentClone): Promise<SourceItem | null> {
    const source = { ...workflowScope(start), environmentId: start.sourceEnvironmentId };
    return inTransaction<SourceItem | null>(this.database, source, (tx) =>
      run.entityType === 'feature' ? nextSourceFeature(tx, run.afterId) : nextSourcePlan(tx, run.afterId),
    );
  }

  /** Does `work` unless another worker has moved the run meanwhile, and answers where the run is. */
  private goOn(
    start: EnvironmentCloneStart,
    seen: EnvironmentClone,
    work: (tx: Transaction, run: EnvironmentClone) => Promise<void>,
  ): Promise<EnvironmentClone> {
    return this.inTarget(start, async (tx) => {
      const run = await lockClone(tx, start.cloneId);
      const isThere = run.entityType === seen.entityType && run.afterId === seen.afterId;
      if (isThere && run.cloneStatus === 'running') await work(tx, run);
      return run;
    });
  }

  /** Notes why an item could not be copied, and goes on behind it. The next run tries it again. */
  private leaveBehind(
    start: EnvironmentCloneStart,
    run: EnvironmentClone,
    item: SourceItem,
    error: unknown,
  ): Promise<EnvironmentClone> {
    if (isOutage(error)) throw error;
    const refusal = refusalIn(error);
    if (!refusal) Context.current().log.warn(`${item.kind} ${item.id} was not cloned`, { error });
    const result: CloneOutcome = { outcome: 'failed', message: (refusal?.message ?? unexpected).slice(0, 300) };
    return this.goOn(start, run, (tx, locked) => noteItem(tx, locked, item.id, result));
  }
}

/** Has the roll-ups of copied meters built where events of their names came before them. What does not start, reconcile starts. */
async function buildMeters(database: Database, temporal: Client, start: EnvironmentCloneStart): Promise<void> {
  const { tenantId, environmentId } = start;
  const meterIds = await inSqlTransaction(database, workflowScope(start), (tx) => pendingBuilds(tx, tx.scope));
  for (const meterId of meterIds) {
    const options = meterBuildStartOptions({ tenantId, environmentId, meterId });
    await temporal.workflow.start(meterBuildWorkflowType, options);
  }
}

function standingOf(run: EnvironmentClone): EnvironmentCloneStanding {
  return {
    clone_status: run.cloneStatus as EnvironmentCloneStanding['clone_status'],
    copying: run.entityType as EnvironmentCloneStanding['copying'],
    behind: run.afterId,
    features: { cloned: run.featuresCloned, skipped: run.featuresSkipped, failed: run.featuresFailed },
    plans: { cloned: run.plansCloned, skipped: run.plansSkipped, failed: run.plansFailed },
    errors: run.cloneStatus === 'running' ? [] : run.errors,
  };
}
