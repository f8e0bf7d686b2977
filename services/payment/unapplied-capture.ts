import type { CapturedMoney } from '../../billing/payment/capture.ts';
import { isPaymentCaptured } from '../../billing/payment/payment.ts';
import { newId } from '../../db/id.ts';
import { decimalText } from '../../db/rows/columns.ts';
import { missing } from '../../db/rows/record.ts';
import {
  destinationDetail,
  type PaymentRow,
  type PaymentTransaction,
  paymentAudit,
  paymentColumns,
  paymentEvent,
} from '../collection/payment-row.ts';
import { settlePayments } from '../collection/payment-settle.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { openRefunds } from '../refund/refund-plan.ts';
import { dropPaymentAgenda } from './payment-agenda.ts';

/** Money that a gateway took for a payment, and that pays nothing. */
export interface UnappliedCapture extends CapturedMoney {
  /** The payment it was taken for: the one of the link or session. */
  paymentId: string;
  /** The gateway's id of the charge; with the gateway it names the capture, whoever tells of it and how often. */
  chargeProviderId: string;
  /** `late`: nothing waits for it any more; `second`: the payment was made already; `wrong_amount`: another amount or currency was asked. */
  cause: 'late' | 'second' | 'wrong_amount';
  at: string;
}

/** The payment that the money is recorded as, and its refund that is to be followed. */
export interface GivenBack {
  paymentId: string;
  refundIds: string[];
}

/**
 * Records money that came too late, twice or not as asked, and opens its way back, in one commit and once: a payment that failed or
 * was archived becomes SUCCEEDED again, a second capture a payment of its own. Invoice, wallet, subscription and session are not
 * touched; the refund goes to the source alone. A capture that is recorded already answers what was made of it. Throws `not_found`.
 * spec: wallets-and-payments §2.17 Late capture; design: money-in-checkout §A3, §A7, §A8
 */
export async function giveBackCapture(tx: PaymentTransaction, capture: UnappliedCapture): Promise<GivenBack> {
  const { environmentId } = tx.scope;
  const [payment] = await tx.rows<PaymentRow>(
    `select ${paymentColumns} from payment where environment_id = $1 and id = $2 for update`,
    [environmentId, capture.paymentId],
  );
  if (!payment) throw missing('payment', capture.paymentId);
  const known = await recordedCapture(tx, payment, capture.chargeProviderId);
  if (known) return { paymentId: known.id, refundIds: known.refund_ids };
  const received = isPaymentCaptured(payment.payment_status)
    ? await insertSecond(tx, payment, capture)
    : await revive(tx, payment, capture);
  await writeEvents(tx, tx.scope, [paymentEvent('payment.success', received, null, capture.at)]);
  const detail = { ...destinationDetail(received), cause: capture.cause, gateway_payment_id: capture.chargeProviderId };
  const action = received.id === payment.id ? 'received unapplied' : 'created';
  await writeAudit(tx, tx.scope, [paymentAudit(received, action, capture.at, detail)]);
  const refundIds = await openRefunds(tx, {
    of: { paymentId: received.id },
    customerId: received.customer_id,
    testClockId: received.test_clock_id,
    creditNoteId: null,
    amount: decimalText(received.amount),
    currency: received.currency,
    reason: capture.cause === 'second' ? 'DUPLICATE' : 'OTHER',
    target: 'BACK_TO_SOURCE',
    refundableGateways: [received.payment_gateway ?? ''],
    at: capture.at,
  });
  return { paymentId: received.id, refundIds };
}

/** The payment that a capture is recorded as, by the gateway's id of it. */
async function recordedCapture(
  tx: PaymentTransaction,
  payment: PaymentRow,
  chargeProviderId: string,
): Promise<{ id: string; refund_ids: string[] } | null> {
  const [row] = await tx.rows<{ id: string; refund_ids: string[] }>(
    `select p.id, array(select r.id from refund r where r.environment_id = p.environment_id and r.payment_id = p.id and p.unapplied) as refund_ids
     from payment p where p.environment_id = $1 and p.payment_gateway = $2 and p.gateway_payment_id = $3 and p.succeeded_at is not null`,
    [tx.scope.environmentId, payment.payment_gateway, chargeProviderId],
  );
  return row ?? null;
}

