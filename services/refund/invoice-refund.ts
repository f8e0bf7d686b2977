import { invoicePayment } from '../../billing/invoice/invoice-payment.ts';
import { decimal, decimalString } from '../../billing/money/money.ts';
import type { ScopedSql } from '../../db/transaction.ts';
import { invoiceEvents } from '../collection/invoice-event.ts';
import { writeAudit } from '../platform/audit.ts';
import { writeEvents } from '../platform/outbox.ts';

/** A locked invoice of which money is given back; decimals as strings. */
export interface RefundedInvoice {
  id: string;
  amountDue: string;
  amountPaid: string;
  refundedAmount: string;
  version: number;
}

/** Counts money as given back on a locked invoice, whose payment status follows. spec: subscriptions-and-invoicing §2.15.12 */
export async function countRefund(
  tx: ScopedSql,
  invoice: RefundedInvoice,
  { amount, at, detail }: { amount: string; at: string; detail: Record<string, string> },
): Promise<void> {
  const { environmentId, actor } = tx.scope;
  const refunded = decimalString(decimal(invoice.refundedAmount).plus(amount));
  const { paymentStatus } = invoicePayment(invoice.amountDue, invoice.amountPaid, refunded);
  await tx.rows(
    `update invoice set refunded_amount = $3, payment_status = $4, version = version + 1, updated_at = $5, updated_by = $6
     where environment_id = $1 and id = $2`,
    [environmentId, invoice.id, refunded, paymentStatus, new Date().toISOString(), actor],
  );
  await writeEvents(tx, tx.scope, invoiceEvents(['invoice.update', 'invoice.update.payment'], invoice.id, at));
  await writeAudit(tx, tx.scope, [
    {
      objectType: 'invoice',
      objectId: invoice.id,
      action: 'refunded',
      version: invoice.version + 1,
      occurredAt: at,
      detail: { ...detail, payment_status: paymentStatus },
    },
  ]);
}
