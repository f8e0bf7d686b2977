/** An entry of a subscription's agenda that is due: its instant, and the part of the subscription it is about. */
export interface SubscriptionMoment {
  subscriptionId: string;
  at: string;
  /** The invoice, phase, grant … of the entry; empty for the subscription itself. */
  ref: string;
}
