import { defineUpdate } from '@temporalio/workflow';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import type { LifecycleSnapshot } from '../lifecycle.messages.ts';
import type { Caller } from '../subscription/subscription.messages.ts';

export const { workflowType: refundWorkflowType, workflowId: refundWorkflowId } = lifecycleKinds.refund;

export interface RetryRefundCommand {
  caller: Caller;
  /** The customer's present when the request came. */
  at: string;
  target: 'PREPAID_WALLET' | 'BACK_TO_SOURCE';
}

export interface RefundSnapshot extends LifecycleSnapshot {
  refundStatus: string;
}

export interface RefundChanged {
  refundId: string;
  refundStatus: string;
}

/** Tries a failed refund again and answers when the wallet has it or the gateway answered. spec: wallets-and-payments §2.21 */
export const retryRefund = defineUpdate<RefundChanged, [RetryRefundCommand]>('retryRefund');
