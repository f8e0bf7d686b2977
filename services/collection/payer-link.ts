import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';
import { insertLinkPayment } from './checkout-payment.ts';
import {
  type PayableInvoiceRow,
  type PaymentRow,
  type PaymentTransaction,
  paymentAudit,
  paymentColumns,
  paymentEvent,
} from './payment-row.ts';

/** An amount that its payer is asked for on a page, at the gateway that keeps the payer's method. */
export interface AskedPayer {
  paymentId: string;
  invoice: PayableInvoiceRow;
  gateway: string;
  amount: string;
  /** The customer's present. */
  at: string;
}

/** Key of the one payment that the payer of an invoice is asked for instead of a charge. */
export function payerLinkKey(invoiceId: string): string {
  return `${invoiceId}/payer`;
}

/** Condition of payments `p` of an invoice `i` whose page its workflow is to open. */
export const isUnopenedPayerLink = `p.idempotency_key = i.id || '/payer' and p.payment_status = 'INITIATED' and p.status = 'published'
  and p.checkout_session_id is null and p.error_message is null`;

/**
 * Writes a payment by link, INITIATED, for each invoice whose payer was never asked before; the workflow of the invoice opens its page. One
 * link an invoice, ever: its address is good as long as the invoice can be paid. design: money-in-checkout §A9, §B10
 */
export async function askPayers(tx: PaymentTransaction, asked: readonly AskedPayer[]): Promise<void> {
  if (asked.length === 0) return;
  const before = await tx.rows<{ destination_id: string }>(
    'select destination_id from payment where environment_id = $1 and destination_id = any($2) and idempotency_key = any($3)',
    [
      tx.scope.environmentId,
      asked.map(({ invoice }) => invoice.id),
      asked.map(({ invoice }) => payerLinkKey(invoice.id)),
    ],
  );
  const isAsked = new Set(before.map((row) => row.destination_id));
  for (const { paymentId: id, invoice, gateway: provider, amount, at } of asked) {
    if (isAsked.has(invoice.id)) continue;
    isAsked.add(invoice.id);
    const idempotencyKey = payerLinkKey(invoice.id);
    await insertLinkPayment(tx, { id, provider, sessionId: null, invoice, amount, at, idempotencyKey });
  }
}

/** A payment whose page is to be opened. */
export interface PayerLink {
  invoiceId: string;
  provider: string;
  amount: string;
  /** The session of its page, where it has one already. */
  sessionId: string | null;
  testClockId: string | null;
}

/** Reads a payment whose page is to be opened; null for one that was deleted. */
export async function payerLink(tx: PaymentTransaction, paymentId: string): Promise<PayerLink | null> {
  const [row] = await tx.rows<PayerLink & { [column: string]: unknown }>(
    `select destination_id as "invoiceId", payment_gateway as provider, trim_scale(amount)::text as amount, checkout_session_id as "sessionId",
       test_clock_id as "testClockId"
     from payment where environment_id = $1 and id = $2 and status = 'published'`,
    [tx.scope.environmentId, paymentId],
  );
  return row ?? null;
}

/** Notes at a payment why its page was not opened; a person opens it by processing the payment. spec: wallets-and-payments §2.19 process */
export async function noteUnopenedPage(
  tx: PaymentTransaction,
  { paymentId, reason, at }: { paymentId: string; reason: string; at: string },
): Promise<void> {
  const [noted] = await tx.rows<PaymentRow & { [column: string]: unknown }>(
    `update payment set error_message = $3, version = version + 1, updated_at = $4, updated_by = $5
     where environment_id = $1 and id = $2 and payment_status = 'INITIATED' and checkout_session_id is null returning ${paymentColumns}`,
    [tx.scope.environmentId, paymentId, reason, new Date().toISOString(), tx.scope.actor],
  );
  if (!noted) return;
  await writeEvents(tx, tx.scope, [paymentEvent('payment.updated', noted, null, at)]);
  await writeAudit(tx, tx.scope, [paymentAudit(noted, 'page not opened', at, { reason })]);
}
