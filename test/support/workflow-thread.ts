import { WorkflowThread } from '../../activities/workflow-worker/workflow-thread.ts';

const ofProcess = globalThis as unknown as { perennialWorkflowThread?: WorkflowThread };

/**
 * One thread for the workflows of all test files of a process: to start one, and to load the workflows into it, takes longer than many a
 * test. The workflows of a file end with its workers.
 */
export function keptWorkflowThread(activityNames: readonly string[]): WorkflowThread {
  ofProcess.perennialWorkflowThread ??= new WorkflowThread(activityNames).keep();
  return ofProcess.perennialWorkflowThread;
}
