import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { defineSignal } from '@temporalio/workflow';
import { environmentIdKey, tenantIdKey } from '../search-attributes.ts';
import { lifecycleTaskQueue, workflowTaskTimeout } from '../start.messages.ts';

export const providerInboxWorkflowType = 'providerInbox';

/** One for each connection. */
export function providerInboxWorkflowId(connectionId: string): string {
  return `provider-inbox/${connectionId}`;
}

export interface ProviderInboxStart {
  tenantId: string;
  environmentId: string;
  connectionId: string;
}

/** Standing of a connection's notifications after a look: what it did, and when the next one is due. */
export interface ProviderInboxStanding {
  passedOn: number;
  others: number;
  isMoreDue: boolean;
  nextAt: string | null;
}

/** A notification was stored: sent with the start. */
export const notificationStored = defineSignal('notificationStored');

export function providerInboxStartOptions({ tenantId, environmentId, connectionId }: ProviderInboxStart) {
  return {
    workflowId: providerInboxWorkflowId(connectionId),
    taskQueue: lifecycleTaskQueue,
    args: [{ tenantId, environmentId, connectionId }] as [ProviderInboxStart],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowTaskTimeout,
    staticSummary: `Notifications through connection ${connectionId}`,
    priority: { fairnessKey: tenantId.slice(0, 64) },
    typedSearchAttributes: [
      { key: tenantIdKey, value: tenantId },
      { key: environmentIdKey, value: environmentId },
    ],
  };
}
