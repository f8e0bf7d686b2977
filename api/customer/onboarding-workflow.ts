import type { Client } from '@temporalio/client';
import type { Scope } from '../../db/scope.ts';
import {
  customerOnboardingWorkflowType,
  onboardingStartOptions,
} from '../../workflows/customer/customer-onboarding.messages.ts';

const startTimeoutMs = 3_000;

/**
 * Starts what is done for a new customer, after its commit. It never fails the request that made the customer: what did not start
 * is started by reconcile, because its row says that it is pending. spec: platform §10.2 Onboarding
 */
export async function beginOnboarding(
  request: { temporal: Client; scope: Scope; log: { warn(fields: object, message: string): void } },
  customerId: string,
  onboardingId: string,
): Promise<void> {
  const { tenantId, environmentId } = request.scope;
  const options = onboardingStartOptions({ tenantId, environmentId, customerId, onboardingId });
  try {
    await request.temporal.withDeadline(Date.now() + startTimeoutMs, () =>
      request.temporal.workflow.start(customerOnboardingWorkflowType, options),
    );
  } catch (err) {
    request.log.warn({ err, customerId }, 'an onboarding was not started; npm run reconcile starts it');
  }
}
