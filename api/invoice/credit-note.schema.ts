import { z } from 'zod';
import type { CreditNoteLineItem } from '../../db/entities/invoice/credit-note-line-item.ts';
import type { NewCreditNote, Processing } from '../../services/invoice/credit-note/credit-note.ts';
import type { CreditNoteContent, CreditNoteFilters } from '../../services/invoice/credit-note/credit-note-list.ts';
import { customer, viewCustomer } from '../customer/customer.schema.ts';
import { listOf, listQuery } from '../list.ts';
import { refundStatus, refundTarget } from '../payment/refund.schema.ts';
import {
  decimalInput,
  decimalOutput,
  idListQuery,
  metadataInput,
  metadataOutput,
  recordOutput,
  timestampOutput,
  viewRecord,
} from '../scalars.schema.ts';
import { invoice, viewInvoice } from './invoice.schema.ts';

const id = z.string().min(1).max(255);
const reason = z.enum([
  'DUPLICATE',
  'FRAUDULENT',
  'ORDER_CHANGE',
  'UNSATISFACTORY',
  'SERVICE_ISSUE',
  'BILLING_ERROR',
  'SUBSCRIPTION_CANCELLATION',
]);
const noteStatus = z.enum(['DRAFT', 'FINALIZED', 'VOIDED']);
const noteType = z.enum(['ADJUSTMENT', 'REFUND']);
const expandable = ['customer', 'invoice', 'subscription'];

export const createCreditNoteBody = z
  .object({
    invoice_id: id,
    reason,
    line_items: z
      .array(
        z.object({
          invoice_line_item_id: id,
          amount: decimalInput({ above: '0' }),
          display_name: z.string().max(10_000).nullish(),
          metadata: metadataInput().nullish(),
        }),
      )
      .min(1, 'must name at least one line of the invoice')
      .max(1_000),
    credit_note_number: z.string().trim().min(1).max(255).nullish(),
    memo: z.string().max(10_000).nullish(),
    metadata: metadataInput().nullish(),
    idempotency_key: id.nullish(),
    process_credit_note: z.boolean().nullish().describe('false makes a draft. Default true.'),
    refund_target: refundTarget
      .nullish()
      .describe('Where the money of a paid invoice goes. Default PREPAID_WALLET. Not kept on a draft.'),
  })
  .meta({
    examples: [
      {
        invoice_id: 'inv_1',
        reason: 'SERVICE_ISSUE',
        line_items: [{ invoice_line_item_id: 'inv_line_1', amount: '10' }],
      },
    ],
  });

export const finalizeCreditNoteBody = z.object({ refund_target: refundTarget.nullish() }).nullish();

export const creditNoteListQuery = listQuery(
  {
    invoice_id: id.optional(),
    customer_id: id.optional(),
    subscription_id: id.optional(),
    credit_note_ids: idListQuery().optional(),
    credit_note_status: idListQuery().optional(),
    credit_note_type: noteType.optional(),
  },
  expandable,
);

const creditNoteLine = z.object({
  ...recordOutput,
  credit_note_id: z.string(),
  invoice_line_item_id: z.string(),
  display_name: z.string(),
  amount: decimalOutput(),
  currency: z.string(),
  metadata: metadataOutput(),
});

export const creditNote = z
  .object({
    ...recordOutput,
    credit_note_number: z.string(),
    idempotency_key: z.string(),
    customer_id: z.string(),
    customer: customer.nullable(),
    invoice_id: z.string(),
    invoice: invoice.nullable(),
    subscription_id: z.string().nullable(),
    subscription_customer_id: z.string().nullable(),
    subscription: z.unknown().nullable().describe('The subscription as GET /subscriptions/{id} shows it.'),
    credit_note_status: noteStatus,
    credit_note_type: noteType,
    reason,
    refund_status: refundStatus.nullable().describe('How its refunds stand together; null when there are none.'),
    currency: z.string(),
    memo: z.string(),
    total_amount: decimalOutput(),
    finalized_at: timestampOutput().nullable(),
    voided_at: timestampOutput().nullable(),
    metadata: metadataOutput(),
    line_items: z.array(creditNoteLine),
  })
  .meta({ id: 'CreditNote' });

export const creditNoteList = listOf(creditNote, 'ListCreditNotesResponse');

export function newCreditNote(
  body: z.output<typeof createCreditNoteBody>,
  given: { id: string; idempotencyKey: string | null },
): NewCreditNote {
  return {
    id: given.id,
    invoiceId: body.invoice_id,
    reason: body.reason,
    lines: body.line_items.map((line) => ({
      invoiceLineItemId: line.invoice_line_item_id,
      amount: line.amount,
      displayName: line.display_name ?? undefined,
      metadata: line.metadata ?? undefined,
    })),
    creditNoteNumber: body.credit_note_number ?? undefined,
    memo: body.memo ?? undefined,
    metadata: body.metadata ?? undefined,
    idempotencyKey: body.idempotency_key ?? given.idempotencyKey ?? undefined,
  };
}

/** How a note is to be carried out. */
export function processingOf(
  body: { refund_target?: Processing['target'] | null | undefined } | null | undefined,
  refundableGateways: readonly string[],
): Processing {
  return { target: body?.refund_target ?? 'PREPAID_WALLET', refundableGateways };
}

export function creditNoteFiltersOf(query: z.output<typeof creditNoteListQuery>): CreditNoteFilters {
  return {
    ids: query.credit_note_ids,
    statuses: query.credit_note_status,
    type: query.credit_note_type,
    invoiceId: query.invoice_id,
    customerId: query.customer_id,
    subscriptionId: query.subscription_id,
  };
}

export function viewCreditNote(content: CreditNoteContent, subscription: unknown = null): z.output<typeof creditNote> {
  const { row } = content;
  return {
    ...viewRecord(row),
    credit_note_number: row.creditNoteNumber,
    idempotency_key: row.idempotencyKey,
    customer_id: row.customerId,
    customer: content.customer ? viewCustomer(content.customer) : null,
    invoice_id: row.invoiceId,
    invoice: content.invoice ? viewInvoice(content.invoice) : null,
    subscription_id: row.subscriptionId ?? null,
    subscription_customer_id: row.subscriptionCustomerId ?? null,
    subscription,
    credit_note_status: row.creditNoteStatus as z.output<typeof noteStatus>,
    credit_note_type: row.creditNoteType as z.output<typeof noteType>,
    reason: row.reason as z.output<typeof reason>,
    refund_status: content.refundStatus,
    currency: row.currency,
    memo: row.memo,
    total_amount: row.totalAmount,
    finalized_at: row.finalizedAt ?? null,
    voided_at: row.voidedAt ?? null,
    metadata: row.metadata,
    line_items: content.lines.map(viewLine),
  };
}

function viewLine(line: CreditNoteLineItem): z.output<typeof creditNoteLine> {
  return {
    ...viewRecord(line),
    credit_note_id: line.creditNoteId,
    invoice_line_item_id: line.invoiceLineItemId,
    display_name: line.displayName,
    amount: line.amount,
    currency: line.currency,
    metadata: line.metadata,
  };
}
