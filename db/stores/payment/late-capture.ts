import type { LinkCapture } from '../../../billing/checkout-link.ts';
import { writeAudit } from '../../audit.ts';
import { decimalText } from '../../columns.ts';
import { newId } from '../../id.ts';
import { writeEvents } from '../../outbox.ts';
import { missing } from '../../record.ts';
import { type PaymentRow, type PaymentTransaction, paymentAudit, paymentColumns, paymentEvent } from './payment-row.ts';
import { type RefundRow, refundAudit, refundColumns, refundEvent, writeRefundAgenda } from './refund-row.ts';

/** Money that came for what had ended, or a second time. */
export interface UnwantedCapture {
  /** The payment that asked for it. */
  paymentId: string;
  capture: LinkCapture;
  /** Part of the refund's key beside the provider's id: whose link it was. */
  owner: string;
  at: string;
}

type Row = PaymentRow & { [column: string]: unknown };

/**
 * Records money that nobody waits for and opens its whole refund in the same transaction: of a payment that had failed, which succeeds
 * after all, or as a payment of its own beside one that was paid. Invoice, wallet and subscription are not touched. A capture that is
 * recorded already changes nothing (null). Throws `not_found`. spec: wallets-and-payments §2.17 Late capture; design: money-in-checkout §A3, §A8
 */
export async function captureLate(
  tx: PaymentTransaction,
  unwanted: UnwantedCapture,
): Promise<{ refundId: string } | null> {
  const { paymentId, capture, at } = unwanted;
  const [asked] = await tx.rows<Row>(
    `select ${paymentColumns} from payment where environment_id = $1 and id = $2 for update`,
    [tx.scope.environmentId, paymentId],
  );
  if (!asked) throw missing('payment', paymentId);
  const known = await tx.rows(
    'select 1 from payment where environment_id = $1 and payment_gateway = $2 and gateway_payment_id = $3',
    [tx.scope.environmentId, asked.payment_gateway, capture.chargeProviderId],
  );
  if (known.length > 0) return null;
  const isLate = asked.payment_status === 'FAILED';
  const payment = isLate ? await revive(tx, asked, capture, at) : await insertBeside(tx, asked, capture, at);
  await writeEvents(tx, tx.scope, [
    ...(isLate ? [] : [paymentEvent('payment.created', { ...payment, payment_status: 'PENDING' }, null, at)]),
    paymentEvent('payment.success', payment, null, at),
  ]);
  const action = isLate ? 'captured late' : 'captured twice';
  await writeAudit(tx, tx.scope, [paymentAudit(payment, action, at, { gateway_payment_id: capture.chargeProviderId })]);
  return { refundId: await openWholeRefund(tx, payment, unwanted, isLate ? 'OTHER' : 'DUPLICATE') };
}

async function revive(tx: PaymentTransaction, payment: Row, capture: LinkCapture, at: string): Promise<Row> {
  const [revived] = await tx.rows<Row>(
    `update payment set status = 'published', payment_status = 'SUCCEEDED', succeeded_at = $3, gateway_payment_id = $4, amount = $5, currency = $6,
       idempotency_key = id || '/late', payment_url = null, version = version + 1, updated_at = $7, updated_by = $8
     where environment_id = $1 and id = $2 returning ${paymentColumns}`,
    [
      tx.scope.environmentId,
      payment.id,
      at,
      capture.chargeProviderId,
      capture.amount,
      capture.currency.toLowerCase(),
      new Date().toISOString(),
      tx.scope.actor,
    ],
  );
  return revived!;
}

async function insertBeside(tx: PaymentTransaction, payment: Row, capture: LinkCapture, at: string): Promise<Row> {
  const id = newId('pay');
  const [made] = await tx.rows<Row>(
    `insert into payment (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, idempotency_key, destination_type,
       destination_id, customer_id, payment_method_type, payment_gateway, gateway_payment_id, intent_token, amount, currency, payment_status,
       track_attempts, attended, succeeded_at, metadata, test_clock_id, checkout_session_id)
     select $2, tenant_id, environment_id, $3, $4, $3, $4, $2, destination_type, destination_id, customer_id, payment_method_type, payment_gateway,
       $5, $2 || ':1', $6, $7, 'SUCCEEDED', track_attempts, false, $8, jsonb_build_object('duplicate_of', id), test_clock_id, checkout_session_id
     from payment where environment_id = $1 and id = $9 returning ${paymentColumns}`,
    [
      tx.scope.environmentId,
      id,
      new Date().toISOString(),
      tx.scope.actor,
      capture.chargeProviderId,
      capture.amount,
      capture.currency.toLowerCase(),
      at,
      payment.id,
    ],
  );
  return made!;
}

async function openWholeRefund(
  tx: PaymentTransaction,
  payment: Row,
  { owner, capture, at }: UnwantedCapture,
  reason: string,
): Promise<string> {
  const [refund] = await tx.rows<RefundRow & { [column: string]: unknown }>(
    `insert into refund (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, payment_id, invoice_id, customer_id,
       payment_gateway, amount, currency, refund_status, refund_reason, refund_target, refund_destination, idempotency_key, metadata, test_clock_id)
     select $1, tenant_id, environment_id, $3, $4, $3, $4, id, destination_id, customer_id, payment_gateway, $5, $6, 'PENDING', $7, 'BACK_TO_SOURCE',
       'GATEWAY', $8, '{"unwanted_capture": "true"}', test_clock_id
     from payment where id = $2 returning ${refundColumns}`,
    [
      newId('refund'),
      payment.id,
      new Date().toISOString(),
      tx.scope.actor,
      decimalText(payment.amount),
      payment.currency,
      reason,
      `${owner}:${capture.chargeProviderId}`,
    ],
  );
  await writeRefundAgenda(tx, refund!, at);
  await writeEvents(tx, tx.scope, [refundEvent('refund.created', refund!, at)]);
  await writeAudit(tx, tx.scope, [refundAudit(refund!, 'created', at, { payment_id: payment.id })]);
  return refund!.id;
}
