import type { PaymentStatus } from '../../billing/payment/payment.ts';
import { assertPaymentMove } from '../../billing/payment/payment.ts';
import { type RefundOutcome, rollUpRefunds } from '../../billing/payment/refund.ts';
import { decimalText } from '../../db/rows/columns.ts';
import { invoiceEvents } from '../collection/invoice-event.ts';
import {
  destinationDetail,
  type PaymentRow,
  type PaymentTransaction,
  paymentAudit,
  paymentColumns,
  paymentEvent,
} from '../collection/payment-row.ts';
import { creditPrepaidWallet } from '../ledger/wallet-credit.ts';
import { parkObject } from '../lifecycle/parked-object.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import {
  lockRefund,
  type RefundRow,
  refundAudit,
  refundColumns,
  refundEvent,
  writeRefundAgenda,
} from './refund-row.ts';

/** Statuses of a payment that show what was given back. */
const refundedStatuses: ReadonlySet<string> = new Set(['PARTIALLY_REFUNDED', 'REFUNDED']);

const changeText = (sets: string) => `
update refund set ${sets}, version = version + 1, updated_at = $2, updated_by = $3 where id = $1 returning ${refundColumns}`;

/** Changes a locked refund and returns it as it is now; `$4` on are the values of `sets`. */
export async function changeRefund(
  tx: PaymentTransaction,
  id: string,
  sets: string,
  values: readonly unknown[],
): Promise<RefundRow> {
  const [row] = await tx.rows<RefundRow & Record<string, unknown>>(changeText(sets), [
    id,
    new Date().toISOString(),
    tx.scope.actor,
    ...values,
  ]);
  if (!row) throw new Error(`refund ${id} is gone under its lock`);
  return row;
}

/**
 * Records what a gateway said of a refund. Success settles it once and moves its payment; a refusal frees its room and is tried
 * again later; anything else is asked about again. A success that the gateway takes back is undone. Any number of times with the same
 * effect. spec: wallets-and-payments §2.21; subscriptions-and-invoicing §2.20; design: money-in-checkout §A11
 */
export async function recordRefund(
  tx: PaymentTransaction,
  input: { refundId: string; outcome: RefundOutcome; at: string },
): Promise<void> {
  const row = await lockRefund(tx, input.refundId);
  const { outcome, at } = input;
  const wasPaidBack = row.refund_status === 'SUCCEEDED' && row.refund_destination === 'GATEWAY';
  if (wasPaidBack && outcome.status === 'failed') return undo(tx, row, outcome, at);
  if (row.refund_status !== 'PROCESSING') return;
  if (outcome.status === 'succeeded') {
    await settle(tx, row, { at, gatewayRefundId: outcome.gatewayRefundId });
  } else if (outcome.status === 'failed') {
    await failRefund(tx, row, outcome, at);
  } else {
    await writeRefundAgenda(tx, row, at, outcome.expectedBy ?? null);
  }
}

/**
 * The money of a refund that had succeeded came back: it counts as given back no longer, and waits for a person, because a bank that returned
 * it once would do so again. Whoever retries it chooses the way.
 */
async function undo(tx: PaymentTransaction, row: RefundRow, outcome: RefundOutcome, at: string): Promise<void> {
  const settled = { ...outcome, reason: outcome.reason ?? 'the gateway took it back' };
  await failRefund(tx, row, settled, at);
  if (row.payment_id) await moveRefundedPayment(tx, row.payment_id, at);
  if (row.invoice_id) await writeEvents(tx, tx.scope, invoiceEvents('invoice.update.payment', row.invoice_id, at));
  const reason = `the gateway gave the money back and got it returned (${settled.reason}); retry sends it once more`;
  await parkObject(tx, tx.scope, { objectType: 'refund', objectId: row.id, step: 'retryRefund', reason });
}

/** Marks a locked refund as failed, which is tried again later. */
export async function failRefund(
  tx: PaymentTransaction,
  row: RefundRow,
  outcome: Pick<RefundOutcome, 'gatewayRefundId' | 'reason'>,
  at: string,
): Promise<void> {
  const failed = await changeRefund(
    tx,
    row.id,
    `refund_status = 'FAILED', failed_at = $4, failure_reason = $5, settled_amount = null, attempt = attempt + 1, gateway_refund_id = coalesce($6, gateway_refund_id)`,
    [at, outcome.reason ?? 'refused by the gateway', outcome.gatewayRefundId],
  );
  await writeRefundAgenda(tx, failed, at);
  await writeEvents(tx, tx.scope, [refundEvent('refund.failed', failed, at)]);
  await writeAudit(tx, tx.scope, [
    refundAudit(failed, 'failed', at, { reason: failed.failure_reason, attempt: failed.attempt }),
  ]);
}

