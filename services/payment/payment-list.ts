import { Invoice } from '../../db/entities/invoice/invoice.ts';
import { Dispute } from '../../db/entities/payment/dispute.ts';
import { Payment } from '../../db/entities/payment/payment.ts';
import { PaymentAttempt } from '../../db/entities/payment/payment-attempt.ts';
import { type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { missing } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';

/** A payment as it is shown: with its attempts in order, its disputes and its invoice's number. */
export interface PaymentWithAttempts {
  row: Payment;
  attempts: PaymentAttempt[];
  disputes: Dispute[];
  invoiceNumber: string | null;
}

const payments: ListDefinition<Payment> = {
  entity: Payment,
  columns: {
    destination_type: 'string',
    destination_id: 'string',
    payment_method_type: 'string',
    payment_method_id: 'string',
    payment_gateway: 'string',
    gateway_payment_id: 'string',
    gateway_tracking_id: 'string',
    payment_status: 'string',
    amount: 'decimal',
    currency: 'string',
    succeeded_at: 'date',
    failed_at: 'date',
  },
};

/** One payment that is not archived. Throws `not_found`. spec: wallets-and-payments §1.5 */
export async function findPayment(tx: Transaction, id: string): Promise<PaymentWithAttempts> {
  const row = await tx.em.findOne(Payment, { id, environmentId: tx.scope.environmentId, status: 'published' });
  const [found] = await withAttempts(tx, row ? [row] : []);
  if (!found) throw missing('payment', id);
  return found;
}

/** One page of payments with their attempts, in a fixed number of statements. spec: wallets-and-payments §1.5 */
export async function listPayments(
  tx: Transaction,
  query: ListQuery,
  own: Readonly<Record<string, unknown>>,
): Promise<ListPage<PaymentWithAttempts>> {
  const page = await listPage(tx, payments, query, own);
  return { ...page, rows: await withAttempts(tx, page.rows) };
}

async function withAttempts(tx: Transaction, rows: readonly Payment[]): Promise<PaymentWithAttempts[]> {
  if (rows.length === 0) return [];
  const { environmentId } = tx.scope;
  const attempts = await tx.em.find(
    PaymentAttempt,
    { environmentId, paymentId: { $in: rows.map((row) => row.id) } },
    { orderBy: { attemptNumber: 'asc' } },
  );
  const disputes = await tx.em.find(
    Dispute,
    { environmentId, paymentId: { $in: rows.map((row) => row.id) } },
    { orderBy: { openedAt: 'asc', id: 'asc' } },
  );
  const invoices = await tx.em.find(
    Invoice,
    { environmentId, id: { $in: rows.map((row) => row.destinationId) } },
    { fields: ['id', 'invoiceNumber'] },
  );
  const numbers = new Map(invoices.map((invoice) => [invoice.id, invoice.invoiceNumber ?? null]));
  const byPayment = Map.groupBy(attempts, (attempt) => attempt.paymentId);
  const disputesOf = Map.groupBy(disputes, (dispute) => dispute.paymentId);
  return rows.map((row) => ({
    row,
    attempts: byPayment.get(row.id) ?? [],
    disputes: disputesOf.get(row.id) ?? [],
    invoiceNumber: numbers.get(row.destinationId) ?? null,
  }));
}
