import { refuse } from '../../billing/refusal.ts';
import type { ScopedSql } from '../../db/transaction.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { insertPayment } from './payment-insert.ts';
import {
  invoiceAsDestination,
  type PayableInvoiceRow,
  type PaymentRow,
  paymentAudit,
  paymentColumns,
  paymentEvent,
} from './payment-row.ts';

/** A payment that its payer makes on a page. */
export interface LinkPayment {
  id: string;
  provider: string;
  /** Null while its page is not opened. */
  sessionId: string | null;
  invoice: PayableInvoiceRow;
  amount: string;
  /** The customer's present. */
  at: string;
  idempotencyKey?: string;
  metadata?: Record<string, string>;
  /** The saved method that is charged before the page is opened. */
  methodId?: string | null;
}

/** Writes a payment by link, INITIATED. */
export async function insertLinkPayment(tx: ScopedSql, link: LinkPayment): Promise<void> {
  const { id, provider, sessionId, invoice, amount, at } = link;
  const payment = await insertPayment(tx, {
    id,
    idempotencyKey: link.idempotencyKey ?? `${sessionId}/1`,
    destination: invoiceAsDestination(invoice),
    paymentMethodType: 'PAYMENT_LINK',
    paymentMethodId: link.methodId ?? null,
    paymentGateway: provider,
    amount,
    paymentStatus: 'INITIATED',
    attended: false,
    isChargedAlready: true,
    metadata: link.metadata ?? {},
    ...(sessionId === null ? {} : { checkoutSessionId: sessionId }),
  });
  await writeEvents(tx, tx.scope, [paymentEvent('payment.created', payment, invoice.invoice_number, at)]);
  const detail = { invoice_id: invoice.id, ...(sessionId === null ? {} : { checkout_session_id: sessionId }) };
  await writeAudit(tx, tx.scope, [paymentAudit(payment, 'created', at, detail)]);
}

/** Gives a payment that was made without a page its session. Refuses (invalid_operation) one that has been processed. */
export async function adoptPayment(
  tx: ScopedSql,
  { paymentId, sessionId, at }: { paymentId: string; sessionId: string; at: string },
): Promise<void> {
  const [row] = await tx.rows<PaymentRow & { [column: string]: unknown }>(
    `update payment set checkout_session_id = $3, error_message = null, version = version + 1, updated_at = $4, updated_by = $5
     where environment_id = $1 and id = $2 and payment_status = 'INITIATED' and checkout_session_id is null returning ${paymentColumns}`,
    [tx.scope.environmentId, paymentId, sessionId, new Date().toISOString(), tx.scope.actor],
  );
  if (!row) throw refuse('invalid_operation', `payment ${paymentId} is not INITIATED any more; it has been processed`);
  await writeAudit(tx, tx.scope, [paymentAudit(row, 'page ordered', at, { checkout_session_id: sessionId })]);
}
