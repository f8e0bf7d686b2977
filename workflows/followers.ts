import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { getExternalWorkflowHandle, ParentClosePolicy, startChild, workflowInfo } from '@temporalio/workflow';
import { type LifecycleKind, lifecycleKinds } from '../lifecycles/kinds.ts';
import { type LifecycleStart, rowChanged } from './lifecycle.messages.ts';
import { ownerAttributes, workflowTaskTimeout } from './start.messages.ts';

/** Starts the workflow that looks after `objectId` from here on, or tells the one that runs; it outlives the one that starts it. */
async function follow(
  kind: LifecycleKind,
  start: LifecycleStart,
  { objectId, clockTime }: { objectId: string; clockTime: string | null },
  howItBegan = 'opened',
): Promise<void> {
  const { workflowType, workflowId, noun } = lifecycleKinds[kind];
  const summary = `${noun} ${objectId}, customer ${start.customerId}, ${howItBegan} by ${workflowInfo().workflowId}`;
  try {
    await startChild(workflowType, {
      workflowId: workflowId(objectId),
      args: [startOf(start, objectId, clockTime)],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowTaskTimeout,
      staticSummary: summary,
      memo: { summary },
      typedSearchAttributes: ownerAttributes(start),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    await getExternalWorkflowHandle(workflowId(objectId)).signal(rowChanged, clockTime);
  }
}

/** Hands an unsettled invoice to a workflow of its own: collection attempts, due date, overdue. */
export async function followInvoice(start: LifecycleStart, invoiceId: string, clockTime: string | null): Promise<void> {
  await follow('invoice', start, { objectId: invoiceId, clockTime });
}

/** Sees to it that the workflow of a subscription runs and knows that its row changed: a draft is on its agenda. */
export async function followSubscription(
  start: LifecycleStart,
  subscriptionId: string,
  clockTime: string | null,
): Promise<void> {
  await follow('subscription', start, { objectId: subscriptionId, clockTime }, 'started');
}

/** Hands a payment without a definite answer to a workflow of its own, which tells the others when the answer came. */
export async function followPayment(start: LifecycleStart, paymentId: string, clockTime: string | null): Promise<void> {
  await follow('payment', start, { objectId: paymentId, clockTime });
}

/** Hands a checkout session that was drafted to its workflow, which opens its page. */
export async function followCheckout(
  start: LifecycleStart,
  sessionId: string,
  clockTime: string | null,
): Promise<void> {
  await follow('checkout_session', start, { objectId: sessionId, clockTime });
}

/** Hands a refund that was planned to its workflow, which sends it. */
export async function followRefund(start: LifecycleStart, refundId: string, clockTime: string | null): Promise<void> {
  await follow('refund', start, { objectId: refundId, clockTime });
}

/** The same owner, another object: how the starter stood when it rolled over says nothing of it. */
function startOf(start: LifecycleStart, objectId: string, clockTime: string | null): LifecycleStart {
  const { carried: _, ...owner } = start;
  return { ...owner, objectId, clockTime, creating: false };
}

/** Has the workflow of a subscription read its row again, and hear what the test clock of the change shows. */
export async function tellSubscription(subscriptionId: string, clockTime: string | null): Promise<void> {
  await nudge(() =>
    getExternalWorkflowHandle(lifecycleKinds.subscription.workflowId(subscriptionId)).signal(rowChanged, clockTime),
  );
}

/** Has the workflow of a checkout session read its row again: it was ended, and its link is to be closed. */
export async function tellCheckout(sessionId: string, clockTime: string | null): Promise<void> {
  await nudge(() =>
    getExternalWorkflowHandle(lifecycleKinds.checkout_session.workflowId(sessionId)).signal(rowChanged, clockTime),
  );
}

/** Has the workflow of a payment read its row again: another has recorded what became of the charge. */
export async function tellPayment(paymentId: string, clockTime: string | null): Promise<void> {
  await nudge(() =>
    getExternalWorkflowHandle(lifecycleKinds.payment.workflowId(paymentId)).signal(rowChanged, clockTime),
  );
}

/** A signal fails only when its workflow is not running, and then nobody waits. */
export async function nudge(send: () => Promise<void>): Promise<void> {
  await send().catch(() => undefined);
}
