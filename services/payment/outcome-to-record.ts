import type { PaymentOutcome } from '../../billing/payment/payment.ts';

/** What is known of a payment, and when on the customer's clock it became known. */
export interface OutcomeToRecord {
  paymentId: string;
  outcome: PaymentOutcome;
  at: string;
}
