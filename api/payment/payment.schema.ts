import { z } from 'zod';
import { paymentStatuses } from '../../billing/payment/payment.ts';
import type { PaymentWithAttempts } from '../../services/payment/payment-list.ts';
import { listOf, listQuery } from '../list.ts';
import {
  currencyInput,
  decimalInput,
  decimalOutput,
  idListQuery,
  metadataInput,
  metadataOutput,
  timestampInput,
  timestampOutput,
} from '../scalars.schema.ts';
import { returnUrl } from './checkout.schema.ts';

const destinationType = z.enum(['INVOICE', 'CUSTOMER']);
const methodType = z.enum(['CARD', 'ACH', 'OFFLINE', 'CREDITS', 'PAYMENT_LINK', 'UPI']);
const paymentStatus = z.enum(paymentStatuses);
const id = z.string().min(1).max(255);

export const createPaymentBody = z
  .object({
    destination_type: destinationType,
    destination_id: id,
    payment_method_type: methodType,
    payment_method_id: z.string().max(255).nullish(),
    payment_gateway: z.string().max(50).nullish(),
    amount: decimalInput({ above: '0' }),
    currency: currencyInput(),
    process_payment: z.boolean().nullish(),
    save_card_and_make_default: z.boolean().nullish(),
    gateway_options: z
      .object({
        stripe: z
          .unknown()
          .optional()
          .refine((options) => options === undefined || options === null, {
            message: 'cannot be chosen: payment links of stripe are opened without options',
          }),
      })
      .nullish(),
    success_url: returnUrl.nullish(),
    cancel_url: returnUrl.nullish(),
    metadata: metadataInput().nullish(),
    idempotency_key: z.string().max(255).nullish(),
  })
  .meta({
    examples: [
      {
        destination_type: 'INVOICE',
        destination_id: 'inv_01JCXYZ',
        payment_method_type: 'OFFLINE',
        amount: '40',
        currency: 'usd',
      },
    ],
  });

const notByHand = (name: string) =>
  z
    .unknown()
    .optional()
    .refine((value) => value === undefined || value === null, { message: `is set by the ${name} itself` });

export const updatePaymentBody = z
  .object({
    payment_status: paymentStatus.nullish(),
    payment_method_id: z.string().min(1).max(255).nullish(),
    gateway_payment_id: z.string().min(1).max(255).nullish(),
    payment_gateway: notByHand('payment method'),
    error_message: z.string().max(1000).nullish(),
    succeeded_at: timestampInput().nullish(),
    failed_at: timestampInput().nullish(),
    refunded_at: notByHand('refund'),
    voided_at: notByHand('void'),
    metadata: metadataInput().nullish(),
  })
  .meta({ examples: [{ metadata: { slip: '7' } }] });

const text = () => z.string().min(1).max(255).optional();

export const paymentListQuery = listQuery({
  payment_ids: idListQuery().optional(),
  destination_type: destinationType.optional(),
  destination_id: text(),
  payment_method_type: methodType.optional(),
  payment_status: paymentStatus.optional(),
  payment_gateway: text(),
  currency: currencyInput().optional(),
  gateway_payment_id: text(),
  gateway_tracking_id: text(),
});

export const playPayerBody = z
  .object({ action: z.enum(['confirm', 'fail']) })
  .meta({ examples: [{ action: 'confirm' }] });

const attempt = z
  .object({
    id: z.string(),
    payment_id: z.string(),
    attempt_number: z.int(),
    payment_status: z.string(),
    gateway_attempt_id: z.string().nullable(),
    error_message: z.string().nullable(),
    metadata: metadataOutput(),
    tenant_id: z.string(),
    created_at: timestampOutput(),
    created_by: z.string(),
    updated_at: timestampOutput(),
    updated_by: z.string(),
  })
  .meta({ id: 'PaymentAttempt' });

const dispute = z
  .object({
    id: z.string(),
    gateway_dispute_id: z.string(),
    dispute_status: z.enum(['open', 'won', 'lost']),
    amount: decimalOutput(),
    currency: z.string(),
    reason: z.string().nullable(),
    opened_at: timestampOutput(),
    evidence_due_at: timestampOutput().nullable(),
    closed_at: timestampOutput().nullable(),
    refund_id: z.string().nullable(),
  })
  .meta({ id: 'PaymentDispute' });

export const payment = z
  .object({
    id: z.string(),
    idempotency_key: z.string(),
    destination_type: destinationType,
    destination_id: z.string(),
    payment_method_type: methodType,
    payment_method_id: z.string().nullable(),
    payment_gateway: z.string().nullable(),
    gateway_payment_id: z.string().nullable(),
    gateway_tracking_id: z.string().nullable(),
    gateway_metadata: metadataOutput(),
    amount: decimalOutput(),
    currency: z.string(),
    payment_status: paymentStatus,
    track_attempts: z.boolean(),
    payment_url: z.string().nullable(),
    metadata: metadataOutput(),
    succeeded_at: timestampOutput().nullable(),
    failed_at: timestampOutput().nullable(),
    refunded_at: timestampOutput().nullable(),
    voided_at: timestampOutput().nullable(),
    error_message: z.string().nullable(),
    attempts: z.array(attempt),
    disputes: z.array(dispute),
    invoice_number: z.string().nullable(),
    save_card_and_make_default: z.boolean(),
    tenant_id: z.string(),
    environment_id: z.string(),
    status: z.string(),
    created_at: timestampOutput(),
    created_by: z.string(),
    updated_at: timestampOutput(),
    updated_by: z.string(),
  })
  .meta({ id: 'Payment' });

