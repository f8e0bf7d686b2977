import { Worker as Thread } from 'node:worker_threads';
import { type Logger, UnexpectedError, Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options.js';
import type { Workflow, WorkflowCreateOptions, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import {
  ThreadedVMWorkflowCreator,
  type ThreadedVMWorkflowCreatorOptions,
  WorkerThreadClient,
} from '@temporalio/worker/lib/workflow/threaded-vm.js';
import { AnswerWatch } from './answer-watch.ts';
import { interruptThread } from './thread-interrupt.ts';
import { followNoPromises } from './workflow-hooks.ts';

type WorkflowBundle = ThreadedVMWorkflowCreatorOptions['workflowBundle'];

const threadFile = new URL('./workflow-thread.ts', import.meta.url);
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
    workflowBundle: WorkflowBundle,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    if (!options.debugMode) return WatchedWorkflowCreator.start(workflowBundle, options, logger);
    // A replay runs in the thread of whoever asks for it.
    followNoPromises();
    const unlimited = { ...options, isolateExecutionTimeoutMs: withoutLimit };
    return Worker.createWorkflowCreator(workflowBundle, unlimited, logger);
  }
}

/** Workflows in one thread that is watched. */
class WatchedWorkflowCreator extends ThreadedVMWorkflowCreator {
  readonly #watch: AnswerWatch;
  readonly #ticking: NodeJS.Timeout;

  private constructor(thread: Thread, client: WorkerThreadClient) {
    super([client]);
    this.#watch = new AnswerWatch({
      interrupt: () => interruptThread(thread.threadId),
      unanswered: (workflow) => new Error(`${workflow} did not come back and was interrupted`),
      lost: (workflow) => new UnexpectedError(`the thread of workflows cannot be interrupted in ${workflow}`),
    });
    this.#ticking = setInterval(() => this.#watch.tick(), tickMs).unref();
  }

  static async start(workflowBundle: WorkflowBundle, options: CompiledWorkerOptions, logger: Logger) {
    const thread = new Thread(threadFile);
    const client = new WorkerThreadClient(thread, logger);
    await client.send({
      type: 'init',
      workflowBundle,
      isolateExecutionTimeoutMs: withoutLimit,
      reuseV8Context: options.reuseV8Context ?? true,
      registeredActivityNames: new Set(options.activities.keys()),
      hasPatchActivationCallback: false,
    });
    return new WatchedWorkflowCreator(thread, client);
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
