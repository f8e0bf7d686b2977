import type { PaymentRow, PaymentTransaction, PaymentWithInvoice } from '../collection/payment-row.ts';
import { voidInvoice } from '../invoice/issue/invoice-void.ts';
import { attemptOfPayment, noteDecline, noteLateCapture, noteNeededAction } from '../topup/auto-topup-end.ts';
import type { OutcomeToRecord } from './outcome-to-record.ts';

/**
 * Notes at its attempt that money of an automatic top-up came after its gateway had declined it; the money itself goes back as of any
 * payment. design: money-in-wallets finding 33
 */
export async function noteLateTopUp(tx: PaymentTransaction, payment: PaymentRow): Promise<void> {
  const attempt = await attemptOfPayment(tx, tx.scope, payment.id);
  if (attempt) await noteLateCapture(tx, tx.scope, attempt.id);
}

/**
 * A declined automatic top-up: its invoice is voided and its purchase fails with it, in this transaction. One that a person had given up
 * loses its invoice now, and one whose payer has to confirm keeps it for a day. README decision 25
 */
export async function endDeclinedTopUp(
  tx: PaymentTransaction,
  { payment, invoice, outcome, at }: PaymentWithInvoice & Pick<OutcomeToRecord, 'outcome' | 'at'>,
): Promise<void> {
  const attempt = await attemptOfPayment(tx, tx.scope, payment.id);
  if (!attempt) return;
  const decline = { reason: outcome.reason, declineClass: outcome.declineClass ?? null };
  const isOpen = invoice?.invoice_status === 'FINALIZED' && attempt.outcome === null;
  if (isOpen && decline.declineClass === 'authenticate' && !attempt.is_lapsing) {
    return noteNeededAction(tx, tx.scope, attempt, decline, at);
  }
  await noteDecline(tx, tx.scope, attempt.id, decline);
  if (invoice?.invoice_status !== 'FINALIZED') return;
  await voidInvoice(tx, tx.scope, { invoiceId: invoice.id, at, metadata: null });
}
