import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { bulkTaskQueue, workflowTaskTimeout } from '../start.messages.ts';

export const usageFeedWorkflowType = 'usageFeed';

/** One for the deployment. */
export const usageFeedWorkflowId = 'usage-feed';

export interface UsageFeedStart {
  /** How long a step feeds before the next one begins. */
  stepMs: number;
}

/** What a step did; a deployment that has no second engine any more has it end. */
export interface UsageFeedStanding {
  rounds: number;
  rows: number;
  isOff: boolean;
}

const stepMs = 5 * 60_000;

/** How the feed is started by each worker of a deployment with a second engine: the one that runs is used. */
export function usageFeedStartOptions() {
  return {
    workflowId: usageFeedWorkflowId,
    taskQueue: bulkTaskQueue,
    args: [{ stepMs }] as [UsageFeedStart],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowTaskTimeout,
    staticSummary: 'Feeds ClickHouse with events',
  };
}
