import { addPayment } from '../../billing/invoice-payment.ts';
import {
  assertPaymentMove,
  isPaymentCaptured,
  isPaymentSettled,
  type PaymentOutcome,
  type PaymentStatus,
  paymentEventName,
  paymentStatusAfter,
} from '../../billing/payment.ts';
import { type AuditRecord, writeAudit } from '../audit.ts';
import { decimalText } from '../columns.ts';
import { newId } from '../id.ts';
import { type OutboundEvent, writeEvents } from '../outbox.ts';
import { dropPaymentAgenda, writeUnansweredAgenda } from './payment-agenda.ts';
import {
  lockPaymentWithInvoice,
  type PayableInvoiceRow,
  type PaymentRow,
  type PaymentTransaction,
  paidInvoiceEventObject,
  paymentAudit,
  paymentColumns,
  paymentEvent,
} from './payment-row.ts';

/** What a recorded outcome means for the one who waits for it. */
export interface RecordedPayment {
  paymentId: string;
  paymentStatus: PaymentStatus;
  invoiceId: string;
  subscriptionId: string | null;
  /** True when this call brought the invoice to SUCCEEDED or OVERPAID: what hangs on its payment happens now. */
  invoicePaid: boolean;
  /** True while the gateway's definite answer is still to come. */
  awaitsGateway: boolean;
}

/**
 * Records what is known of a payment: its status by the transition table, an attempt for a definite answer of a gateway, and
 * for captured money the invoice's amounts and status, with their events and audit. An outcome that is recorded already
 * changes nothing, so it may be recorded any number of times. Throws `not_found`, and `invalid_operation` when the gateway
 * contradicts an answer it gave before. spec: wallets-and-payments §2.19, §2.20
 */
export async function recordPaymentOutcome(
  tx: PaymentTransaction,
  input: { paymentId: string; outcome: PaymentOutcome; at: string },
): Promise<RecordedPayment> {
  const { invoice, payment } = await lockPaymentWithInvoice(tx, input.paymentId);
  const { outcome, at } = input;
  const next = paymentStatusAfter(outcome);
  const known = next === payment.payment_status || (next === 'SUCCEEDED' && isPaymentCaptured(payment.payment_status));
  if (next === null || known) {
    if (!isPaymentSettled(payment.payment_status)) await keepWaiting(tx, payment, invoice, outcome, at);
    return recorded(payment, invoice, false);
  }
  assertPaymentMove(payment.payment_status, next);
  const settled = await settlePayment(tx, payment, { next, outcome, at });
  const paidInvoice = next === 'SUCCEEDED' ? await addToInvoice(tx, invoice, decimalText(payment.amount), at) : null;
  if (payment.attended) await dropPaymentAgenda(tx, payment);
  const name = paymentEventName(payment.payment_status, next);
  const events: OutboundEvent[] = name ? [paymentEvent(name, settled, invoice.invoice_number, at)] : [];
  if (paidInvoice) {
    events.push({
      name: 'invoice.update.payment',
      entityType: 'invoice',
      entityId: invoice.id,
      payload: { invoice: paidInvoiceEventObject(paidInvoice) },
      occurredAt: at,
    });
  }
  await writeEvents(tx, tx.scope, events);
  await writeAudit(tx, tx.scope, [
    paymentAudit(settled, next.toLowerCase(), at, { invoice_id: invoice.id, reason: outcome.reason }),
    ...(paidInvoice ? [receivedAudit(paidInvoice, payment.id, at)] : []),
  ]);
  const invoicePaid = paidInvoice !== null && isPaid(paidInvoice.payment_status) && !isPaid(invoice.payment_status);
  return recorded(settled, invoice, invoicePaid);
}

/** The gateway has not decided: the payment stays PROCESSING, shows where its payer confirms, and is asked about again. */
async function keepWaiting(
  tx: PaymentTransaction,
  payment: PaymentRow,
  invoice: PayableInvoiceRow,
  outcome: PaymentOutcome,
  at: string,
): Promise<void> {
  if (payment.attended) await writeUnansweredAgenda(tx, payment, at);
  const isNews =
    (outcome.actionUrl ?? null) !== payment.payment_url ||
    (outcome.gatewayPaymentId ?? payment.gateway_payment_id) !== payment.gateway_payment_id;
  if (outcome.status === 'unknown' || !isNews) return;
  const [changed] = await tx.rows<PaymentRow>(waitingText, [
    payment.id,
    payment.version,
    outcome.actionUrl,
    outcome.gatewayPaymentId,
    JSON.stringify(outcome.gatewayMetadata),
    new Date().toISOString(),
    tx.scope.actor,
  ]);
  if (!changed) throw new Error(`payment ${payment.id} changed under its lock`);
  await writeEvents(tx, tx.scope, [paymentEvent('payment.updated', changed, invoice.invoice_number, at)]);
  await writeAudit(tx, tx.scope, [paymentAudit(changed, outcome.status, at, { invoice_id: payment.destination_id })]);
}

