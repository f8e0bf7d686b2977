import { Refund } from '../../db/entities/payment/refund.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../db/list.ts';
import { missing } from '../../db/rows/record.ts';
import type { Transaction } from '../../db/transaction.ts';

const refunds: ListDefinition<Refund> = {
  entity: Refund,
  columns: {
    payment_id: 'string',
    invoice_id: 'string',
    credit_note_id: 'string',
    customer_id: 'string',
    payment_gateway: 'string',
    gateway_refund_id: 'string',
    refund_status: 'string',
    refund_reason: 'string',
    refund_target: 'string',
    refund_destination: 'string',
    amount: 'decimal',
    currency: 'string',
    initiated_at: 'date',
    succeeded_at: 'date',
    failed_at: 'date',
  },
};

export interface RefundFilters {
  ids?: readonly string[] | undefined;
  paymentIds?: readonly string[] | undefined;
  invoiceIds?: readonly string[] | undefined;
  creditNoteIds?: readonly string[] | undefined;
  customerId?: string | undefined;
  statuses?: readonly string[] | undefined;
  reason?: string | undefined;
  paymentGateway?: string | undefined;
}

/** One refund. Throws `not_found`. spec: wallets-and-payments §1.6 */
export async function findRefund(tx: Transaction, id: string): Promise<Refund> {
  const row = await tx.em.findOne(Refund, { id, environmentId: tx.scope.environmentId, status: 'published' });
  if (!row) throw missing('refund', id);
  return row;
}

/** One page of refunds. spec: wallets-and-payments §1.6, subscriptions-and-invoicing §1.12 */
export function listRefunds(tx: Transaction, query: ListQuery, filters: RefundFilters): Promise<ListPage<Refund>> {
  return listPage(tx, refunds, query, {
    ...anyOf('id', filters.ids),
    ...anyOf('paymentId', filters.paymentIds),
    ...anyOf('invoiceId', filters.invoiceIds),
    ...anyOf('creditNoteId', filters.creditNoteIds),
    ...anyOf('refundStatus', filters.statuses),
    ...(filters.customerId ? { customerId: filters.customerId } : {}),
    ...(filters.reason ? { refundReason: filters.reason } : {}),
    ...(filters.paymentGateway ? { paymentGateway: filters.paymentGateway } : {}),
  });
}
