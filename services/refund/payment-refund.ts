import { currencyPrecision, decimal, decimalString } from '../../billing/money/money.ts';
import { isPaymentCaptured } from '../../billing/payment/payment.ts';
import { rollUpRefunds } from '../../billing/payment/refund.ts';
import { refuse } from '../../billing/refusal.ts';
import { customerNow } from '../../db/clock.ts';
import { decimalText } from '../../db/rows/columns.ts';
import { badField } from '../../db/rows/record.ts';
import { lockPaymentWithInvoice, type PaymentRow, type PaymentTransaction } from '../collection/payment-row.ts';
import { takeBackPurchase } from '../topup/purchase-taken-back.ts';
import { refuseDisputed } from './dispute.ts';
import { openRefunds } from './refund-plan.ts';

/** Money of a payment without an invoice that a person gives back. */
export interface PaymentRefund {
  paymentId: string;
  /** All that can still be given back, when null. */
  amount: string | null;
  reason: string;
  /** Names of the gateways that can give money back. */
  refundableGateways: readonly string[];
}

/**
 * Plans the refund of a payment without an invoice, to the method it came from, and takes the credits it bought back with it: their lot,
 * then its bonus pro rata. Answers the refund, which waits to be sent. What an invoice was paid with is given back by a credit note.
 * Throws `not_found`; `invalid_operation` for a payment of an invoice, a disputed one, one that captured nothing, a gateway that gives no money back,
 * more than is left of the payment, and more than is left of the credits; `validation_error` for too many decimals.
 * spec: wallets-and-payments §2.21; own; design: money-in-wallets findings 5, 6
 */
export async function refundPayment(tx: PaymentTransaction, input: PaymentRefund): Promise<string> {
  const { invoice, payment } = await lockPaymentWithInvoice(tx, input.paymentId);
  if (invoice) {
    throw refuse(
      'invalid_operation',
      `payment ${payment.id} pays invoice ${invoice.id}; its money is given back by a credit note of that invoice`,
      { invoice_id: invoice.id },
    );
  }
  await refuseDisputed(tx, { paymentId: payment.id });
  const gateway = payment.payment_gateway ?? '';
  if (!input.refundableGateways.includes(gateway)) {
    throw refuse('invalid_operation', `${gateway || 'no gateway'} gives no money back`, { payment_gateway: gateway });
  }
  const amount = await refundableAmount(tx, payment, input.amount);
  const at = await customerNow(tx, payment.customer_id);
  const [refundId] = await openRefunds(tx, {
    of: { paymentId: payment.id },
    customerId: payment.customer_id,
    testClockId: payment.test_clock_id,
    creditNoteId: null,
    amount,
    currency: payment.currency,
    reason: input.reason,
    target: 'BACK_TO_SOURCE',
    refundableGateways: input.refundableGateways,
    at,
  });
  if (refundId === undefined) throw new Error(`no refund of payment ${payment.id} was planned`);
  if (payment.purchase_id !== null) {
    await takeBackPurchase(tx, tx.scope, {
      purchaseId: payment.purchase_id,
      amount,
      paid: decimalText(payment.amount),
      key: refundId,
      description: `Refund ${refundId} of purchased credits`,
      refusesBeyondLot: true,
    });
  }
  return refundId;
}

async function refundableAmount(tx: PaymentTransaction, payment: PaymentRow, wanted: string | null): Promise<string> {
  const { payment_status: status, currency } = payment;
  if (!isPaymentCaptured(status) || status === 'REFUNDED') {
    throw refuse('invalid_operation', `payment ${payment.id} is ${status}; there is no money to give back`, {
      payment_status: status,
    });
  }
  const refunds = await tx.rows<{ amount: string; refundStatus: string }>(
    `select amount, refund_status as "refundStatus" from refund where environment_id = $1 and payment_id = $2`,
    [tx.scope.environmentId, payment.id],
  );
  const { stillRefundable } = rollUpRefunds(decimalText(payment.amount), refunds);
  const amount = decimal(wanted ?? stillRefundable);
  if (amount.decimalPlaces() > currencyPrecision(currency)) {
    throw badField('amount', `must have at most ${currencyPrecision(currency)} decimals`);
  }
  if (amount.isZero() || amount.greaterThan(stillRefundable)) {
    throw refuse(
      'invalid_operation',
      `only ${stillRefundable} ${currency} of payment ${payment.id} can be given back`,
      {
        refundable_amount: stillRefundable,
      },
    );
  }
  return decimalString(amount);
}
