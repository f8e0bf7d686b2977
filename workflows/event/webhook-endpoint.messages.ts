import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { defineSignal } from '@temporalio/workflow';
import { environmentIdKey, tenantIdKey } from '../search-attributes.ts';
import { lifecycleTaskQueue, workflowTaskTimeout } from '../start.messages.ts';

export const webhookEndpointWorkflowType = 'webhookEndpoint';

/** One for each endpoint that something is to be said about. */
export function webhookEndpointWorkflowId(endpointId: string): string {
  return `webhook-endpoint/${endpointId}`;
}

export interface WebhookEndpointStart {
  tenantId: string;
  environmentId: string;
  endpointId: string;
}

/** What is to be said about an endpoint. Neither its address nor an event's content is in it. */
export interface WebhookEndpointStanding {
  /** What it gets and what not, and why, in plain sentences. */
  sentences: string[];
  /** When to look again; null where nothing changes by itself. */
  lookAt: string | null;
  /** True when there is nothing more to say: everything is received, or the endpoint is deleted. */
  isOver: boolean;
}

/** The endpoint was changed, or an attempt failed: sent with the start. */
export const standingChanged = defineSignal('standingChanged');

export function webhookEndpointStartOptions({ tenantId, environmentId, endpointId }: WebhookEndpointStart) {
  return {
    workflowId: webhookEndpointWorkflowId(endpointId),
    taskQueue: lifecycleTaskQueue,
    args: [{ tenantId, environmentId, endpointId }] as [WebhookEndpointStart],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowTaskTimeout,
    staticSummary: `Webhook endpoint ${endpointId}`,
    priority: { fairnessKey: tenantId.slice(0, 64) },
    typedSearchAttributes: [
      { key: tenantIdKey, value: tenantId },
      { key: environmentIdKey, value: environmentId },
    ],
  };
}
