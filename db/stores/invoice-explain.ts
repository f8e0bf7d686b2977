import { AuditEntry } from '../entities/audit-entry.ts';
import { Invoice } from '../entities/invoice.ts';
import { InvoiceLineItem } from '../entities/invoice-line-item.ts';
import { Payment } from '../entities/payment.ts';
import { PaymentAttempt } from '../entities/payment-attempt.ts';
import { missing } from '../record.ts';
import type { Transaction } from '../transaction.ts';

/** Everything that is stored about how an invoice came to be what it is. */
export interface InvoiceEvidence {
  row: Invoice;
  /** With their derivations. */
  lines: InvoiceLineItem[];
  payments: { row: Payment; attempts: PaymentAttempt[] }[];
  /** Audit rows of the invoice and its payments, oldest first, at most 1 000. */
  history: AuditEntry[];
}

const maxHistory = 1_000;

/** Reads the evidence of an invoice; nothing is computed again. Throws `not_found`. design: architecture §7 */
export async function readInvoiceEvidence(tx: Transaction, id: string): Promise<InvoiceEvidence> {
  const { environmentId } = tx.scope;
  const row = await tx.em.findOne(Invoice, { id, environmentId });
  if (!row) throw missing('invoice', id);
  const lines = await tx.em.find(
    InvoiceLineItem,
    { environmentId, invoiceId: id, status: 'published' },
    { orderBy: { position: 'asc' } },
  );
  const payments = await tx.em.find(
    Payment,
    { environmentId, destinationType: 'INVOICE', destinationId: id, status: 'published' },
    { orderBy: { createdAt: 'asc', id: 'asc' } },
  );
  const paymentIds = payments.map((payment) => payment.id);
  const attempts = await tx.em.find(
    PaymentAttempt,
    { environmentId, paymentId: { $in: paymentIds } },
    { orderBy: { attemptNumber: 'asc' } },
  );
  const history = await tx.em.find(
    AuditEntry,
    { environmentId, objectId: { $in: [id, ...paymentIds] } },
    { orderBy: { id: 'asc' }, limit: maxHistory },
  );
  const byPayment = Map.groupBy(attempts, (attempt) => attempt.paymentId);
  return {
    row,
    lines,
    payments: payments.map((payment) => ({ row: payment, attempts: byPayment.get(payment.id) ?? [] })),
    history,
  };
}
