import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { environmentIdKey, tenantIdKey } from '../search-attributes.ts';
import { lifecycleTaskQueue, workflowTaskTimeout } from '../start.messages.ts';
import { type ImportStart, importWorkflowId } from './task.messages.ts';

/** How the workflow of an import is started, by the API and by reconcile. A closed one is started again: the row decides. */
export function importStartOptions(start: ImportStart) {
  return {
    workflowId: importWorkflowId(start.taskId),
    taskQueue: lifecycleTaskQueue,
    args: [start] as [ImportStart],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowTaskTimeout,
    staticSummary: `Import ${start.taskId}`,
    priority: { fairnessKey: start.tenantId.slice(0, 64) },
    typedSearchAttributes: [
      { key: tenantIdKey, value: start.tenantId },
      { key: environmentIdKey, value: start.environmentId },
    ],
  };
}
