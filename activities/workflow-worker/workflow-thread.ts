import { Worker as Thread } from 'node:worker_threads';
import { type Logger, UnexpectedError } from '@temporalio/worker';
import type { Workflow, WorkflowCreateOptions, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import {
  ThreadedVMWorkflowCreator,
  type ThreadedVMWorkflowCreatorOptions,
  WorkerThreadClient,
} from '@temporalio/worker/lib/workflow/threaded-vm.js';
import { AnswerWatch } from './answer-watch.ts';
import { interruptThread } from './interrupt-thread.ts';

export type WorkflowBundle = ThreadedVMWorkflowCreatorOptions['workflowBundle'];

const entry = new URL('./thread.ts', import.meta.url);
const tickMs = 1_000;

/** What stands for the limit of each call; the types of the SDK know no workflows without. */
export const withoutLimit = undefined as unknown as number;

/**
 * The one thread of a process in which its workflows run, whichever worker they belong to: each thread holds the bundle, its source
 * map and the SDK, some 45 MiB. It starts with the first worker that joins, whose bundle is that of all, and ends with the last
 * unless it is kept.
 */
export class WorkflowThread {
  readonly #activityNames: ReadonlySet<string>;
  #running: Promise<WatchedWorkflowCreator> | undefined;
  #workers = 0;

  /** `activityNames` are those of all workers that will join: a workflow that calls another as a local activity fails at once. */
  constructor(activityNames: Iterable<string>) {
    this.#activityNames = new Set(activityNames);
  }

  /** Keeps the thread running after its last worker has left, until the process ends. */
  keep(): this {
    this.#workers += 1;
    return this;
  }

  async join(bundle: WorkflowBundle, logger: Logger): Promise<WorkflowCreator> {
    this.#workers += 1;
    this.#running ??= WatchedWorkflowCreator.start(bundle, this.#activityNames, logger);
    const creator = await this.#running;
    return {
      createWorkflow: (options) => creator.createWorkflow(options),
      destroy: () => this.#leave(creator),
    };
  }

  async #leave(creator: WatchedWorkflowCreator): Promise<void> {
    this.#workers -= 1;
    if (this.#workers === 0) await creator.destroy();
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

  static async start(workflowBundle: WorkflowBundle, activityNames: ReadonlySet<string>, logger: Logger) {
    const thread = new Thread(entry);
    const client = new WorkerThreadClient(thread, logger);
    await client.send({
      type: 'init',
      workflowBundle,
      isolateExecutionTimeoutMs: withoutLimit,
      reuseV8Context: true,
      registeredActivityNames: new Set(activityNames),
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
