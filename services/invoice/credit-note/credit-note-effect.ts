import {
  applyCreditNote,
  type CreditableInvoice,
  type CreditedInvoice,
  reverseAdjustment,
} from '../../../billing/invoice/credit-note.ts';
import { type RefundTarget, refundReasonOf } from '../../../billing/payment/refund.ts';
import { refuse } from '../../../billing/refusal.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { refreshIncomplete } from '../../charging/subscription-snapshot.ts';
import { invoiceEvents } from '../../collection/invoice-event.ts';
import { writeAudit } from '../../platform/audit.ts';
import { writeEvents } from '../../platform/outbox.ts';
import { refuseDisputed } from '../../refund/dispute.ts';
import { openRefunds } from '../../refund/refund-plan.ts';
import { takeBackPurchase } from '../../topup/purchase-taken-back.ts';
import { refreshInvoiceAgenda } from '../read/invoice-snapshot.ts';

/** The columns of an invoice that a credit note reads or changes. */
export interface CreditedRow {
  id: string;
  customer_id: string;
  subscription_id: string | null;
  subscription_customer_id: string | null;
  test_clock_id: string | null;
  invoice_status: string;
  payment_status: string;
  currency: string;
  total: string;
  amount_paid: string;
  adjustment_amount: string;
  refunded_amount: string;
  paid_at: string | null;
  /** The purchase of credits that it bills. */
  purchase_id: string | null;
  version: number;
  [column: string]: unknown;
}

/** Whom the route tells after the commit: the invoice and its subscription when they changed, and refunds that are to be sent. */
export interface InvoiceFollowUp {
  invoiceId: string;
  subscriptionId: string | null;
  customerId: string;
  testClockId: string | null;
  at: string;
  invoiceChanged: boolean;
  /** True when time will bring something to the invoice, so that it needs its workflow. */
  invoiceWaits: boolean;
  refundIds: string[];
}

/** A credit note as far as its invoice is concerned. */
interface Effect {
  id: string;
  creditNoteType: string;
  totalAmount: string;
  reason: string;
}

/** Locks the invoice of a credit note. Throws `not_found`. */
export async function lockCreditedInvoice(tx: Transaction, invoiceId: string): Promise<CreditedRow> {
  const [row] = await tx.rows<CreditedRow>(
    `select id, customer_id, subscription_id, subscription_customer_id, test_clock_id, invoice_status, payment_status, currency, total,
       amount_paid, adjustment_amount, refunded_amount, paid_at, purchase_id, version
     from invoice where environment_id = $1 and id = $2 and status = 'published' for update`,
    [tx.scope.environmentId, invoiceId],
  );
  if (!row) throw missing('invoice', invoiceId, 'invoice_id');
  return row;
}

export function creditableOf(row: CreditedRow): CreditableInvoice {
  return {
    invoiceStatus: row.invoice_status,
    paymentStatus: row.payment_status,
    currency: row.currency,
    total: decimalText(row.total),
    amountPaid: decimalText(row.amount_paid),
    adjustmentAmount: decimalText(row.adjustment_amount),
    refundedAmount: decimalText(row.refunded_amount),
  };
}

/**
 * Refuses what would settle a purchase of credits without its money: adjustments of its invoice. Throws `invalid_operation`.
 * design: money-in-wallets finding 5
 */
export function refuseAdjustedPurchase(invoice: CreditedRow, type: string): void {
  if (invoice.purchase_id === null || type !== 'ADJUSTMENT') return;
  throw refuse('invalid_operation', `invoice ${invoice.id} bills credits and cannot be adjusted; void it instead`, {
    invoice_id: invoice.id,
  });
}

/** The follow-up of a note that left its invoice alone. */
export function nothingFollows(invoice: CreditedRow, at: string): InvoiceFollowUp {
  return {
    invoiceId: invoice.id,
    subscriptionId: invoice.subscription_id,
    customerId: invoice.customer_id,
    testClockId: invoice.test_clock_id,
    at,
    invoiceChanged: false,
    invoiceWaits: false,
    refundIds: [],
  };
}

/**
 * What a finalized note does to its locked invoice: an adjustment lowers what is due, a refund is counted and its refunds are
 * planned, in one transaction. Throws `invalid_operation` for a refund of money that is disputed. spec: subscriptions-and-invoicing §2.19, README decision 8
 */