async function settlePayment(
  tx: PaymentTransaction,
  payment: PaymentRow,
  change: { next: PaymentStatus; outcome: PaymentOutcome; at: string },
): Promise<PaymentRow> {
  const { next, outcome, at } = change;
  const [settled] = await tx.rows<PaymentRow>(settleText, [
    payment.id,
    payment.payment_status,
    next,
    next === 'FAILED' ? (outcome.reason ?? 'declined') : null,
    at,
    outcome.gatewayPaymentId,
    JSON.stringify(outcome.gatewayMetadata),
    new Date().toISOString(),
    tx.scope.actor,
    newId('attempt'),
  ]);
  if (!settled) throw new Error(`payment ${payment.id} changed under its lock`);
  return settled;
}

/** Adds captured money to an invoice. spec: wallets-and-payments §2.20 */
async function addToInvoice(
  tx: PaymentTransaction,
  invoice: PayableInvoiceRow,
  captured: string,
  at: string,
): Promise<PayableInvoiceRow> {
  const after = addPayment(
    decimalText(invoice.amount_due),
    decimalText(invoice.amount_paid),
    captured,
    decimalText(invoice.refunded_amount),
  );
  const paidAt = invoice.paid_at ?? (isPaid(after.paymentStatus) ? at : null);
  await tx.rows(
    `update invoice set amount_paid = $2, amount_remaining = $3, overpaid_amount = $4, payment_status = $5, paid_at = $6,
       version = version + 1, updated_at = $7, updated_by = $8 where id = $1`,
    [
      invoice.id,
      after.amountPaid,
      after.amountRemaining,
      after.overpaidAmount,
      after.paymentStatus,
      paidAt,
      new Date().toISOString(),
      tx.scope.actor,
    ],
  );
  return {
    ...invoice,
    amount_paid: after.amountPaid,
    amount_remaining: after.amountRemaining,
    overpaid_amount: after.overpaidAmount,
    payment_status: after.paymentStatus,
    paid_at: paidAt,
    version: invoice.version + 1,
  };
}

function recorded(payment: PaymentRow, invoice: PayableInvoiceRow, invoicePaid: boolean): RecordedPayment {
  return {
    paymentId: payment.id,
    paymentStatus: payment.payment_status,
    invoiceId: invoice.id,
    subscriptionId: invoice.subscription_id,
    invoicePaid,
    awaitsGateway: payment.payment_status === 'PROCESSING',
  };
}

function receivedAudit(invoice: PayableInvoiceRow, paymentId: string, at: string): AuditRecord {
  return {
    objectType: 'invoice',
    objectId: invoice.id,
    action: 'payment received',
    version: invoice.version,
    occurredAt: at,
    detail: { payment_id: paymentId, payment_status: invoice.payment_status },
  };
}

function isPaid(paymentStatus: string): boolean {
  return paymentStatus === 'SUCCEEDED' || paymentStatus === 'OVERPAID';
}

// $1 id, $2 status read, $3 next status, $4 error, $5 instant, $6 gateway id, $7 its metadata, $8 real time, $9 actor, $10 attempt id.
// One definite answer of a gateway is one attempt; money received outside a gateway has none.
const settleText = `
with settled as (
  update payment set payment_status = $3, error_message = $4,
    succeeded_at = case when $3 = 'SUCCEEDED' then $5::timestamptz else succeeded_at end,
    failed_at = case when $3 = 'FAILED' then $5::timestamptz else failed_at end,
    gateway_payment_id = coalesce($6, gateway_payment_id), gateway_metadata = gateway_metadata || $7::jsonb,
    payment_url = null, version = version + 1, updated_at = $8, updated_by = $9
  where id = $1 and payment_status = $2
  returning *
), attempted as (
  insert into payment_attempt (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, payment_id,
    attempt_number, payment_status, gateway_attempt_id, error_message)
  select $10, tenant_id, environment_id, $8, $9, $8, $9, id,
    1 + (select coalesce(max(attempt_number), 0) from payment_attempt where environment_id = settled.environment_id and payment_id = $1),
    $3, $6, $4
  from settled where track_attempts
)
select ${paymentColumns} from settled`;

const waitingText = `
update payment set payment_url = $3, gateway_payment_id = coalesce($4, gateway_payment_id),
  gateway_metadata = gateway_metadata || $5::jsonb, version = version + 1, updated_at = $6, updated_by = $7
where id = $1 and version = $2
returning ${paymentColumns}`;
