import { decimal } from '../../../billing/money/money.ts';
import { refuse } from '../../../billing/refusal.ts';
import { decimalText } from '../../../db/rows/columns.ts';
import { badField, missing } from '../../../db/rows/record.ts';
import type { Scope } from '../../../db/scope.ts';
import type { ScopedSql, Sql } from '../../../db/transaction.ts';
import { refuseBesideCharge } from '../../collection/payment.ts';
import { lockPayableInvoice, type PayableInvoiceRow } from '../../collection/payment-row.ts';
import { refuseGatedInvoice } from '../../invoice/issue/invoice-gate.ts';
import { cartKey } from './cart-key.ts';
import { type CheckoutRequest, findMade, insertCheckout, refuseRunning } from './checkout-insert.ts';
import type { CheckoutOwner } from './checkout-owner.ts';

/** A page on which a final invoice is paid. */
export interface PaymentLinkOrder {
  invoiceId: string;
  /** Part of what remains; null for all of it. */
  amount: string | null;
  paymentId: string;
  /** Key and metadata of the payment, where its caller gave any. */
  payment?: { idempotencyKey: string; metadata: Record<string, string> };
  /** The payment is there already, INITIATED. */
  isAdopted?: boolean;
  /** Its customer's clock, and the customer's present. */
  owner: Pick<CheckoutOwner, 'testClockId' | 'at'>;
}

/**
 * Drafts a session that pays what remains of a final invoice, or a part. One may be open for an invoice at a time. Done again with the same
 * session it changes nothing. Throws `not_found`; `invalid_operation` for an invoice that is not to be paid, and while a charge of it is
 * under way; `already_exists` while another session is open; `validation_error` for more than remains.
 * spec: wallets-and-payments §2.19; design: money-in-checkout §A9
 */
export async function draftPaymentLink(
  tx: ScopedSql,
  request: CheckoutRequest,
  order: PaymentLinkOrder,
): Promise<void> {
  if (await findMade(tx, request.sessionId)) return;
  const { invoiceId, owner } = order;
  const invoice = await payableByLink(tx, invoiceId);
  const remaining = decimalText(invoice.amount_remaining);
  const amount = order.amount ?? remaining;
  if (decimal(amount).greaterThan(remaining)) {
    throw badField('amount', `must not exceed ${remaining}, what remains of the invoice`);
  }
  const configuration = { pay_invoice_params: { invoice_id: invoiceId } };
  const key = request.idempotencyKey ?? cartKey(invoice.customer_id, 'pay_invoice', configuration);
  await refuseRunning(tx, request, { key, invoiceId });
  const subject = {
    ...owner,
    customerId: invoice.customer_id,
    action: 'pay_invoice' as const,
    configuration,
    invoiceId,
    amount,
    currency: invoice.currency,
    ...(order.payment ? { payment: order.payment } : {}),
    isAdopted: order.isAdopted ?? false,
  };
  await insertCheckout(tx, request, subject, order.paymentId);
}

/** Locks an invoice that a page may pay. Throws as `draftPaymentLink`. */
export async function payableByLink(tx: ScopedSql, invoiceId: string): Promise<PayableInvoiceRow> {
  const invoice = await lockPayableInvoice(tx, tx.scope.environmentId, invoiceId);
  if (!invoice) throw missing('invoice', invoiceId, 'invoice_id');
  await refuseGatedInvoice(tx, tx.scope, invoiceId, 'paid');
  const isPayable = invoice.invoice_status === 'FINALIZED' && decimalText(invoice.amount_remaining) !== '0';
  if (!isPayable) {
    const problem =
      invoice.invoice_status === 'FINALIZED' ? 'is paid already' : `is ${invoice.invoice_status}, not payable`;
    throw refuse('invalid_operation', `invoice ${invoiceId} ${problem}`, { invoice_id: invoiceId });
  }
  await refuseBesideCharge(tx, invoiceId);
  return invoice;
}

/** Sessions of an invoice that a command has ended and whose links nobody has closed yet. */
export async function linksToClose(sql: Sql, scope: Scope, invoiceId: string): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `select id from checkout_session where environment_id = $1 and checkout_invoice_id = $2 and failure_reason = 'superseded'
       and link_state = 'open' and asked_at is null`,
    [scope.environmentId, invoiceId],
  );
  return rows.map(({ id }) => id);
}
