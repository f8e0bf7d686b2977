import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import type { LifecycleSnapshot } from '../lifecycle.messages.ts';

export const { workflowType: walletWorkflowType, workflowId: walletWorkflowId } = lifecycleKinds.wallet;

export interface WalletSnapshot extends LifecycleSnapshot {
  /** Time of the customer's test clock where that stands still; null while it moves, and on real time. */
  clockTime: string | null;
}
