import { addPayment } from '../../billing/invoice/invoice-payment.ts';
import type { PaymentOutcome, PaymentStatus } from '../../billing/payment/payment.ts';
import { newId } from '../../db/id.ts';
import { recordset, updateText, writeRows } from '../../db/rows/bulk.ts';
import { decimalText } from '../../db/rows/columns.ts';
import { releaseLots } from '../ledger/wallet-agenda.ts';
import { type PayableInvoiceRow, type PaymentRow, type PaymentTransaction, paymentColumns } from './payment-row.ts';

/** A locked payment whose status moves to `next`, by what was said of it. */
export interface PaymentToSettle {
  payment: PaymentRow;
  next: PaymentStatus;
  outcome: PaymentOutcome;
  at: string;
}

/** Moves payments, and notes an attempt of each that a gateway decided; answers the payments as they are then, by id. */
export async function settlePayments(
  tx: PaymentTransaction,
  settling: readonly PaymentToSettle[],
): Promise<Map<string, PaymentRow>> {
  const answers = settling.map(({ payment, next, outcome, at }) => ({
    id: payment.id,
    statusRead: payment.payment_status,
    next,
    error: next === 'FAILED' ? (outcome.reason ?? 'declined') : null,
    at,
    gatewayPaymentId: outcome.gatewayPaymentId,
    gatewayMetadata: outcome.gatewayMetadata,
    attemptId: newId('attempt'),
    decline: outcome.declineCode
      ? { decline_code: outcome.declineCode, decline_class: outcome.declineClass ?? 'retry' }
      : {},
  }));
  const values = [JSON.stringify(answers), new Date().toISOString(), tx.scope.actor];
  const settled = new Map(
    (await tx.rows<PaymentRow>(settleText, values, 'payments-settle')).map((row) => [row.id, row]),
  );
  for (const { payment } of settling)
    if (!settled.has(payment.id)) throw new Error(`payment ${payment.id} changed under its lock`);
  return settled;
}

/** An invoice with captured money added. spec: wallets-and-payments §2.20 */
export function withPayment(invoice: PayableInvoiceRow, captured: string, at: string): PayableInvoiceRow {
  const after = addPayment(
    decimalText(invoice.amount_due),
    decimalText(invoice.amount_paid),
    captured,
    decimalText(invoice.refunded_amount),
  );
  return {
    ...invoice,
    amount_paid: after.amountPaid,
    amount_remaining: after.amountRemaining,
    overpaid_amount: after.overpaidAmount,
    payment_status: after.paymentStatus,
    paid_at: invoice.paid_at ?? (isPaid(after.paymentStatus) ? at : null),
    version: invoice.version + 1,
  };
}

/** Writes what `withPayment` made of invoices. */
export async function writePaidInvoices(tx: PaymentTransaction, invoices: readonly PayableInvoiceRow[]): Promise<void> {
  const updated = { updatedAt: new Date().toISOString(), updatedBy: tx.scope.actor };
  await writeRows(
    tx,
    updatePaidInvoices,
    invoices.map((invoice) => ({ ...paidColumnsOf(invoice), ...updated })),
  );
  releaseLots(
    tx,
    tx.scope,
    invoices.map((invoice) => invoice.customer_id),
  );
}

function paidColumnsOf(invoice: PayableInvoiceRow): Record<keyof typeof paidColumns, string | null> {
  return {
    id: invoice.id,
    amountPaid: invoice.amount_paid,
    amountRemaining: invoice.amount_remaining,
    overpaidAmount: invoice.overpaid_amount,
    paymentStatus: invoice.payment_status,
    paidAt: invoice.paid_at,
  };
}

/** The whole amount, or more, has arrived. */
export function isPaid(paymentStatus: string): boolean {
  return paymentStatus === 'SUCCEEDED' || paymentStatus === 'OVERPAID';
}

const paidColumns = {
  id: 'text',
  amountPaid: 'numeric',
  amountRemaining: 'numeric',
  overpaidAmount: 'numeric',
  paymentStatus: 'text',
  paidAt: 'timestamptz',
} as const;
const updatePaidInvoices = updateText(
  'invoice',
  { ...paidColumns, updatedAt: 'timestamptz', updatedBy: 'text' },
  'version = r.version + 1',
);

const answerColumns = {
  id: 'text',
  statusRead: 'text',
  next: 'text',
  error: 'text',
  at: 'timestamptz',
  gatewayPaymentId: 'text',
  gatewayMetadata: 'jsonb',
  attemptId: 'text',
  decline: 'jsonb',
};

// $1 the answers, $2 real time, $3 actor. One definite answer of a gateway is one attempt; money received outside a gateway has none.
const settleText = `
with answer as (
  select * from ${recordset(answerColumns, '$1')}
), settled as (
  update payment p set payment_status = answer.next, error_message = answer.error,
    succeeded_at = case when answer.next = 'SUCCEEDED' then answer.at else p.succeeded_at end,
    failed_at = case when answer.next = 'FAILED' then answer.at else p.failed_at end,
    gateway_payment_id = coalesce(answer."gatewayPaymentId", p.gateway_payment_id),
    gateway_metadata = p.gateway_metadata || answer."gatewayMetadata",
    payment_url = null, awaits_payer_since = null, version = p.version + 1, updated_at = $2, updated_by = $3
  from answer
  where p.id = answer.id and p.payment_status = answer."statusRead"
  returning p.*
), attempted as (
  insert into payment_attempt (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, payment_id,
    attempt_number, payment_status, gateway_attempt_id, error_message, metadata)
  select answer."attemptId", tenant_id, environment_id, $2, $3, $2, $3, settled.id,
    1 + (select coalesce(max(attempt_number), 0) from payment_attempt
      where environment_id = settled.environment_id and payment_id = settled.id),
    answer.next, answer."gatewayPaymentId", answer.error, answer.decline
  from settled join answer on answer.id = settled.id where track_attempts
)
select ${paymentColumns} from settled`;
