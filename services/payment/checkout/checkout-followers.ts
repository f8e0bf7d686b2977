/** Objects whose workflows are to be told of a session's end. */
export interface CheckoutFollowers {
  refundIds: string[];
  subscriptionId: string | null;
  /** An invoice that was final before its session. */
  invoiceId: string | null;
}
