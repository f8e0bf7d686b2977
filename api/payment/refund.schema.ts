import { z } from 'zod';
import type { Refund } from '../../db/entities/payment/refund.ts';
import type { RefundFilters } from '../../services/refund/refund-list.ts';
import { listOf, listQuery } from '../list.ts';
import {
  decimalInput,
  decimalOutput,
  idListQuery,
  metadataOutput,
  recordOutput,
  timestampOutput,
  viewRecord,
} from '../scalars.schema.ts';

export const refundTarget = z.enum(['PREPAID_WALLET', 'BACK_TO_SOURCE']);
export const refundStatus = z.enum(['PENDING', 'PROCESSING', 'SUCCEEDED', 'FAILED', 'CANCELLED']);
const refundReason = z.enum([
  'DUPLICATE',
  'FRAUDULENT',
  'REQUESTED_BY_CUSTOMER',
  'ORDER_CHANGE',
  'SERVICE_ISSUE',
  'OTHER',
]);
const refundDestination = z.enum(['GATEWAY', 'WALLET', 'OUT_OF_BAND']);
const id = z.string().min(1).max(255);

/** Both chapters' filters: one id, or several. */
export const refundListQuery = listQuery({
  refund_ids: idListQuery().optional(),
  invoice_id: id.optional(),
  invoice_ids: idListQuery().optional(),
  payment_id: id.optional(),
  payment_ids: idListQuery().optional(),
  credit_note_id: id.optional(),
  credit_note_ids: idListQuery().optional(),
  customer_id: id.optional(),
  refund_status: idListQuery().optional(),
  refund_reason: refundReason.optional(),
  payment_gateway: id.optional(),
});

export const retryRefundBody = z
  .looseObject({ refund_target: refundTarget.nullish().describe('Default PREPAID_WALLET.') })
  .nullish();

export const refundPaymentBody = z
  .object({
    amount: decimalInput({ above: '0' }).nullish().describe('Default: all that can still be given back.'),
    refund_reason: refundReason.nullish().describe('Default REQUESTED_BY_CUSTOMER.'),
  })
  .nullish()
  .meta({ examples: [{ amount: '20', refund_reason: 'REQUESTED_BY_CUSTOMER' }] });

export const refund = z
  .object({
    ...recordOutput,
    payment_id: z.string().nullable(),
    invoice_id: z.string().nullable().describe('null for money of a payment that paid no invoice.'),
    credit_note_id: z.string().nullable(),
    customer_id: z.string(),
    payment_gateway: z.string().nullable(),
    gateway_refund_id: z.string().nullable(),
    gateway_tracking_id: z.string().nullable(),
    amount: decimalOutput(),
    settled_amount: decimalOutput().nullable(),
    currency: z.string(),
    refund_status: refundStatus,
    refund_reason: refundReason,
    refund_target: refundTarget,
    refund_destination: refundDestination,
    attempt: z.int().describe('How many times it has failed.'),
    idempotency_key: z.string(),
    failure_reason: z.string().nullable(),
    initiated_at: timestampOutput().nullable(),
    succeeded_at: timestampOutput().nullable(),
    failed_at: timestampOutput().nullable(),
    cancelled_at: timestampOutput().nullable(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'Refund' });

export const refundList = listOf(refund, 'ListRefundsResponse');

export function refundFiltersOf(query: z.output<typeof refundListQuery>): RefundFilters {
  return {
    ids: query.refund_ids,
    paymentIds: query.payment_id ? [query.payment_id] : query.payment_ids,
    invoiceIds: query.invoice_id ? [query.invoice_id] : query.invoice_ids,
    creditNoteIds: query.credit_note_id ? [query.credit_note_id] : query.credit_note_ids,
    customerId: query.customer_id,
    statuses: query.refund_status,
    reason: query.refund_reason,
    paymentGateway: query.payment_gateway,
  };
}

export function viewRefund(row: Refund): z.output<typeof refund> {
  return {
    ...viewRecord(row),
    payment_id: row.paymentId ?? null,
    invoice_id: row.invoiceId ?? null,
    credit_note_id: row.creditNoteId ?? null,
    customer_id: row.customerId,
    payment_gateway: row.paymentGateway ?? null,
    gateway_refund_id: row.gatewayRefundId ?? null,
    gateway_tracking_id: row.gatewayTrackingId ?? null,
    amount: row.amount,
    settled_amount: row.settledAmount ?? null,
    currency: row.currency,
    refund_status: row.refundStatus as z.output<typeof refundStatus>,
    refund_reason: row.refundReason as z.output<typeof refundReason>,
    refund_target: row.refundTarget as z.output<typeof refundTarget>,
    refund_destination: row.refundDestination as z.output<typeof refundDestination>,
    attempt: row.attempt,
    idempotency_key: row.idempotencyKey,
    failure_reason: row.failureReason ?? null,
    initiated_at: row.initiatedAt ?? null,
    succeeded_at: row.succeededAt ?? null,
    failed_at: row.failedAt ?? null,
    cancelled_at: row.cancelledAt ?? null,
    metadata: row.metadata,
  };
}
