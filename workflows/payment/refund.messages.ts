import type { RefundRetry } from '../../billing/payment/refund-command.ts';
import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { defineCommand, type LifecycleSnapshot } from '../lifecycle.messages.ts';

export const { workflowType: refundWorkflowType, workflowId: refundWorkflowId } = lifecycleKinds.refund;

export interface RefundSnapshot extends LifecycleSnapshot {
  refundStatus: string;
}

export interface RefundChanged {
  refundId: string;
  refundStatus: string;
}

/** Tries a failed refund again and answers when the wallet has it or the gateway answered. spec: wallets-and-payments §2.21 */
export const retryRefund = defineCommand<RefundChanged, RefundRetry>('retryRefund');
