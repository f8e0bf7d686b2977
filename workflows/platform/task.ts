import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { TaskActivities } from '../../activities/usage/task.ts';
import { databaseStep, heartbeatTimeout } from '../activity-options.ts';
import { described } from '../handler-descriptions.ts';
import { bulkTaskQueue } from '../start.messages.ts';
import { begin, cancel, type ImportProgress, type ImportStart, progress, progressed } from './task.messages.ts';

const local = proxyLocalActivities<TaskActivities>(databaseStep);
const { importEvents } = proxyActivities<TaskActivities>({
  taskQueue: bulkTaskQueue,
  startToCloseTimeout: '30m',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '20s' },
});

/**
 * Imports the file of a task in one long step that another worker goes on with where a killed one was: the row counts the
 * records in the transactions that store them. Ends as the task does: one that failed fails, with the reason; it begins again when
 * it is asked to.
 * spec: platform §18; design: architecture §3 import
 */
export async function importFile(start: ImportStart): Promise<ImportProgress & { state: string }> {
  let wanted = true;
  let state = 'waiting';
  let reached = { processedRecords: 0, successfulRecords: 0, failedRecords: 0 };
  let running: CancellationScope | null = null;

  const show = (standing: string) => setCurrentDetails(`Import ${start.taskId}\n\n${standing}`);
  setHandler(
    begin,
    () => {
      wanted = true;
    },
    described(begin),
  );
  setHandler(
    cancel,
    () => {
      running?.cancel();
      return { cancelled: running !== null };
    },
    described(cancel),
  );
  setHandler(
    progressed,
    (now) => {
      reached = now;
      show(`${now.processedRecords} records, ${now.failedRecords} of them refused`);
    },
    described(progressed),
  );
  setHandler(progress, () => ({ ...reached, state }), described(progress));

  let failure: string | null = null;
  while (wanted) {
    wanted = false;
    state = 'importing';
    running = new CancellationScope();
    try {
      const { failure: refused = null, ...counts } = await running.run(() => importEvents(start));
      reached = counts;
      failure = refused;
      state = failure === null ? 'ended' : 'failed';
    } catch (error) {
      state = isCancellation(error) ? 'cancelled' : 'failed';
      const reason = state === 'cancelled' ? 'cancelled' : reasonOf(error);
      failure = state === 'cancelled' ? null : reason;
      // Also when it is Temporal that was asked to cancel the workflow: the row says how the import ended.
      await CancellationScope.nonCancellable(() => local.failImport({ ...start, reason }));
    }
    running = null;
    show(`${state} after ${reached.processedRecords} records${failure === null ? '' : `: ${failure}`}`);
  }
  await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  // An import that failed is no completed workflow; runs that began with an earlier release end as they did.
  if (failure !== null && patched('2026-11-failed-imports')) throw failed(failure, reached.processedRecords);
  return { state, ...reached };
}

function failed(reason: string, records: number): ApplicationFailure {
  const message = `${reason} · after ${records} records · PUT /v1/tasks/{id}/status with PROCESSING goes on`;
  return ApplicationFailure.create({ type: 'import', message, nonRetryable: true });
}

function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure && error.cause ? error.cause : (error as Error);
  return cause.message.slice(0, 300);
}
