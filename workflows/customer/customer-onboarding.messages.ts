import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { customerIdKey, environmentIdKey, tenantIdKey } from '../search-attributes.ts';
import { lifecycleTaskQueue, workflowTaskTimeout } from '../start.messages.ts';

export const customerOnboardingWorkflowType = 'customerOnboarding';

/** One for each customer: it is made once. */
export function customerOnboardingWorkflowId(customerId: string): string {
  return `customer-onboarding/${customerId}`;
}

export interface OnboardingStart {
  tenantId: string;
  environmentId: string;
  customerId: string;
  onboardingId: string;
}

/** The kinds of the actions, in their order. */
export type OnboardingSteps = ('create_wallet' | 'create_subscription')[];

/** How the workflow is started, by the API and by reconcile. A closed one is started again: the row decides. */
export function onboardingStartOptions(start: OnboardingStart) {
  return {
    workflowId: customerOnboardingWorkflowId(start.customerId),
    taskQueue: lifecycleTaskQueue,
    args: [start] as [OnboardingStart],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowTaskTimeout,
    staticSummary: `Onboarding of customer ${start.customerId}`,
    priority: { fairnessKey: start.tenantId.slice(0, 64) },
    typedSearchAttributes: [
      { key: tenantIdKey, value: start.tenantId },
      { key: environmentIdKey, value: start.environmentId },
      { key: customerIdKey, value: start.customerId },
    ],
  };
}
