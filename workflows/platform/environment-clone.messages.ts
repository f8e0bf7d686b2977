import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { defineQuery } from '@temporalio/workflow';
import { environmentIdKey, statusKey, tenantIdKey } from '../search-attributes.ts';
import { bulkTaskQueue, workflowTaskTimeout } from '../start.messages.ts';

export const environmentCloneWorkflowType = 'environmentClone';

/** One for each pair, so that a pair has one run at a time. spec: platform §9 */
export function environmentCloneWorkflowId(pair: { sourceEnvironmentId: string; environmentId: string }): string {
  return `environment-clone/${pair.sourceEnvironmentId}/${pair.environmentId}`;
}

export interface EnvironmentCloneStart {
  tenantId: string;
  /** The target: what is written is written there. */
  environmentId: string;
  sourceEnvironmentId: string;
  /** The id of the run's row, made before the start. */
  cloneId: string;
  caller: { actor: string; requestId: string };
}

export interface CloneCounts {
  cloned: number;
  skipped: number;
  failed: number;
}

export interface CloneError {
  entity_type: 'feature' | 'plan';
  entity_id: string;
  message: string;
}

/** How far a run is; `behind` is the last item it looked at, and `errors` are told when it has ended. */
export interface EnvironmentCloneStanding {
  clone_status: 'running' | 'completed' | 'interrupted';
  copying: 'feature' | 'plan';
  behind: string;
  features: CloneCounts;
  plans: CloneCounts;
  errors: CloneError[];
}

/** What a run did in the end. `errors` are the first thousand of what failed. spec: platform §9 */
export interface EnvironmentCloneResult {
  target_environment_id: string;
  features: CloneCounts;
  plans: CloneCounts;
  errors: CloneError[];
}

/** How far the run is; `blockedOn` says why it waits for `retry`. */
export const progress = defineQuery<{ standing: EnvironmentCloneStanding | null; blockedOn: string | null }>(
  'progress',
);

/** How a run is started: a second one of the pair is refused by the server while the first one runs. */
export function environmentCloneStartOptions(start: EnvironmentCloneStart) {
  return {
    workflowId: environmentCloneWorkflowId(start),
    taskQueue: bulkTaskQueue,
    args: [start] as [EnvironmentCloneStart],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowTaskTimeout,
    staticSummary: `Clone of environment ${start.sourceEnvironmentId} into ${start.environmentId}`,
    memo: { cloneId: start.cloneId },
    priority: { fairnessKey: start.tenantId.slice(0, 64) },
    typedSearchAttributes: [
      { key: tenantIdKey, value: start.tenantId },
      { key: environmentIdKey, value: start.environmentId },
      { key: statusKey, value: 'running' },
    ],
  };
}
