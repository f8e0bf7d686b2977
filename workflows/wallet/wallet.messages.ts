import type { LifecycleSnapshot } from '../lifecycle.messages.ts';

export const walletWorkflowType = 'wallet';

export function walletWorkflowId(walletId: string): string {
  return `wallet/${walletId}`;
}

export interface WalletSnapshot extends LifecycleSnapshot {
  /** Time of the customer's test clock where that stands still; null while it moves, and on real time. */
  clockTime: string | null;
}
