import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { WorkflowIdConflictPolicy } from '@temporalio/common';
import type { Scope } from '../../db/scope.ts';
import { begin, cancel, importWorkflowId, importWorkflowType } from '../../workflows/platform/task.messages.ts';
import { importStartOptions } from '../../workflows/platform/task-start.messages.ts';

const answerTimeoutMs = 10_000;
const stopTimeoutMs = 3_000;

/** Has the workflow of a task work on it: started when none runs, told when one does. No worker needs to be there. */
export async function beginImport(temporal: Client, scope: Scope, taskId: string): Promise<void> {
  const start = { tenantId: scope.tenantId, environmentId: scope.environmentId, taskId };
  await temporal.withDeadline(Date.now() + answerTimeoutMs, () =>
    temporal.workflow.signalWithStart(importWorkflowType, {
      ...importStartOptions(start),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      signal: begin,
    }),
  );
}

/** Stops the step of a task that has ended already. A step that does not hear of it stops before it stores anything more. */
export async function stopImport(
  { temporal, log }: { temporal: Client; log: { warn(fields: object, message: string): void } },
  taskId: string,
): Promise<void> {
  const workflow = temporal.workflow.getHandle(importWorkflowId(taskId));
  try {
    await temporal.withDeadline(Date.now() + stopTimeoutMs, () => workflow.executeUpdate(cancel));
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) log.warn({ err: error, taskId }, 'an import was not told to stop');
  }
}
