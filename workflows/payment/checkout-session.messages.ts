import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import type { Command, LifecycleSnapshot } from '../lifecycle.messages.ts';

export const { workflowType: checkoutSessionWorkflowType, workflowId: checkoutSessionWorkflowId } =
  lifecycleKinds.checkout_session;

export interface CheckoutSnapshot extends LifecycleSnapshot {
  checkoutStatus: string;
  linkState: string;
  /** The provider answers without a network in between, so asking it is a local step. */
  isLocal: boolean;
  /** Whether the last question to the provider was answered; true before there was one. */
  isAnswered: boolean;
  /** Objects whose workflows this step gave something to do. */
  refundIds?: string[];
  subscriptionId?: string | null;
  invoiceId?: string;
}

export interface CheckoutChanged {
  sessionId: string;
  checkoutStatus: string;
  /** False where the provider did not answer, or is not asked by now. */
  isAnswered: boolean;
}

/** Opens the link of a session that was drafted, and answers when the provider did. spec: wallets-and-payments §2.17 create */
export const openCheckout = defineUpdate<CheckoutChanged, [Command]>('openCheckout');
/** Ends a session: its link is closed first, and one that was paid meanwhile is completed. spec: wallets-and-payments §2.17 cancel */
export const cancelCheckout = defineUpdate<CheckoutChanged, [Command]>('cancelCheckout');
/** Asks the provider now and answers how the session stands. */
export const refreshCheckout = defineUpdate<CheckoutChanged, [Command]>('refreshCheckout');
/** The provider has news of this session; what it is, the provider is asked. */
export const providerNotified = defineSignal('providerNotified');
/** How the session stands. */
export const checkoutProgress = defineQuery<{ checkoutStatus: string; linkState: string; isAnswered: boolean } | null>(
  'checkoutProgress',
);
