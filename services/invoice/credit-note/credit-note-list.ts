import { combinedRefundStatus, type RefundStatus } from '../../../billing/payment/refund.ts';
import { Customer } from '../../../db/entities/customer/customer.ts';
import { CreditNote } from '../../../db/entities/invoice/credit-note.ts';
import { CreditNoteLineItem } from '../../../db/entities/invoice/credit-note-line-item.ts';
import { Refund } from '../../../db/entities/payment/refund.ts';
import { anyOf, type ListDefinition, type ListPage, type ListQuery, listPage } from '../../../db/list.ts';
import { missing } from '../../../db/rows/record.ts';
import type { Transaction } from '../../../db/transaction.ts';
import { findInvoices, type InvoiceContent } from '../read/invoice-read.ts';

/** A credit note as it is shown. */
export interface CreditNoteContent {
  row: CreditNote;
  lines: CreditNoteLineItem[];
  /** How its refunds stand together; null without any. */
  refundStatus: RefundStatus | null;
  customer: Customer | null;
  invoice: InvoiceContent | null;
}

/** What is read beside the rows of credit notes. */
export interface CreditNoteParts {
  customer: boolean;
  invoice: boolean;
}

const notes: ListDefinition<CreditNote> = {
  entity: CreditNote,
  columns: {
    credit_note_number: 'string',
    credit_note_status: 'string',
    credit_note_type: 'string',
    invoice_id: 'string',
    customer_id: 'string',
    subscription_id: 'string',
    reason: 'string',
    currency: 'string',
    total_amount: 'decimal',
    finalized_at: 'date',
    voided_at: 'date',
  },
};

export interface CreditNoteFilters {
  ids?: readonly string[] | undefined;
  statuses?: readonly string[] | undefined;
  type?: string | undefined;
  invoiceId?: string | undefined;
  customerId?: string | undefined;
  subscriptionId?: string | undefined;
}

/** One credit note with its lines. Throws `not_found`. spec: subscriptions-and-invoicing §1.12 */
export async function findCreditNote(tx: Transaction, id: string, parts: CreditNoteParts): Promise<CreditNoteContent> {
  const row = await tx.em.findOne(CreditNote, { id, environmentId: tx.scope.environmentId, status: 'published' });
  const [found] = await withContent(tx, row ? [row] : [], parts);
  if (!found) throw missing('credit note', id);
  return found;
}

/** One page of credit notes with their lines, in a fixed number of statements. spec: subscriptions-and-invoicing §1.12 */
export async function listCreditNotes(
  tx: Transaction,
  query: ListQuery,
  filters: CreditNoteFilters,
  parts: CreditNoteParts,
): Promise<ListPage<CreditNoteContent>> {
  const page = await listPage(tx, notes, query, {
    ...anyOf('id', filters.ids),
    ...anyOf('creditNoteStatus', filters.statuses),
    ...(filters.type ? { creditNoteType: filters.type } : {}),
    ...(filters.invoiceId ? { invoiceId: filters.invoiceId } : {}),
    ...(filters.customerId ? { customerId: filters.customerId } : {}),
    ...(filters.subscriptionId ? { subscriptionId: filters.subscriptionId } : {}),
  });
  return { ...page, rows: await withContent(tx, page.rows, parts) };
}

async function withContent(
  tx: Transaction,
  rows: readonly CreditNote[],
  parts: CreditNoteParts,
): Promise<CreditNoteContent[]> {
  if (rows.length === 0) return [];
  const { environmentId } = tx.scope;
  const ofNotes = { environmentId, creditNoteId: { $in: rows.map((row) => row.id) } };
  const lines = await tx.em.find(CreditNoteLineItem, ofNotes, { orderBy: { creditNoteId: 'asc', position: 'asc' } });
  const refunds = await tx.em.find(Refund, ofNotes, { fields: ['id', 'creditNoteId', 'refundStatus', 'metadata'] });
  const customerIds = parts.customer ? rows.map((row) => row.customerId) : [];
  const customers = await tx.em.find(Customer, { environmentId, id: { $in: customerIds } });
  const invoiceIds = parts.invoice ? rows.map((row) => row.invoiceId) : [];
  const invoices = await findInvoices(tx, [...new Set(invoiceIds)], { lines: true, customer: false });
  const linesOf = Map.groupBy(lines, (line) => line.creditNoteId);
  const refundsOf = Map.groupBy(
    refunds.filter((refund) => refund.metadata.replaced_by === undefined),
    (refund) => refund.creditNoteId,
  );
  return rows.map((row) => ({
    row,
    lines: linesOf.get(row.id) ?? [],
    refundStatus: combinedRefundStatus(
      (refundsOf.get(row.id) ?? []).map((refund) => refund.refundStatus as RefundStatus),
    ),
    customer: customers.find((customer) => customer.id === row.customerId) ?? null,
    invoice: invoices.find((invoice) => invoice.row.id === row.invoiceId) ?? null,
  }));
}
