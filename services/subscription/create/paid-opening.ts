import type { PaymentOutcome } from '../../../billing/payment/payment.ts';

/** The charge that succeeded before its subscription was made. */
export interface PaidOpening {
  chargeId: string;
  outcome: PaymentOutcome;
}
