import type { Client } from '@temporalio/client';
import type { Scope } from '../../db/scope.ts';
import type { Transaction } from '../../db/transaction.ts';
import { linkedProviders } from '../../services/integration/connection.ts';
import type { RequestedPayment } from '../../services/payment/payment-request.ts';
import { invoiceWorkflowId, paymentSettled } from '../../workflows/invoice/invoice.messages.ts';
import { type Command, rowChanged } from '../../workflows/lifecycle.messages.ts';
import {
  cancelPayment,
  paymentWorkflowId,
  processPayment,
  refreshPayment,
} from '../../workflows/payment/payment.messages.ts';
import { subscriptionWorkflowId } from '../../workflows/subscription/subscription.messages.ts';
import { autoTopUpWorkflowId } from '../../workflows/wallet/auto-top-up.messages.ts';
import type { AppDependencies } from '../dependencies.ts';
import { callerOf, updateObject, updateRunning } from '../lifecycle.ts';

/**
 * Has a pending payment processed by its workflow and returns when the gateway answered, or when its answer is awaited. A
 * retried request meets the same workflow. spec: wallets-and-payments §2.19 process
 */
export async function processAtWorkflow(temporal: Client, scope: Scope, payment: RequestedPayment): Promise<void> {
  const { id, customerId, testClockId, at } = payment;
  const object = { kind: 'payment', id, customerId, testClockId, at, creating: true } as const;
  await updateObject({ temporal, scope }, object, processPayment, {});
}

/** Has the gateway asked about a payment that is waited for. False when no workflow waits for it. */
export async function refreshAtWorkflow(temporal: Client, paymentId: string): Promise<boolean> {
  const payment = { kind: 'payment', id: paymentId } as const;
  return (await updateRunning(temporal, payment, (workflow) => workflow.executeUpdate(refreshPayment))) !== null;
}

/** Gives up a payment that waits for its payer. False when no workflow waits for it. */
export async function cancelAtWorkflow(
  temporal: Client,
  scope: Scope,
  paymentId: string,
  at: string,
): Promise<boolean> {
  const payment = { kind: 'payment', id: paymentId } as const;
  const args: [Command] = [{ caller: callerOf(scope), at }];
  const answer = await updateRunning(temporal, payment, (workflow) => workflow.executeUpdate(cancelPayment, { args }));
  return answer !== null;
}

const nudgeWithinMs = 2_000;

/** Nudges the workflows that wait for a payment settled by hand; each reads from the rows what it means. `clockTime` is its test clock's. */
export async function tellThoseWaiting(
  temporal: Client,
  settled: { paymentId: string; invoiceId: string | null; subscriptionId: string | null; walletId?: string },
  clockTime: string | null,
): Promise<void> {
  const { paymentId, invoiceId, subscriptionId, walletId } = settled;
  const { workflow } = temporal;
  // A workflow that does not run waits for nothing; one that does will read the rows at its next step anyway.
  const nudges = [() => workflow.getHandle(paymentWorkflowId(paymentId)).signal(rowChanged, clockTime)];
  if (invoiceId !== null) {
    nudges.unshift(() => workflow.getHandle(invoiceWorkflowId(invoiceId)).signal(paymentSettled, { paymentId }));
  }
  if (subscriptionId !== null) {
    nudges.push(() => workflow.getHandle(subscriptionWorkflowId(subscriptionId)).signal(rowChanged, clockTime));
  }
  if (walletId !== undefined)
    nudges.push(() => workflow.getHandle(autoTopUpWorkflowId(walletId)).signal(rowChanged, clockTime));
  for (const nudge of nudges) await temporal.withDeadline(Date.now() + nudgeWithinMs, nudge).catch(() => undefined);
}

/** The gateways that a payment of this environment can be made through: those of the process, and its connections' providers. */
export async function connectedGateways(tx: Transaction, { gateways, providers }: AppDependencies): Promise<string[]> {
  const linked = (await linkedProviders(tx)).filter((provider) => providers?.has(provider));
  return [...gateways.keys(), ...linked];
}
