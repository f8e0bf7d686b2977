import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { defineSignal } from '@temporalio/workflow';
import { environmentIdKey, tenantIdKey } from '../search-attributes.ts';
import { lifecycleTaskQueue, workflowTaskTimeout } from '../start.messages.ts';

export const usageWatchWorkflowType = 'usageWatch';

/** One for each environment. */
export function usageWatchWorkflowId(environmentId: string): string {
  return `usage-watch/${environmentId}`;
}

export interface UsageWatchStart {
  tenantId: string;
  environmentId: string;
}

/** Which evaluators have marked customers to look at, and when the next mark is due. */
export interface UsageWatchStanding {
  due: string[];
  nextAt: string | null;
}

/** Customers were marked: sent with the start. */
export const usageArrived = defineSignal('usageArrived');

export function usageWatchStartOptions({ tenantId, environmentId }: UsageWatchStart) {
  return {
    workflowId: usageWatchWorkflowId(environmentId),
    taskQueue: lifecycleTaskQueue,
    args: [{ tenantId, environmentId }] as [UsageWatchStart],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowTaskTimeout,
    staticSummary: `Usage of environment ${environmentId}`,
    // Thresholds of all its customers wait for it: where tasks queue up, as after many starts at once, it goes before them.
    priority: { fairnessKey: tenantId.slice(0, 64), priorityKey: 2 },
    typedSearchAttributes: [
      { key: tenantIdKey, value: tenantId },
      { key: environmentIdKey, value: environmentId },
    ],
  };
}
