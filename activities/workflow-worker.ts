import type { Worker as Thread } from 'node:worker_threads';
import { type Logger, UnexpectedError, Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { Workflow, WorkflowCreateOptions, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import {
  ThreadedVMWorkflowCreator,
  type ThreadedVMWorkflowCreatorOptions,
  type WorkerThreadClient,
} from '@temporalio/worker/lib/workflow/threaded-vm.js';
import { AnswerWatch } from './answer-watch.ts';
import { interruptThread } from './thread-interrupt.ts';

const tickMs = 1_000;

/** What stands for the limit of each call; the types of the SDK know no worker without. */
const withoutLimit = undefined as unknown as number;

/**
 * A worker whose workflows are watched together. The SDK limits the time of each call it makes into a workflow, and Node makes a
 * thread of the operating system for each such limit, which took a quarter of the processor time of a period. Here one watch sees
 * that the thread of the workflows answers. A workflow that does not come back for five seconds fails its task, as with the SDK:
 * Temporal shows it and tries again, and the other workflows go on.
 */
export class WorkflowWorker extends Worker {
  protected static override async createWorkflowCreator(
    workflowBundle: ThreadedVMWorkflowCreatorOptions['workflowBundle'],
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    const unlimited = { ...options, isolateExecutionTimeoutMs: withoutLimit };
    // A replay runs in the thread of whoever asks for it.
    if (options.debugMode) return Worker.createWorkflowCreator(workflowBundle, unlimited, logger);
    return WatchedWorkflowCreator.create({
      workflowBundle,
      threadPoolSize: 1,
      isolateExecutionTimeoutMs: withoutLimit,
      reuseV8Context: options.reuseV8Context ?? true,
      registeredActivityNames: new Set(options.activities.keys()),
      logger,
    });
  }
}

/** Workflows in one thread that is watched. */
class WatchedWorkflowCreator extends ThreadedVMWorkflowCreator {
  readonly #watch: AnswerWatch;
  readonly #ticking: NodeJS.Timeout;

  constructor(clients: WorkerThreadClient[]) {
    super(clients);
    const [thread] = clients.map(threadOf);
    this.#watch = new AnswerWatch({
      interrupt: () => interruptThread(thread?.threadId ?? 0),
      unanswered: (workflow) => new Error(`${workflow} did not come back and was interrupted`),
      lost: (workflow) => new UnexpectedError(`the thread of workflows cannot be interrupted in ${workflow}`),
    });
    this.#ticking = setInterval(() => this.#watch.tick(), tickMs).unref();
  }

  override async createWorkflow(options: WorkflowCreateOptions): Promise<Workflow> {
    const { workflowType, workflowId } = options.info;
    const name = `the workflow ${workflowType} ${workflowId}`;
    const workflow = await this.#watch.watch(name, super.createWorkflow(options));
    return {
      activate: (activation) => this.#watch.watch(name, workflow.activate(activation)),
      getAndResetSinkCalls: () => workflow.getAndResetSinkCalls(),
      dispose: () => workflow.dispose(),
    };
  }

  override async destroy(): Promise<void> {
    await super.destroy();
    clearInterval(this.#ticking);
  }
}

/** The SDK keeps the thread to itself. */
function threadOf(client: WorkerThreadClient): Thread {
  return (client as unknown as { workerThread: Thread }).workerThread;
}
