import type { ScopedSql } from '../../db/transaction.ts';
import type { AttendedSubscription } from '../../services/charging/subscription-snapshot.ts';
import { type CommandedChange, supersedingCheckouts } from '../../services/payment/checkout/checkout-supersede.ts';
import type { SubscriptionSnapshot } from '../../workflows/subscription/subscription.messages.ts';

/** Carries out a command on a subscription, and answers the subscription with the sessions that the command has ended. */
export type Superseding = (
  tx: ScopedSql,
  change: CommandedChange,
  command: () => Promise<AttendedSubscription>,
) => Promise<SubscriptionSnapshot>;

/** Commands that end the checkout sessions whose orders they make impossible, in their own transaction. design: money-in-checkout §A10 */
export function superseding(snapshot: (attended: AttendedSubscription) => SubscriptionSnapshot): Superseding {
  return async (tx, change, command) => {
    const { result, endedCheckoutIds } = await supersedingCheckouts(tx, change, command);
    return { ...snapshot(result), ...(endedCheckoutIds.length > 0 ? { endedCheckoutIds } : {}) };
  };
}