export const paymentList = listOf(payment, 'ListPaymentsResponse');
export const paymentMessage = z.object({ message: z.string() }).meta({ id: 'PaymentMessage' });

export function viewPayment({ row, attempts, disputes, invoiceNumber }: PaymentWithAttempts): z.output<typeof payment> {
  return {
    id: row.id,
    idempotency_key: row.idempotencyKey,
    destination_type: row.destinationType as z.output<typeof destinationType>,
    destination_id: row.destinationId,
    payment_method_type: row.paymentMethodType as z.output<typeof methodType>,
    payment_method_id: row.paymentMethodId ?? null,
    payment_gateway: row.paymentGateway ?? null,
    gateway_payment_id: row.gatewayPaymentId ?? null,
    gateway_tracking_id: row.gatewayTrackingId ?? null,
    gateway_metadata: row.gatewayMetadata,
    amount: row.amount,
    currency: row.currency,
    payment_status: row.paymentStatus as z.output<typeof paymentStatus>,
    track_attempts: row.trackAttempts,
    payment_url: row.paymentUrl ?? null,
    metadata: row.metadata,
    succeeded_at: row.succeededAt ?? null,
    failed_at: row.failedAt ?? null,
    refunded_at: row.refundedAt ?? null,
    voided_at: row.voidedAt ?? null,
    error_message: row.errorMessage ?? null,
    attempts: attempts.map(viewAttempt),
    disputes: disputes.map(viewDispute),
    invoice_number: invoiceNumber,
    save_card_and_make_default: false,
    tenant_id: row.tenantId,
    environment_id: row.environmentId,
    status: row.status,
    created_at: row.createdAt,
    created_by: row.createdBy,
    updated_at: row.updatedAt,
    updated_by: row.updatedBy,
  };
}

function viewAttempt(row: PaymentWithAttempts['attempts'][number]): z.output<typeof attempt> {
  return {
    id: row.id,
    payment_id: row.paymentId,
    attempt_number: row.attemptNumber,
    payment_status: row.paymentStatus,
    gateway_attempt_id: row.gatewayAttemptId ?? null,
    error_message: row.errorMessage ?? null,
    metadata: row.metadata,
    tenant_id: row.tenantId,
    created_at: row.createdAt,
    created_by: row.createdBy,
    updated_at: row.updatedAt,
    updated_by: row.updatedBy,
  };
}

function viewDispute(row: PaymentWithAttempts['disputes'][number]): z.output<typeof dispute> {
  return {
    id: row.id,
    gateway_dispute_id: row.gatewayDisputeId,
    dispute_status: row.disputeStatus as z.output<typeof dispute>['dispute_status'],
    amount: row.amount,
    currency: row.currency,
    reason: row.reason ?? null,
    opened_at: row.openedAt,
    evidence_due_at: row.evidenceDueAt ?? null,
    closed_at: row.closedAt ?? null,
    refund_id: row.refundId ?? null,
  };
}

/** What the store is asked for, without what only the route knows. */
export function paymentRequestOf(body: z.output<typeof createPaymentBody>, idempotencyKey: string | null) {
  return {
    destinationType: body.destination_type,
    destinationId: body.destination_id,
    paymentMethodType: body.payment_method_type,
    paymentMethodId: body.payment_method_id || null,
    paymentGateway: body.payment_gateway || null,
    amount: body.amount,
    currency: body.currency,
    processPayment: body.process_payment ?? true,
    idempotencyKey: body.idempotency_key || idempotencyKey,
    metadata: body.metadata ?? {},
  };
}

/** A change as the store takes it; null says nothing. */
export function paymentChangeOf(body: z.output<typeof updatePaymentBody>) {
  return {
    paymentStatus: body.payment_status ?? undefined,
    paymentMethodId: body.payment_method_id ?? undefined,
    gatewayPaymentId: body.gateway_payment_id ?? undefined,
    errorMessage: body.error_message ?? undefined,
    succeededAt: body.succeeded_at ?? undefined,
    failedAt: body.failed_at ?? undefined,
    metadata: body.metadata ?? undefined,
  };
}

/** The filters of a list; payments of customers are shown only when asked for. spec: wallets-and-payments §0 Lenient input */
export function paymentFiltersOf(
  query: Omit<z.output<typeof paymentListQuery>, 'payment_ids'>,
): Record<string, string> {
  const filters = {
    destinationType: query.destination_type ?? 'INVOICE',
    destinationId: query.destination_id,
    paymentMethodType: query.payment_method_type,
    paymentStatus: query.payment_status,
    paymentGateway: query.payment_gateway,
    currency: query.currency,
    gatewayPaymentId: query.gateway_payment_id,
    gatewayTrackingId: query.gateway_tracking_id,
  };
  return Object.fromEntries(
    Object.entries(filters).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
