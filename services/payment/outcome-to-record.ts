import type { PaymentOutcome } from '../../billing/payment/payment.ts';

/** Knowledge of a payment, and the instant on the customer's clock at which it came. */
export interface OutcomeToRecord {
  paymentId: string;
  outcome: PaymentOutcome;
  at: string;
}
