import { type Client, WithStartWorkflowOperation, WorkflowNotFoundError } from '@temporalio/client';
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import type { Scope } from '../db/scope.ts';
import type { RequestedPayment } from '../db/stores/payment-request.ts';
import type { LifecycleStart } from '../workflows/lifecycle.messages.ts';
import {
  cancelPayment,
  type PaymentCommand,
  paymentWorkflowId,
  paymentWorkflowType,
  processPayment,
  refreshPayment,
} from '../workflows/payment.messages.ts';
import { customerIdKey, environmentIdKey, tenantIdKey, testClockIdKey } from '../workflows/search-attributes.ts';

/**
 * Has a pending payment processed by its workflow and returns when the gateway answered, or when its answer is awaited. A
 * retried request meets the same workflow. spec: wallets-and-payments §2.19 process
 */
export async function processAtWorkflow(temporal: Client, scope: Scope, payment: RequestedPayment): Promise<void> {
  const { tenantId, environmentId } = scope;
  const start: LifecycleStart = {
    tenantId,
    environmentId,
    objectId: payment.id,
    customerId: payment.customerId,
    testClockId: payment.testClockId,
    clockTime: payment.testClockId === null ? null : payment.at,
    creating: true,
  };
  const startWorkflowOperation = new WithStartWorkflowOperation(paymentWorkflowType, {
    workflowId: paymentWorkflowId(payment.id),
    taskQueue: 'lifecycle',
    args: [start],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    staticSummary: `Payment ${payment.id}, customer ${payment.customerId}`,
    typedSearchAttributes: [
      { key: tenantIdKey, value: tenantId },
      { key: environmentIdKey, value: environmentId },
      { key: customerIdKey, value: payment.customerId },
      ...(payment.testClockId === null ? [] : [{ key: testClockIdKey, value: payment.testClockId }]),
    ],
  });
  const command = commandOf(scope, payment.at);
  await temporal.workflow.executeUpdateWithStart(processPayment, { startWorkflowOperation, args: [command] });
}

/** Has the gateway asked about a payment that is waited for. False when no workflow waits for it. */
export async function refreshAtWorkflow(temporal: Client, paymentId: string): Promise<boolean> {
  return whereRunning(() => temporal.workflow.getHandle(paymentWorkflowId(paymentId)).executeUpdate(refreshPayment));
}

/** Gives up a payment that waits for its payer. False when no workflow waits for it. */
export async function cancelAtWorkflow(
  temporal: Client,
  scope: Scope,
  paymentId: string,
  at: string,
): Promise<boolean> {
  const args: [PaymentCommand] = [commandOf(scope, at)];
  return whereRunning(() =>
    temporal.workflow.getHandle(paymentWorkflowId(paymentId)).executeUpdate(cancelPayment, { args }),
  );
}

function commandOf(scope: Scope, at: string): PaymentCommand {
  return { caller: { actor: scope.actor, requestId: scope.requestId }, at };
}

async function whereRunning(send: () => Promise<unknown>): Promise<boolean> {
  try {
    await send();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
