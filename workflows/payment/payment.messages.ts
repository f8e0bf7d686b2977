import { defineSignal, defineUpdate } from '@temporalio/workflow';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import type { Command, LifecycleSnapshot } from '../lifecycle.messages.ts';

export const { workflowType: paymentWorkflowType, workflowId: paymentWorkflowId } = lifecycleKinds.payment;

export interface PaymentSnapshot extends LifecycleSnapshot {
  paymentStatus: string;
  invoiceId: string | null;
  subscriptionId: string | null;
  /** True while the payer has to confirm. */
  needsAction: boolean;
  /** True while nothing is missing but the payer's confirmation, which is asked about so rarely that one run does it. */
  awaitsPayer?: boolean;
}

export interface PaymentChanged {
  paymentId: string;
  paymentStatus: string;
}

/** Takes up a pending payment and answers when the gateway did, or when its answer is awaited. spec: wallets-and-payments §2.19 process */
export const processPayment = defineUpdate<PaymentChanged, [Command]>('processPayment');
/** Gives up a payment that waits for its payer. */
export const cancelPayment = defineUpdate<PaymentChanged, [Command]>('cancelPayment');
/** The gateway has news of this payment; what it is, the gateway is asked. */
export const gatewayNotified = defineSignal('gatewayNotified');
/** Money of this payment may have been given back at the gateway itself; which, the gateway is asked. */
export const refundedElsewhere = defineSignal('refundedElsewhere');
/** Asks the gateway now and answers how the payment stands. */
export const refreshPayment = defineUpdate<PaymentChanged, []>('refreshPayment');
