import { type Client, WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from '@temporalio/client';

const startWithinMs = 10_000;

/** A run of which there is one at a time under its workflow id. */
export interface ExclusiveRun {
  workflowType: string;
  options: WorkflowStartOptions & { memo: Record<string, unknown> };
  /** Where the memo of a run has the id of its row, which was made before the start. */
  memoKey: string;
  /** Whether the run of a row has done its work, so that its workflow is only closing. */
  hasEnded(rowId: string): Promise<boolean>;
  /** What is told while another run goes on. */
  stillRunning(runId: string): Error;
}

/**
 * Starts a run and answers its run id, or that of the run which the same request started before. A run that has done its work and
 * is only closing is waited for. Throws `stillRunning` while another goes on.
 */
export async function startExclusively(temporal: Client, run: ExclusiveRun): Promise<string> {
  const { workflowType, options, memoKey } = run;
  const { workflowId } = options;
  return temporal.withDeadline(Date.now() + startWithinMs, async () => {
    for (;;) {
      try {
        return (await temporal.workflow.start(workflowType, options)).firstExecutionRunId;
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
      const running = await temporal.workflow.getHandle(workflowId).describe();
      const rowId = String(running.memo?.[memoKey]);
      if (rowId === options.memo[memoKey]) return running.runId;
      if (running.status.name === 'RUNNING' && !(await run.hasEnded(rowId))) throw run.stillRunning(running.runId);
      await temporal.workflow.getHandle(workflowId, running.runId).result();
    }
  });
}
