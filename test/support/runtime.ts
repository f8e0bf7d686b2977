import { DefaultLogger, Runtime } from '@temporalio/worker';
import { WorkflowThread } from '../../activities/workflow-worker/workflow-thread.ts';

/**
 * The SDK's runtime, of which a process has one: every file that opens a connection of workers imports this first, for files share
 * processes. What a worker warns about here is what the tests provoke, and no signal but the run's own stops it.
 */
Runtime.install({ logger: new DefaultLogger(process.env.TEST_LOG ? 'WARN' : 'ERROR'), shutdownSignals: [] });

const ofProcess = globalThis as unknown as { perennialWorkflowThread?: WorkflowThread };

/**
 * Thread for the workflows of all test files of a process. Starting a thread and loading the workflows takes longer than many a test.
 * The workflows of a file end with its workers.
 */
export function keptWorkflowThread(activityNames: readonly string[]): WorkflowThread {
  ofProcess.perennialWorkflowThread ??= new WorkflowThread(activityNames).keep();
  return ofProcess.perennialWorkflowThread;
}
