import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { defineQuery } from '@temporalio/workflow';
import { environmentIdKey, statusKey, tenantIdKey } from '../search-attributes.ts';
import { bulkTaskQueue, workflowTaskTimeout } from '../start.messages.ts';

export const reprocessWorkflowType = 'reprocessEvents';

/** One for each environment, so that no raw event is read by two runs. spec: catalogue-and-metering §12 I6 */
export function reprocessWorkflowId(environmentId: string): string {
  return `event-reprocess/${environmentId}`;
}

/** Content of the command that has raw events read again, as it is kept: ids of callers are names in a history. */
export interface ReprocessOrder {
  /** Instants of ingestion, the second excluded. */
  from: string;
  to: string;
  pendingOnly: boolean;
  /** Null lists mean all. */
  externalCustomerIds: string[] | null;
  eventNames: string[] | null;
  eventIds: string[] | null;
  batchSize: number;
}

/** A reprocessing of raw events: `commandId` is the row of its `ReprocessOrder`, which its request made the id of. */
export interface ReprocessStart {
  tenantId: string;
  environmentId: string;
  commandId: string;
  /** Where an earlier run of the same work had come to. */
  standing: ReprocessStanding;
}

/** How far a run is: `after` is the last raw event that was looked at. */
export interface ReprocessStanding {
  after: string;
  examined: number;
  stored: number;
  known: number;
  unreadable: number;
  isDone: boolean;
}

export const nothingReprocessed: ReprocessStanding = {
  after: '0',
  examined: 0,
  stored: 0,
  known: 0,
  unreadable: 0,
  isDone: false,
};

export const progress = defineQuery<ReprocessStanding>('progress');

/** How a run is started: a second one of the environment is refused by the server while the first one runs. */
export function reprocessStartOptions(start: ReprocessStart) {
  return {
    workflowId: reprocessWorkflowId(start.environmentId),
    taskQueue: bulkTaskQueue,
    args: [start] as [ReprocessStart],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowTaskTimeout,
    staticSummary: `Raw events of environment ${start.environmentId}`,
    memo: { commandId: start.commandId },
    priority: { fairnessKey: start.tenantId.slice(0, 64) },
    typedSearchAttributes: [
      { key: tenantIdKey, value: start.tenantId },
      { key: environmentIdKey, value: start.environmentId },
      { key: statusKey, value: 'running' },
    ],
  };
}
