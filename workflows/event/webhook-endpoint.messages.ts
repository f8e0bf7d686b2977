import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { defineSignal } from '@temporalio/workflow';
import { environmentIdKey, tenantIdKey } from '../search-attributes.ts';
import { lifecycleTaskQueue, workflowTaskTimeout } from '../start.messages.ts';

export const webhookEndpointWorkflowType = 'webhookEndpoint';

/** Id of the workflow of an endpoint. */
export function webhookEndpointWorkflowId(endpointId: string): string {
  return `webhook-endpoint/${endpointId}`;
}

export interface WebhookEndpointStart {
  tenantId: string;
  environmentId: string;
  endpointId: string;
}

/** Standing of an endpoint, without its address and without the content of events. */
export interface WebhookEndpointStanding {
  /** Plain sentences: the events it gets, those it does not get, and the reasons. */
  sentences: string[];
  /** Instant of the next look; null where nothing changes by itself. */
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
