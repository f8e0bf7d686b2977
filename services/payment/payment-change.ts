import { assertPaymentMove, type PaymentOutcome, type PaymentStatus } from '../../billing/payment/payment.ts';
import { refuse } from '../../billing/refusal.ts';
import { customerNow } from '../../db/clock.ts';
import { badField, missing } from '../../db/rows/record.ts';
import { violatedUniqueIndex } from '../../db/transaction.ts';
import { chargeableMethod } from '../collection/payment.ts';
import {
  lockPaymentWithInvoice,
  type PaymentRow,
  type PaymentTransaction,
  paymentAudit,
  paymentColumns,
  paymentEvent,
  refuseSessionPayment,
} from '../collection/payment-row.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { recordPaymentOutcome } from './payment-outcome.ts';

/** What a person changes of a payment; absent members stay. spec: wallets-and-payments §1.5 PUT */
export interface PaymentChange {
  paymentStatus?: PaymentStatus | undefined;
  paymentMethodId?: string | undefined;
  gatewayPaymentId?: string | undefined;
  errorMessage?: string | undefined;
  succeededAt?: string | undefined;
  failedAt?: string | undefined;
  metadata?: Record<string, string> | undefined;
}

/** Who waits for a payment, and whether this change settled it. */
export interface ChangedPayment {
  paymentId: string;
  /** Null for a payment without an invoice. */
  invoiceId: string | null;
  subscriptionId: string | null;
  isSettled: boolean;
  /** The wallet whose credits it buys. */
  walletId?: string;
}

/**
 * Changes a payment by hand: its particulars, and its status as far as the table allows. SUCCEEDED and FAILED are recorded
 * like an answer of a gateway, so the invoice follows. PROCESSING is entered by processing, refunds and voids by their own
 * operations. Throws `not_found`, `invalid_operation`, `validation_error`, and `already_exists` for a charge that is another
 * payment. spec: wallets-and-payments §2.19, §3 row 42
 */
export async function changePayment(
  tx: PaymentTransaction,
  paymentId: string,
  change: PaymentChange,
): Promise<ChangedPayment> {
  const { invoice, payment } = await lockPaymentWithInvoice(tx, paymentId);
  refuseSessionPayment(payment, 'changed');
  const next = change.paymentStatus ?? payment.payment_status;
  checkMove(payment, next);
  if (change.paymentMethodId !== undefined) await checkMethod(tx, payment, change.paymentMethodId);
  const now = await customerNow(tx, payment.customer_id);
  const isOpening = payment.payment_status === 'INITIATED' && next === 'PENDING';
  const [changed] = await tx
    .rows<PaymentRow>(changeText, [
      payment.id,
      payment.payment_status,
      isOpening ? 'PENDING' : payment.payment_status,
      change.paymentMethodId ?? null,
      change.gatewayPaymentId ?? null,
      change.errorMessage ?? null,
      change.metadata ? JSON.stringify(change.metadata) : null,
      new Date().toISOString(),
      tx.scope.actor,
    ])
    .catch((error: unknown) => refuseTaken(error, change.gatewayPaymentId));
  if (!changed) throw refuse('version_conflict', `payment ${paymentId} was changed meanwhile; read it and try again`);
  const name = isOpening ? 'payment.pending' : 'payment.updated';
  await writeEvents(tx, tx.scope, [paymentEvent(name, changed, invoice?.invoice_number ?? null, now)]);
  await writeAudit(tx, tx.scope, [
    paymentAudit(changed, isOpening ? 'pending' : 'updated', now, { fields: namesOf(change) }),
  ]);
  const waiting = { paymentId, invoiceId: invoice?.id ?? null, subscriptionId: invoice?.subscription_id ?? null };
  if (next === payment.payment_status || isOpening) return { ...waiting, isSettled: false };
  const at = (next === 'SUCCEEDED' ? change.succeededAt : change.failedAt) ?? now;
  const { walletId } = await recordPaymentOutcome(tx, { paymentId, outcome: outcomeByHand(next, change), at });
  return { ...waiting, isSettled: true, ...(walletId === undefined ? {} : { walletId }) };
}

/** A charge of a gateway is one payment. design: money-in-checkout §A8 */
function refuseTaken(error: unknown, gatewayPaymentId: string | undefined): never {
  if (violatedUniqueIndex(error) !== 'payment_gateway_charge_unique') throw error;
  throw refuse('already_exists', `gateway_payment_id ${gatewayPaymentId ?? ''} is another payment's`, {
    fields: { gateway_payment_id: 'taken by another payment of this gateway' },
  });
}

function namesOf(change: PaymentChange): string[] {
  return Object.entries(change).flatMap(([name, value]) => (value === undefined ? [] : name));
}

function checkMove(payment: PaymentRow, next: PaymentStatus): void {
  const from = payment.payment_status;
  assertPaymentMove(from, next);
  if (payment.payment_method_type === 'CREDITS' && next === 'SUCCEEDED' && next !== from) {
    throw refuse(
      'invalid_operation',
      'a CREDITS payment succeeds when its wallet is debited, by POST /payments/{id}/process',
    );
  }
  if (next === from || next === 'PENDING' || next === 'SUCCEEDED' || next === 'FAILED') return;
  if (next === 'PROCESSING') {
    throw refuse('invalid_operation', 'payment_status PROCESSING is entered by POST /payments/{id}/process');
  }
  throw refuse('invalid_operation', `payment_status ${next} cannot be recorded by hand; SUCCEEDED and FAILED can`);
}

async function checkMethod(tx: PaymentTransaction, payment: PaymentRow, paymentMethodId: string): Promise<void> {
  if (payment.payment_status !== 'INITIATED' && payment.payment_status !== 'PENDING') {
    throw refuse(
      'invalid_operation',
      `payment ${payment.id} is ${payment.payment_status}; its payment_method_id is final`,
    );
  }
  const method = await chargeableMethod(tx, payment.customer_id, paymentMethodId);
  if (!method) throw missing('payment method', paymentMethodId, 'payment_method_id');
  if (method.gateway !== payment.payment_gateway)
    throw badField('payment_method_id', `must be of ${payment.payment_gateway ?? 'no gateway'}`);
}

function outcomeByHand(next: PaymentStatus, change: PaymentChange): PaymentOutcome {
  return {
    status: next === 'SUCCEEDED' ? 'succeeded' : 'declined',
    gatewayPaymentId: change.gatewayPaymentId ?? null,
    gatewayMetadata: {},
    reason: change.errorMessage ?? null,
    actionUrl: null,
  };
}

// Conditional on the status that was read.
const changeText = `
update payment set payment_status = $3, payment_method_id = coalesce($4, payment_method_id),
  gateway_payment_id = coalesce($5, gateway_payment_id), error_message = coalesce($6, error_message),
  metadata = coalesce($7::jsonb, metadata), version = version + 1, updated_at = $8, updated_by = $9
where id = $1 and payment_status = $2
returning ${paymentColumns}`;
