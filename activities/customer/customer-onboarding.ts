import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import { refusalIn, refuse } from '../../billing/refusal.ts';
import { type NewSubscription, plainTerms } from '../../billing/subscription/new-subscription.ts';
import type { CreateSubscriptionAction } from '../../billing/subscription/onboarding.ts';
import { customerNow } from '../../db/clock.ts';
import { derivedId } from '../../db/id.ts';
import type { Database } from '../../db/orm.ts';
import { instantText } from '../../db/rows/columns.ts';
import { workflowScope } from '../../db/scope.ts';
import { inSqlTransaction, inTransaction, type Transaction } from '../../db/transaction.ts';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import {
  endOnboarding,
  lockOnboarding,
  noteResult,
  onboardingTerms,
  onboardWallet,
} from '../../services/across/customer-onboarding.ts';
import { findCustomer } from '../../services/customer/customer.ts';
import { keepCommand, readRefusal } from '../../services/lifecycle/kept-command.ts';
import type { OnboardingStart, OnboardingSteps } from '../../workflows/customer/customer-onboarding.messages.ts';
import type { KeptCommand, LifecycleStart } from '../../workflows/lifecycle.messages.ts';
import { lifecycleStartOptions, lifecycleTaskQueue } from '../../workflows/start.messages.ts';
import { createSubscription } from '../../workflows/subscription/subscription.messages.ts';

import { withHeartbeat } from '../heartbeat.ts';

export type CustomerOnboardingActivities = ReturnType<typeof createCustomerOnboardingActivities>;

type Step = OnboardingStart & { index: number };

interface OnboardingDependencies {
  database: Database;
  temporal: Client;
}

/** The actions of onboardings; each may be done twice and does it once. spec: platform §10.2 */
export function createCustomerOnboardingActivities(dependencies: OnboardingDependencies) {
  const { database } = dependencies;
  return {
    /** The kinds of the actions; none of an onboarding that has ended. */
    readOnboarding: (start: OnboardingStart): Promise<OnboardingSteps> =>
      inSqlTransaction(database, workflowScope(start), async (tx) => {
        const { actions, onboardingStatus } = await lockOnboarding(tx, tx.scope, start.onboardingId);
        return onboardingStatus === 'pending' ? actions.map(({ action }) => action) : [];
      }),

    onboardWallet: (step: Step): Promise<void> =>
      inTransaction(database, workflowScope(step), (tx) => onboardWallet(tx, step.onboardingId, step.index)),

    /** Has the workflow of a new subscription make it. The id follows from the onboarding: a repetition meets the same. */
    async onboardSubscription(step: Step): Promise<void> {
      const planned = await inTransaction(database, workflowScope(step), (tx) => planSubscription(tx, step));
      if (!planned) return;
      const { command, start } = planned;
      await withHeartbeat(() => create(dependencies, start, command));
      await inSqlTransaction(database, workflowScope(step), async (tx) => {
        const row = await lockOnboarding(tx, tx.scope, step.onboardingId);
        if (row.results.length === step.index) await noteResult(tx, tx.scope, row, start.objectId);
      });
    },

    endOnboarding: (end: OnboardingStart & { failure: string | null }): Promise<void> =>
      inSqlTransaction(database, workflowScope(end), (tx) =>
        endOnboarding(tx, tx.scope, end.onboardingId, end.failure),
      ),
  };
}

/** A refusal of the other workflow ends this step as it was thrown there; what wraps it would be tried again for ever. */
async function create(
  { database, temporal }: OnboardingDependencies,
  start: LifecycleStart,
  command: KeptCommand,
): Promise<void> {
  try {
    await temporal.workflow.executeUpdateWithStart(createSubscription, {
      startWorkflowOperation: new WithStartWorkflowOperation(
        lifecycleKinds.subscription.workflowType,
        lifecycleStartOptions('subscription', start, lifecycleTaskQueue),
      ),
      args: [command],
      updateId: start.objectId,
    });
  } catch (error) {
    if (!refusalIn(error)) throw error;
    const kept = await inSqlTransaction(database, workflowScope(start), (tx) =>
      readRefusal(tx, tx.scope, command.commandId),
    );
    const refusal = kept ?? refusalIn(error);
    throw refusal ? refuse(refusal.code, refusal.message, refusal.details) : error;
  }
}

/** The command of the action at `index` and the start of its workflow; null when it is done. */
async function planSubscription(tx: Transaction, { onboardingId, index, customerId }: Step) {
  const row = await lockOnboarding(tx, tx.scope, onboardingId);
  const action = row.actions[index];
  if (row.results.length > index || action?.action !== 'create_subscription') return null;
  const { testClockId } = await findCustomer(tx, customerId);
  const at = await customerNow(tx, customerId);
  const subscriptionId = derivedId('subs', `${onboardingId} ${index}`, Date.parse(instantText(row.createdAt)));
  const { tenantId, environmentId, actor, requestId } = tx.scope;
  const start = {
    tenantId,
    environmentId,
    objectId: subscriptionId,
    customerId,
    testClockId: testClockId ?? null,
    clockTime: testClockId ? at : null,
    creating: true,
  };
  const content = { subscriptionId, customerId, ...defaultsOf(action), ...(await onboardingTerms(tx, action)) };
  const kept = { objectType: 'subscription', objectId: subscriptionId, command: createSubscription.name, content };
  await keepCommand(tx, tx.scope, { id: subscriptionId, ...kept });
  return { command: { caller: { actor, requestId }, at, commandId: subscriptionId }, start };
}

/** A subscription of which a plan, a cycle and a start are known, with the defaults of a request. spec: subscriptions-and-invoicing §1.2 */
function defaultsOf(
  action: CreateSubscriptionAction,
): Omit<NewSubscription, 'subscriptionId' | 'at' | 'customerId' | 'currency' | 'billingPeriod'> {
  return {
    planId: action.plan_id,
    billingPeriodCount: 1,
    billingCycle: action.billing_cycle ?? 'anniversary',
    billingAnchor: null,
    startDate: action.start_date ?? null,
    endDate: null,
    lookupKey: '',
    metadata: {},
    collectionMethod: 'charge_automatically',
    paymentBehavior: 'default_active',
    paymentTerms: null,
    prorationBehavior: 'create_prorations',
    explicitProration: false,
    lineItemGrouping: 'per_charge_period',
    timezone: null,
    includePriceIds: null,
    trialPeriodDays: null,
    gatewayPaymentMethodId: null,
    ...plainTerms,
  };
}
