import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { lifecycleTaskQueue, workflowTaskTimeout } from '../start.messages.ts';

export const webhookDeliveryWorkflowType = 'webhookDelivery';

/** Queue of the steps that send webhooks, which are long and few. */
export const webhookTaskQueue = 'webhooks';

/** Number of parts that endpoints are shared out to, each served by one worker at a time. design: people-and-events §A 5 */
export const webhookShards = 8;

export interface WebhookDeliveryStart {
  shard: number;
  shards: number;
  /** Time that a step serves before the next one begins. */
  stepMs: number;
}

/** Standing of a shard at the end of a step. */
export interface WebhookDeliveryStanding {
  endpoints: number;
}

const stepMs = 10 * 60_000;

export function webhookDeliveryWorkflowId(shard: number): string {
  return `webhook-delivery/${shard}`;
}

/** Start of a shard by a worker: a shard that runs already is used. */
export function webhookDeliveryStartOptions(shard: number, shards = webhookShards) {
  return {
    workflowId: webhookDeliveryWorkflowId(shard),
    taskQueue: lifecycleTaskQueue,
    args: [{ shard, shards, stepMs }] as [WebhookDeliveryStart],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowTaskTimeout,
    staticSummary: `Sends webhooks, part ${shard + 1} of ${shards}`,
  };
}
