import {
  ActivityCancellationType,
  ActivityFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { TaskActivities } from '../activities/task.ts';
import { databaseStep } from './activity-options.ts';
import { bulkTaskQueue } from './start.messages.ts';
import { begin, cancel, type ImportStart, progress, progressed } from './task.messages.ts';

const local = proxyLocalActivities<TaskActivities>(databaseStep);
const { importEvents } = proxyActivities<TaskActivities>({
  taskQueue: bulkTaskQueue,
  startToCloseTimeout: '30m',
  heartbeatTimeout: '20s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '20s' },
});

/**
 * Imports the file of a task in one long step that another worker goes on with where a killed one was: the row counts the
 * records in the transactions that store them. Ends with the task; a failed one begins again when it is asked to.
 * spec: platform §18; design: architecture §3 import
 */
export async function importFile(start: ImportStart): Promise<void> {
  let wanted = true;
  let state = 'waiting';
  let reached = { processedRecords: 0, successfulRecords: 0, failedRecords: 0 };
  let running: CancellationScope | null = null;

  setHandler(begin, () => {
    wanted = true;
  });
  setHandler(cancel, () => {
    running?.cancel();
    return { cancelled: running !== null };
  });
  setHandler(progressed, (now) => {
    reached = now;
    setCurrentDetails(`${now.processedRecords} records, ${now.failedRecords} of them refused`);
  });
  setHandler(progress, () => ({ ...reached, state }));

  while (wanted) {
    wanted = false;
    state = 'importing';
    running = new CancellationScope();
    try {
      reached = await running.run(() => importEvents(start));
      state = 'ended';
    } catch (error) {
      state = isCancellation(error) ? 'cancelled' : 'failed';
      await local.failImport({ ...start, reason: state === 'cancelled' ? 'cancelled' : reasonOf(error) });
    }
    running = null;
    setCurrentDetails(`${state} after ${reached.processedRecords} records`);
  }
  await condition(allHandlersFinished);
}

function reasonOf(error: unknown): string {
  const cause = error instanceof ActivityFailure && error.cause ? error.cause : (error as Error);
  return cause.message.slice(0, 300);
}
