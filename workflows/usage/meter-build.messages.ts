import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { defineQuery } from '@temporalio/workflow';
import { environmentIdKey, tenantIdKey } from '../search-attributes.ts';
import { bulkTaskQueue, workflowTaskTimeout } from '../start.messages.ts';

export const meterBuildWorkflowType = 'meterBuild';

/** One for each meter. spec: catalogue-and-metering §12 I6 */
export function meterBuildWorkflowId(meterId: string): string {
  return `meter-build/${meterId}`;
}

export interface MeterBuildStart {
  tenantId: string;
  environmentId: string;
  meterId: string;
}

/** How far a build is in the order in which events came. */
export interface MeterBuildStanding {
  position: number;
  boundary: number;
  isDone: boolean;
}

/** How far the build is; `blockedOn` says why it waits for `retry`. */
export const progress = defineQuery<{ standing: MeterBuildStanding | null; blockedOn: string | null }>('progress');

/** How a build is started: a running one goes on, also with what was changed since. */
export function meterBuildStartOptions(start: MeterBuildStart) {
  return {
    workflowId: meterBuildWorkflowId(start.meterId),
    taskQueue: bulkTaskQueue,
    args: [start] as [MeterBuildStart],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowTaskTimeout,
    staticSummary: `Roll-ups of meter ${start.meterId}`,
    priority: { fairnessKey: start.tenantId.slice(0, 64) },
    typedSearchAttributes: [
      { key: tenantIdKey, value: start.tenantId },
      { key: environmentIdKey, value: start.environmentId },
    ],
  };
}
