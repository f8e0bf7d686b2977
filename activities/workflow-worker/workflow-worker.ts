import { type Logger, Worker, type WorkerOptions } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import { followNoPromises } from './promise-hooks.ts';
import { type WorkflowBundle, type WorkflowThread, withoutLimit } from './workflow-thread.ts';

interface WorkflowWorkerOptions extends WorkerOptions {
  /** Where its workflows run, with those of other workers of the process that were given the same. */
  workflowThread: WorkflowThread;
}

/** A worker of which it is told where its workflows run. The caller runs it and shuts it down. */
export function createWorkflowWorker(options: WorkflowWorkerOptions): Promise<Worker> {
  return WorkflowWorker.create(options);
}

/**
 * A worker whose workflows are watched together. The SDK limits the time of each call it makes into a workflow, and Node makes a
 * thread of the operating system for each such limit, which took a quarter of the processor time of a period. Here one watch sees
 * that the thread of the workflows answers. A workflow that does not come back for five seconds fails its task, as with the SDK:
 * Temporal shows it and tries again, and the other workflows go on. A replay, and a worker that is debugged (`TEMPORAL_DEBUG`), runs
 * them in its own thread, unwatched.
 */
export class WorkflowWorker extends Worker {
  protected static override async createWorkflowCreator(
    bundle: WorkflowBundle,
    options: CompiledWorkerOptions & { workflowThread?: WorkflowThread },
    logger: Logger,
  ): Promise<WorkflowCreator> {
    if (options.workflowThread && !options.debugMode) return options.workflowThread.join(bundle, logger);
    followNoPromises();
    return Worker.createWorkflowCreator(bundle, { ...options, isolateExecutionTimeoutMs: withoutLimit }, logger);
  }
}
