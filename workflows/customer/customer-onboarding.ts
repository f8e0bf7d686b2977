import {
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { CustomerOnboardingActivities } from '../../activities/customer/customer-onboarding.ts';
import { databaseStep, heartbeatTimeout } from '../activity-options.ts';
import type { OnboardingStart } from './customer-onboarding.messages.ts';

const local = proxyLocalActivities<CustomerOnboardingActivities>(databaseStep);
// It waits for the subscription's own workflow, so it is no local step.
const { onboardSubscription } = proxyActivities<CustomerOnboardingActivities>({
  startToCloseTimeout: '1m',
  heartbeatTimeout,
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '20s' },
});

/**
 * Does for a new customer what is configured, action after action. An action that is refused ends it as failed, with the reason on
 * its row; what was done before stays. Nothing waits for it. spec: platform §10.2 Onboarding
 */
export async function customerOnboarding(start: OnboardingStart): Promise<void> {
  const steps = await local.readOnboarding(start);
  for (const [index, step] of steps.entries()) {
    setCurrentDetails(`${index + 1} of ${steps.length}: ${step}`);
    try {
      if (step === 'create_wallet') await local.onboardWallet({ ...start, index });
      else await onboardSubscription({ ...start, index });
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      const reason = `actions[${index}] ${step}: ${error.cause?.message ?? error.message}`.slice(0, 300);
      await local.endOnboarding({ ...start, failure: reason });
      setCurrentDetails(`failed · ${reason}`);
      throw ApplicationFailure.create({ type: 'onboarding', message: reason, nonRetryable: true });
    }
  }
  await local.endOnboarding({ ...start, failure: null });
  setCurrentDetails(`done: ${steps.join(', ')}`);
}