/** Settles a refund; its payment and the invoice's followers hear of it. */
async function settle(
  tx: PaymentTransaction,
  row: RefundRow,
  how: { at: string; gatewayRefundId: string | null },
): Promise<void> {
  const settled = await changeRefund(
    tx,
    row.id,
    `refund_status = 'SUCCEEDED', succeeded_at = $4, settled_amount = amount, initiated_at = coalesce(initiated_at, $4),
     gateway_refund_id = coalesce($5, gateway_refund_id), refund_target = $6, refund_destination = $7, failure_reason = null`,
    [how.at, how.gatewayRefundId, row.refund_target, row.refund_destination],
  );
  await writeRefundAgenda(tx, settled, how.at);
  await writeEvents(tx, tx.scope, [refundEvent('refund.succeeded', settled, how.at)]);
  await writeAudit(tx, tx.scope, [
    refundAudit(settled, 'succeeded', how.at, { destination: settled.refund_destination }),
  ]);
  if (settled.payment_id) await moveRefundedPayment(tx, settled.payment_id, how.at);
  if (settled.invoice_id)
    await writeEvents(tx, tx.scope, invoiceEvents('invoice.update.payment', settled.invoice_id, how.at));
}

/** A payment follows its succeeded refunds, also where one of them is undone. spec: wallets-and-payments §2.21 */
export async function moveRefundedPayment(tx: PaymentTransaction, paymentId: string, at: string): Promise<void> {
  const values = [tx.scope.environmentId, paymentId];
  const [payment] = await tx.rows<PaymentRow & Record<string, unknown>>(
    `select ${paymentColumns} from payment where environment_id = $1 and id = $2 for update`,
    values,
  );
  if (!payment) throw new Error(`payment ${paymentId} of a refund is gone`);
  const refunds = await tx.rows<{ amount: string; refundStatus: string }>(
    `select amount, refund_status as "refundStatus" from refund where environment_id = $1 and payment_id = $2`,
    values,
  );
  const { refunded, paymentStatus } = rollUpRefunds(
    decimalText(payment.amount),
    refunds.map(({ amount, refundStatus }) => ({ amount: decimalText(amount), refundStatus })),
    refundedStatuses.has(payment.payment_status) ? 'SUCCEEDED' : payment.payment_status,
  );
  if (payment.payment_status === paymentStatus && paymentStatus === 'REFUNDED') return;
  // Back from a status that shows refunds is no move that anybody else may make.
  if (!refundedStatuses.has(payment.payment_status)) {
    assertPaymentMove(payment.payment_status, paymentStatus as PaymentStatus);
  }
  const [moved] = await tx.rows<PaymentRow & Record<string, unknown>>(
    `update payment set payment_status = $3, refunded_at = $4::timestamptz, version = version + 1, updated_at = $5, updated_by = $6
     where environment_id = $1 and id = $2 returning ${paymentColumns}`,
    [...values, paymentStatus, refunded === '0' ? null : at, new Date().toISOString(), tx.scope.actor],
  );
  if (!moved) throw new Error(`payment ${paymentId} changed under its lock`);
  await writeEvents(tx, tx.scope, [paymentEvent('payment.updated', moved, await invoiceNumber(tx, moved), at)]);
  await writeAudit(tx, tx.scope, [
    paymentAudit(moved, paymentStatus.toLowerCase().replace('_', ' '), at, destinationDetail(moved)),
  ]);
}

async function invoiceNumber(tx: PaymentTransaction, payment: PaymentRow): Promise<string | null> {
  const [row] = await tx.rows<{ invoice_number: string | null }>(
    'select invoice_number from invoice where environment_id = $1 and id = $2',
    [tx.scope.environmentId, payment.destination_id],
  );
  return row?.invoice_number ?? null;
}

/**
 * Pays a locked refund into the prepaid wallet, once: the key is the credit note's id when the wallet gets all of the note, else
 * the refund's. spec: wallets-and-payments §2.14
 */
export async function creditRefundToWallet(
  tx: PaymentTransaction,
  row: RefundRow,
  how: { at: string; isWholeNote: boolean },
): Promise<void> {
  const ofNote = how.isWholeNote && row.credit_note_id !== null;
  const causeId = ofNote ? (row.credit_note_id as string) : row.id;
  await creditPrepaidWallet(tx, tx.scope, {
    customerId: row.customer_id,
    currency: row.currency,
    amount: decimalText(row.amount),
    cause: ofNote ? 'credit_note' : 'refund',
    causeId,
    description: ofNote ? `Credit note ${causeId}` : `Refund ${causeId}`,
    idempotencyKey: causeId,
    at: how.at,
  });
  const toWallet: RefundRow = { ...row, refund_target: 'PREPAID_WALLET', refund_destination: 'WALLET' };
  await settle(tx, toWallet, { at: how.at, gatewayRefundId: null });
}
