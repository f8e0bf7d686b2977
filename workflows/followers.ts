import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { getExternalWorkflowHandle, ParentClosePolicy, startChild, workflowInfo } from '@temporalio/workflow';
import { invoiceWorkflowId, invoiceWorkflowType } from './invoice/invoice.messages.ts';
import { type LifecycleStart, rowChanged } from './lifecycle.messages.ts';
import { checkoutSessionWorkflowId, checkoutSessionWorkflowType } from './payment/checkout-session.messages.ts';
import { paymentWorkflowId, paymentWorkflowType } from './payment/payment.messages.ts';
import { refundWorkflowId, refundWorkflowType } from './payment/refund.messages.ts';
import { customerIdKey, environmentIdKey, tenantIdKey, testClockIdKey } from './search-attributes.ts';
import { workflowTaskTimeout } from './start.messages.ts';
import { subscriptionWorkflowId, subscriptionWorkflowType } from './subscription/subscription.messages.ts';

/** The workflow that looks after `objectId` from here on; it outlives the one that starts it. */
async function startFollower(
  start: LifecycleStart,
  follower: { workflowType: string; workflowId: string; summary: string; args: [LifecycleStart] },
): Promise<void> {
  try {
    await startChild(follower.workflowType, {
      workflowId: follower.workflowId,
      args: follower.args,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowTaskTimeout,
      staticSummary: follower.summary,
      memo: { summary: follower.summary },
      typedSearchAttributes: [
        { key: tenantIdKey, value: start.tenantId },
        { key: environmentIdKey, value: start.environmentId },
        { key: customerIdKey, value: start.customerId },
        ...(start.testClockId === null ? [] : [{ key: testClockIdKey, value: start.testClockId }]),
      ],
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const [{ clockTime }] = follower.args;
    await getExternalWorkflowHandle(follower.workflowId).signal(rowChanged, clockTime);
  }
}

/** Hands an unsettled invoice to a workflow of its own: collection attempts, due date, overdue. */
export async function followInvoice(start: LifecycleStart, invoiceId: string, clockTime: string | null): Promise<void> {
  await startFollower(start, {
    workflowType: invoiceWorkflowType,
    workflowId: invoiceWorkflowId(invoiceId),
    summary: `Invoice ${invoiceId}, customer ${start.customerId}, opened by ${workflowInfo().workflowId}`,
    args: [startOf(start, invoiceId, clockTime)],
  });
}

/** Sees to it that the workflow of a subscription runs and knows that its row changed: a draft is on its agenda. */
export async function followSubscription(
  start: LifecycleStart,
  subscriptionId: string,
  clockTime: string | null,
): Promise<void> {
  await startFollower(start, {
    workflowType: subscriptionWorkflowType,
    workflowId: subscriptionWorkflowId(subscriptionId),
    summary: `Subscription ${subscriptionId}, customer ${start.customerId}, started by ${workflowInfo().workflowId}`,
    args: [startOf(start, subscriptionId, clockTime)],
  });
}

/** Hands a payment without a definite answer to a workflow of its own, which tells the others when the answer came. */
export async function followPayment(start: LifecycleStart, paymentId: string, clockTime: string | null): Promise<void> {
  await startFollower(start, {
    workflowType: paymentWorkflowType,
    workflowId: paymentWorkflowId(paymentId),
    summary: `Payment ${paymentId}, customer ${start.customerId}, opened by ${workflowInfo().workflowId}`,
    args: [startOf(start, paymentId, clockTime)],
  });
}

/** Hands a checkout session that was drafted to its workflow, which opens its page. */
export async function followCheckout(
  start: LifecycleStart,
  sessionId: string,
  clockTime: string | null,
): Promise<void> {
  await startFollower(start, {
    workflowType: checkoutSessionWorkflowType,
    workflowId: checkoutSessionWorkflowId(sessionId),
    summary: `Checkout session ${sessionId}, customer ${start.customerId}, opened by ${workflowInfo().workflowId}`,
    args: [startOf(start, sessionId, clockTime)],
  });
}

/** Hands a refund that was planned to its workflow, which sends it. */
export async function followRefund(start: LifecycleStart, refundId: string, clockTime: string | null): Promise<void> {
  await startFollower(start, {
    workflowType: refundWorkflowType,
    workflowId: refundWorkflowId(refundId),
    summary: `Refund ${refundId}, customer ${start.customerId}, opened by ${workflowInfo().workflowId}`,
    args: [startOf(start, refundId, clockTime)],
  });
}

/** The same owner, another object: how the starter stood when it rolled over says nothing of it. */
function startOf(start: LifecycleStart, objectId: string, clockTime: string | null): LifecycleStart {
  const { carried: _, ...owner } = start;
  return { ...owner, objectId, clockTime, creating: false };
}

/** Has the workflow of a subscription read its row again, and hear what the test clock of the change shows. */
export async function tellSubscription(subscriptionId: string, clockTime: string | null): Promise<void> {
  await nudge(() => getExternalWorkflowHandle(subscriptionWorkflowId(subscriptionId)).signal(rowChanged, clockTime));
}

/** Has the workflow of a checkout session read its row again: it was ended, and its link is to be closed. */
export async function tellCheckout(sessionId: string, clockTime: string | null): Promise<void> {
  await nudge(() => getExternalWorkflowHandle(checkoutSessionWorkflowId(sessionId)).signal(rowChanged, clockTime));
}

/** Has the workflow of a payment read its row again: another has recorded what became of the charge. */
export async function tellPayment(paymentId: string, clockTime: string | null): Promise<void> {
  await nudge(() => getExternalWorkflowHandle(paymentWorkflowId(paymentId)).signal(rowChanged, clockTime));
}

/** A signal fails only when its workflow is not running, and then nobody waits. */
export async function nudge(send: () => Promise<void>): Promise<void> {
  await send().catch(() => undefined);
}
