import type { PaymentOutcome } from '../../billing/payment/payment.ts';
import { instantText } from '../../db/rows/columns.ts';
import {
  destinationDetail,
  type PayableInvoiceRow,
  type PaymentRow,
  type PaymentTransaction,
  paymentAudit,
  paymentColumns,
  paymentEvent,
} from '../collection/payment-row.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { attemptOfPayment } from '../topup/auto-topup-end.ts';
import { followTopUp } from '../topup/auto-topup-standing.ts';
import { gatewaySilentSince, writePayerAgenda, writeUnansweredAgenda } from './payment-agenda.ts';

/** The gateway has not decided: the payment stays PROCESSING, shows where its payer confirms, and is asked about again. */
export async function keepWaiting(
  tx: PaymentTransaction,
  payment: PaymentRow,
  invoice: PayableInvoiceRow | null,
  outcome: PaymentOutcome,
  at: string,
): Promise<void> {
  const since = await awaitsPayerSince(tx, payment, outcome, at);
  if (payment.attended && outcome.status === 'requires_action') await writePayerAgenda(tx, payment, since ?? at, at);
  else if (payment.attended) await writeUnansweredAgenda(tx, payment, at);
  const isNews =
    (payment.awaits_payer_since === null) !== (since === null) ||
    (outcome.actionUrl ?? null) !== payment.payment_url ||
    (outcome.gatewayPaymentId ?? payment.gateway_payment_id) !== payment.gateway_payment_id;
  if (outcome.status === 'unknown' || !isNews) return;
  const attempt = await attemptOfPayment(tx, tx.scope, payment.id);
  const [changed] = await tx.rows<PaymentRow>(waitingText, [
    payment.id,
    payment.version,
    outcome.actionUrl,
    outcome.gatewayPaymentId,
    JSON.stringify(outcome.gatewayMetadata),
    new Date().toISOString(),
    tx.scope.actor,
    since,
  ]);
  if (!changed) throw new Error(`payment ${payment.id} changed under its lock`);
  if (attempt) await followTopUp(tx, tx.scope, attempt.wallet_id, 'paymentSettled');
  await writeEvents(tx, tx.scope, [paymentEvent('payment.updated', changed, invoice?.invoice_number ?? null, at)]);
  await writeAudit(tx, tx.scope, [paymentAudit(changed, outcome.status, at, destinationDetail(payment))]);
}

/**
 * Since when the payer has to confirm, after `outcome`; null when nothing is asked of it. A gateway that does not answer says nothing
 * of the payer. Payments that waited before this was written down have waited since their gateway was first asked.
 */
async function awaitsPayerSince(
  tx: PaymentTransaction,
  payment: PaymentRow,
  { status }: PaymentOutcome,
  at: string,
): Promise<string | null> {
  const known = payment.awaits_payer_since === null ? null : instantText(payment.awaits_payer_since);
  if (status === 'processing') return null;
  if (status !== 'requires_action' || known !== null) return known;
  return (payment.payment_url === null ? null : await gatewaySilentSince(tx, payment)) ?? at;
}

const waitingText = `
update payment set payment_url = $3, gateway_payment_id = coalesce($4, gateway_payment_id),
  gateway_metadata = gateway_metadata || $5::jsonb, awaits_payer_since = $8,
  version = version + 1, updated_at = $6, updated_by = $7
where id = $1 and version = $2
returning ${paymentColumns}`;
