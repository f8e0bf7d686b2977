import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { defineQuery, defineUpdate } from '@temporalio/workflow';
import { environmentIdKey, statusKey, tenantIdKey } from '../search-attributes.ts';
import { bulkTaskQueue, workflowTaskTimeout } from '../start.messages.ts';

export const priceSyncWorkflowType = 'priceSync';

/** One for each plan, so that a plan has one run at a time. spec: catalogue-and-metering §3.1, I6 */
export function priceSyncWorkflowId(planId: string): string {
  return `price-sync/${planId}`;
}

export interface PriceSyncStart {
  tenantId: string;
  environmentId: string;
  planId: string;
  /** The id of the run's row, made before the start. */
  syncId: string;
  caller: { actor: string; requestId: string };
}

/** Standing of a run, and at its end what it did. Its row tells of the first hundred that failed, and why. */
export interface PriceSyncStanding {
  sync_status: 'running' | 'completed' | 'cancelled' | 'interrupted';
  subscriptions_found: number;
  subscriptions_synced: number;
  subscriptions_failed: number;
  line_items_found_for_creation: number;
  line_items_created: number;
  line_items_terminated: number;
}

/** How far the run is; `blockedOn` says why it waits for `retry`. */
export const progress = defineQuery<{ standing: PriceSyncStanding | null; blockedOn: string | null }>('progress');
/** Stops the run after the step under way, within seconds, and answers where it stands: what is synced stays synced. */
export const cancelPriceSync = defineUpdate<PriceSyncStanding, []>('cancelPriceSync');

/** After so long the server ends a run, whatever became of its workers, and another may begin. spec: catalogue-and-metering §3.1 */
const guardTimeout = '2h' as const;

/** How a run is started: a second one of the plan is refused by the server while the first one runs. */
export function priceSyncStartOptions(start: PriceSyncStart) {
  return {
    workflowId: priceSyncWorkflowId(start.planId),
    taskQueue: bulkTaskQueue,
    args: [start] as [PriceSyncStart],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowExecutionTimeout: guardTimeout,
    workflowTaskTimeout,
    staticSummary: `Price sync of plan ${start.planId}`,
    memo: { syncId: start.syncId },
    priority: { fairnessKey: start.tenantId.slice(0, 64) },
    typedSearchAttributes: [
      { key: tenantIdKey, value: start.tenantId },
      { key: environmentIdKey, value: start.environmentId },
      { key: statusKey, value: 'running' },
    ],
  };
}
