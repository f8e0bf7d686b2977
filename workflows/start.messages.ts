import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { invoiceWorkflowId, invoiceWorkflowType } from './invoice/invoice.messages.ts';
import type { LifecycleStart } from './lifecycle.messages.ts';
import { checkoutSessionWorkflowId, checkoutSessionWorkflowType } from './payment/checkout-session.messages.ts';
import { paymentWorkflowId, paymentWorkflowType } from './payment/payment.messages.ts';
import { refundWorkflowId, refundWorkflowType } from './payment/refund.messages.ts';
import { customerIdKey, environmentIdKey, tenantIdKey, testClockIdKey } from './search-attributes.ts';
import { subscriptionWorkflowId, subscriptionWorkflowType } from './subscription/subscription.messages.ts';
import { autoTopUpWorkflowId, autoTopUpWorkflowType } from './wallet/auto-top-up.messages.ts';
import { walletWorkflowId, walletWorkflowType } from './wallet/wallet.messages.ts';

/** The kinds of object that have a lifecycle workflow, by the name the agenda knows them by. */
export const lifecycleKinds = {
  subscription: { workflowType: subscriptionWorkflowType, workflowId: subscriptionWorkflowId, noun: 'Subscription' },
  invoice: { workflowType: invoiceWorkflowType, workflowId: invoiceWorkflowId, noun: 'Invoice' },
  payment: { workflowType: paymentWorkflowType, workflowId: paymentWorkflowId, noun: 'Payment' },
  refund: { workflowType: refundWorkflowType, workflowId: refundWorkflowId, noun: 'Refund' },
  wallet: { workflowType: walletWorkflowType, workflowId: walletWorkflowId, noun: 'Wallet' },
  checkout_session: {
    workflowType: checkoutSessionWorkflowType,
    workflowId: checkoutSessionWorkflowId,
    noun: 'Checkout session',
  },
  auto_top_up: {
    workflowType: autoTopUpWorkflowType,
    workflowId: autoTopUpWorkflowId,
    noun: 'Automatic top-up of wallet',
  },
} as const;

export type LifecycleKind = keyof typeof lifecycleKinds;

/** The task queue of workflows and database activities; tests give each file its own by a suffix. */
export const lifecycleTaskQueue = 'lifecycle';

/** The task queue of what goes through very many rows, with workflows and steps of its own: it delays no renewal. */
export const bulkTaskQueue = 'bulk';

/**
 * How long the server waits for a worker that took a task and was killed; local activities that take longer prolong it.
 * Temporal's own 10 s are what a command under way would stand still after each crash.
 */
export const workflowTaskTimeout = '4s';

/**
 * How the workflow of an object is started, whoever starts it: the API with its first command, a test clock, reconcile.
 * A running one is used; a closed one is started again, because what makes that safe are the rows. design: architecture §3
 */
export function lifecycleStartOptions(kind: LifecycleKind, start: LifecycleStart, taskQueue: string) {
  const { workflowId, noun } = lifecycleKinds[kind];
  const summary = `${noun} ${start.objectId}, customer ${start.customerId}`;
  return {
    workflowId: workflowId(start.objectId),
    taskQueue,
    args: [start] as [LifecycleStart],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowTaskTimeout,
    staticSummary: summary,
    // Temporal drops a summary with the first run, and hands a memo to those that follow.
    memo: { summary },
    priority: { fairnessKey: start.tenantId.slice(0, 64) },
    typedSearchAttributes: [
      { key: tenantIdKey, value: start.tenantId },
      { key: environmentIdKey, value: start.environmentId },
      { key: customerIdKey, value: start.customerId },
      ...(start.testClockId === null ? [] : [{ key: testClockIdKey, value: start.testClockId }]),
    ],
  };
}