export async function applyNote(
  tx: Transaction,
  invoice: CreditedRow,
  note: Effect,
  processing: { target: RefundTarget; refundableGateways: readonly string[] },
  at: string,
): Promise<InvoiceFollowUp> {
  const type = note.creditNoteType as 'ADJUSTMENT' | 'REFUND';
  if (type === 'REFUND') await refuseDisputed(tx, { invoiceId: invoice.id });
  const target = invoice.purchase_id === null ? processing.target : 'BACK_TO_SOURCE';
  const after = applyCreditNote(creditableOf(invoice), type, note.totalAmount);
  const invoiceWaits = await changeInvoice(tx, invoice, after, { at, action: 'credited', noteId: note.id });
  const refundIds =
    type === 'REFUND'
      ? await openRefunds(tx, {
          of: { invoiceId: invoice.id },
          customerId: invoice.customer_id,
          testClockId: invoice.test_clock_id,
          creditNoteId: note.id,
          amount: note.totalAmount,
          currency: invoice.currency,
          reason: refundReasonOf(note.reason),
          ...processing,
          target,
          at,
        })
      : [];
  if (type === 'REFUND' && invoice.purchase_id !== null) {
    await takeBackPurchase(tx, tx.scope, {
      purchaseId: invoice.purchase_id,
      amount: note.totalAmount,
      paid: decimalText(invoice.amount_paid),
      key: note.id,
      description: `Refund of purchased credits, credit note ${note.id}`,
      refusesBeyondLot: true,
    });
  }
  return { ...nothingFollows(invoice, at), invoiceChanged: true, invoiceWaits, refundIds };
}

/** Takes a voided adjustment back from its locked invoice, which may be collected again. */
export async function reverseNote(
  tx: Transaction,
  invoice: CreditedRow,
  note: Effect,
  at: string,
): Promise<InvoiceFollowUp> {
  const after = reverseAdjustment(creditableOf(invoice), note.totalAmount);
  const invoiceWaits = await changeInvoice(tx, invoice, after, { at, action: 'credit voided', noteId: note.id });
  return { ...nothingFollows(invoice, at), invoiceChanged: true, invoiceWaits };
}

async function changeInvoice(
  tx: Transaction,
  invoice: CreditedRow,
  after: CreditedInvoice,
  change: { at: string; action: string; noteId: string },
): Promise<boolean> {
  const isPaid = after.paymentStatus !== 'PENDING' && after.paymentStatus !== invoice.payment_status;
  const becamePaid = isPaid && after.paymentStatus === 'SUCCEEDED';
  const paidAt = becamePaid
    ? (invoice.paid_at ?? change.at)
    : after.paymentStatus === 'PENDING'
      ? null
      : invoice.paid_at;
  await tx.rows(
    `update invoice set adjustment_amount = $3, amount_due = $4, amount_remaining = $5, overpaid_amount = $6, refunded_amount = $7,
       payment_status = $8, paid_at = $9, version = version + 1, updated_at = $10, updated_by = $11
     where environment_id = $1 and id = $2`,
    [
      tx.scope.environmentId,
      invoice.id,
      after.adjustmentAmount,
      after.amountDue,
      after.amountRemaining,
      after.overpaidAmount,
      after.refundedAmount,
      after.paymentStatus,
      paidAt,
      new Date().toISOString(),
      tx.scope.actor,
    ],
  );
  const moved = after.paymentStatus !== invoice.payment_status;
  const names = moved ? (['invoice.update', 'invoice.update.payment'] as const) : (['invoice.update'] as const);
  await writeEvents(tx, tx.scope, invoiceEvents(names, invoice.id, change.at));
  await writeAudit(tx, tx.scope, [
    {
      objectType: 'invoice',
      objectId: invoice.id,
      action: change.action,
      version: invoice.version + 1,
      occurredAt: change.at,
      detail: { credit_note_id: change.noteId, payment_status: after.paymentStatus },
    },
  ]);
  const { agenda } = await refreshInvoiceAgenda(tx, tx.scope, invoice.id);
  await refreshIncomplete(tx, tx.scope.environmentId, [
    { invoicePaid: becamePaid, subscriptionId: invoice.subscription_id },
  ]);
  return agenda.length > 0;
}
