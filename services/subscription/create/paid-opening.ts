import type { PaymentOutcome } from '../../../billing/payment/payment.ts';
import type { PaymentTransaction } from '../../collection/payment-row.ts';

/** The charge that succeeded before its subscription was made. */
export interface PaidOpening {
  chargeId: string;
  outcome: PaymentOutcome;
}

/** Records what became of the payment of an opening invoice: `recordPaymentOutcome`, which stands on subscriptions itself. */
export type RecordPaid = (
  tx: PaymentTransaction,
  input: { paymentId: string; outcome: PaymentOutcome; at: string },
) => Promise<unknown>;

/** A charge that succeeded, and what records it once the payment of the opening invoice is there. */
export interface RecordedOpening extends PaidOpening {
  record: RecordPaid;
}
