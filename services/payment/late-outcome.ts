import { decimal } from '../../billing/money/money.ts';
import type { PaymentOutcome } from '../../billing/payment/payment.ts';
import { decimalText } from '../../db/rows/columns.ts';
import { isPaymentInFlight } from '../collection/payment.ts';
import type { PaymentTransaction, PaymentWithInvoice } from '../collection/payment-row.ts';
import { giveBackCapture } from './unapplied-capture.ts';

/** A locked payment that had failed, and of which the gateway now says that it took the money. */
type LateOutcome = PaymentWithInvoice & { outcome: PaymentOutcome; at: string };

/** True when the invoice of a payment that had failed is open and waits for exactly its amount, and for no other payment. spec: README decision 34 */
export async function isStillNeeded(
  tx: PaymentTransaction,
  { payment, invoice }: PaymentWithInvoice,
): Promise<boolean> {
  if (invoice?.invoice_status !== 'FINALIZED') return false;
  if (!decimal(decimalText(invoice.amount_remaining)).equals(decimalText(payment.amount))) return false;
  return !(await isPaymentInFlight(tx, invoice.id));
}

/**
 * Gives back what a gateway took after it had declined: whatever hung on the payment has failed with it, and stays so. Answers the refunds
 * to send. spec: README decision 34; design: money-in-wallets finding 33
 */
export async function giveBackLate(
  tx: PaymentTransaction,
  { payment, outcome, at }: LateOutcome,
): Promise<{ refundIds: string[] }> {
  const { refundIds } = await giveBackCapture(tx, {
    paymentId: payment.id,
    chargeProviderId: outcome.gatewayPaymentId ?? payment.gateway_payment_id ?? payment.intent_token,
    amount: decimalText(payment.amount),
    currency: payment.currency.toLowerCase(),
    cause: 'late',
    at,
  });
  return { refundIds };
}
