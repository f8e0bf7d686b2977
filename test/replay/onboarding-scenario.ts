import { makeCustomer } from '../../bench/account.ts';
import { customerOnboardingWorkflowId } from '../../workflows/customer/customer-onboarding.messages.ts';
import { personal } from './personal.ts';
import type { Stage } from './stage.ts';

/** New customers get a wallet and a subscription; of one the second action is refused. */
export async function onboardingScenario({ platform: { api, temporal }, planId }: Stage): Promise<void> {
  const wallet = { action: 'create_wallet', currency: 'usd', initial_credits_to_load: '5' };
  const gone = { action: 'create_subscription', plan_id: 'plan_gone', currency: 'usd', billing_period: 'MONTHLY' };
  const value = {
    actions: [wallet, { action: 'create_subscription', plan_id: planId }],
    custom_workflows: { gone: { actions: [wallet, gone] } },
  };
  await api('PUT', '/settings/customer_onboarding', { value });
  const made = await makeCustomer(api, { externalId: 'onboarded', name: personal.name, email: personal.email });
  await temporal.workflow.getHandle(customerOnboardingWorkflowId(made)).result();
  const refused = await api('POST', '/customers', {
    external_id: 'onboarded-badly',
    name: personal.name,
    email: personal.email,
    onboarding_workflow_name: 'gone',
  });
  await temporal.workflow
    .getHandle(customerOnboardingWorkflowId(refused.id))
    .result()
    .catch(() => undefined);
  await api('DELETE', '/settings/customer_onboarding');
}