/** A payment that nobody waited for any more has its money after all; its key stays free for whoever took it since. */
async function revive(tx: PaymentTransaction, payment: PaymentRow, capture: UnappliedCapture): Promise<PaymentRow> {
  const outcome = {
    status: 'succeeded',
    gatewayPaymentId: capture.chargeProviderId,
    gatewayMetadata: {},
    reason: null,
    actionUrl: null,
  } as const;
  await freeKey(tx, payment, capture);
  if (payment.attended) await dropPaymentAgenda(tx, payment);
  await settlePayments(tx, [{ payment, next: 'SUCCEEDED', outcome, at: capture.at }]);
  const [row] = await tx.rows<PaymentRow>(`select ${paymentColumns} from payment where id = $1`, [payment.id]);
  return row!;
}

/** Before the status moves: from then on the unique keys count it among the live payments. */
async function freeKey(tx: PaymentTransaction, payment: PaymentRow, capture: UnappliedCapture): Promise<void> {
  await tx.rows(
    `update payment set status = 'published', unapplied = true, idempotency_key = 'unapplied/' || id, amount = $2, currency = $3,
       metadata = metadata || jsonb_build_object('unapplied', $4::text) || case when amount = $2::numeric and currency = $3 then '{}'
         else jsonb_build_object('asked_amount', trim_scale(amount)::text, 'asked_currency', currency) end
     where id = $1`,
    [payment.id, capture.amount, capture.currency, capture.cause],
  );
}

/** A second capture for one payment, as a payment of its own. */
async function insertSecond(
  tx: PaymentTransaction,
  payment: PaymentRow,
  capture: UnappliedCapture,
): Promise<PaymentRow> {
  const id = newId('pay');
  const [row] = await tx.rows<PaymentRow>(insertSecondText, [
    id,
    payment.id,
    capture.chargeProviderId,
    capture.amount,
    capture.currency,
    capture.at,
    new Date().toISOString(),
    tx.scope.actor,
    capture.cause,
  ]);
  await writeEvents(tx, tx.scope, [paymentEvent('payment.created', row!, null, capture.at)]);
  return row!;
}

// The intent is known to the gateway by the first payment; this one was never asked for.
const insertSecondText = `
insert into payment (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, idempotency_key, destination_type,
  destination_id, customer_id, payment_method_type, payment_gateway, gateway_payment_id, intent_token, amount, currency,
  payment_status, track_attempts, attended, succeeded_at, metadata, test_clock_id, checkout_session_id, unapplied, duplicate_of, connection_id)
select $1, tenant_id, environment_id, $7, $8, $7, $8, 'unapplied/' || $1, destination_type, destination_id, customer_id, payment_method_type,
  payment_gateway, $3, 'unapplied/' || $1, $4, $5, 'SUCCEEDED', true, true, $6,
  jsonb_build_object('unapplied', $9::text, 'duplicate_of', id), test_clock_id, checkout_session_id, true, id, connection_id
from payment where id = $2 returning ${paymentColumns}`;

/**
 * Makes the amount of a payment the larger one that its gateway took, so that what is recorded is what was received and the rest shows
 * as overpaid. Call it with the payment locked and before its outcome is recorded. design: money-in-checkout §A7
 */
export async function takeCapturedAmount(tx: PaymentTransaction, paymentId: string, amount: string): Promise<void> {
  await tx.rows(
    `update payment set amount = $3, metadata = metadata || jsonb_build_object('asked_amount', trim_scale(amount)::text)
     where environment_id = $1 and id = $2 and amount < $3::numeric`,
    [tx.scope.environmentId, paymentId, amount],
  );
}
