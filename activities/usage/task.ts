import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { Database } from '../../db/orm.ts';
import { type Scope, workflowScope } from '../../db/scope.ts';
import { inSqlTransaction } from '../../db/transaction.ts';
import type { OutgoingPolicy } from '../../integrations/guarded-client.ts';
import type { UsageStore } from '../../metering/usage-store.ts';
import { endImport } from '../../services/platform/task-progress.ts';
import { type ImportProgress, type ImportStart, progressed } from '../../workflows/platform/task.messages.ts';
import { runImport } from './import-events.ts';

export interface TaskActivityDependencies {
  database: Database;
  metering: UsageStore;
  temporal: Client;
  outgoing: OutgoingPolicy;
}

export type TaskActivities = ReturnType<typeof createTaskActivities>;

const beatEveryMs = 1_000;
const beatsATelling = 5;

/** The steps of imports. spec: platform §18 */
export function createTaskActivities(dependencies: TaskActivityDependencies) {
  const { database } = dependencies;
  return {
    /** Imports what is left of a task's file, with heartbeats; ends the task when it is through or cannot go on. */
    async importEvents(start: ImportStart): Promise<ImportProgress & { failure?: string | null }> {
      const context = Context.current();
      const workflow = context.info.workflowExecution;
      const reached: ImportProgress = { processedRecords: 0, successfulRecords: 0, failedRecords: 0 };
      let beats = 0;
      const beating = setInterval(() => {
        context.heartbeat({ ...reached });
        beats += 1;
        if (beats % beatsATelling !== 0) return;
        const handle = dependencies.temporal.workflow.getHandle(workflow?.workflowId ?? '', workflow?.runId);
        // Only what an operator sees hangs on it.
        handle.signal(progressed, { ...reached }).catch(() => undefined);
      }, beatEveryMs);
      context.heartbeat({ ...reached });
      try {
        const failure = await runImport(dependencies, scopeOf(start), {
          taskId: start.taskId,
          runId: workflow?.runId ?? '',
          signal: context.cancellationSignal,
          onProgress: ({ processedRecords, successfulRecords, failedRecords }) => {
            // Counts alone: an address of a file has no place in a history.
            Object.assign(reached, { processedRecords, successfulRecords, failedRecords });
          },
        });
        return { ...reached, failure };
      } catch (error) {
        // A cancelled step ends as cancelled, whatever broke off because of it.
        if (context.cancellationSignal.aborted) await context.cancelled;
        throw error;
      } finally {
        clearInterval(beating);
      }
    },

    /** Ends a task that was cancelled or could not go on. */
    async failImport(input: ImportStart & { reason: string }): Promise<void> {
      const at = new Date().toISOString();
      await inSqlTransaction(database, scopeOf(input), (tx) =>
        endImport(tx, tx.scope, { taskId: input.taskId, at, reason: input.reason }),
      );
    },
  };
}

function scopeOf({ tenantId, environmentId }: ImportStart): Scope {
  return workflowScope({ tenantId, environmentId });
}
