import { z } from 'zod';
import { type NoTaxReason, taxTotals } from '../../billing/invoice/tax.ts';
import type { InvoiceContent } from '../../services/invoice/read/invoice-read.ts';
import { customer, viewCustomer } from '../customer/customer.schema.ts';
import { listOf } from '../list.ts';
import { checkoutSession } from '../payment/checkout.schema.ts';
import { decimalOutput, metadataOutput, recordOutput, timestampOutput, viewRecord } from '../scalars.schema.ts';
import { commitmentInfoOutput } from '../subscription/subscription-commitment.schema.ts';
import { couponApplication, viewCouponApplication } from './coupon.schema.ts';
import { type InvoiceUsage, sourceUsage, usageBreakdown, viewLineUsage } from './invoice-usage.schema.ts';
import { appliedTax, viewAppliedTax } from './tax.schema.ts';

export const invoiceStatus = z.enum(['DRAFT', 'FINALIZED', 'VOIDED', 'SKIPPED']);
export const invoiceType = z.enum(['SUBSCRIPTION', 'ONE_OFF', 'CREDIT']);
export const invoicePaymentStatus = z.enum([
  'INITIATED',
  'PENDING',
  'PROCESSING',
  'SUCCEEDED',
  'OVERPAID',
  'FAILED',
  'REFUNDED',
  'PARTIALLY_REFUNDED',
  'VOIDED',
]);
export const billingReason = z.enum([
  'SUBSCRIPTION_CREATE',
  'SUBSCRIPTION_CYCLE',
  'SUBSCRIPTION_UPDATE',
  'SUBSCRIPTION_TRIAL_START',
  'SUBSCRIPTION_TRIAL_END',
  'PRORATION',
  'MANUAL',
  'AUTO_INVOICE_THRESHOLD',
  'WALLET_AUTO_TOPUP',
]);

const instant = () => timestampOutput().nullable();

const lineFields = z.object({
  ...recordOutput,
  invoice_id: z.string(),
  customer_id: z.string(),
  subscription_id: z.string().nullable(),
  subscription_line_item_id: z.string().nullable(),
  parent_line_item_id: z.string().nullable(),
  entity_id: z.string().nullable(),
  entity_type: z.string().nullable(),
  plan_id: z.string().nullable(),
  plan_display_name: z.string().nullable(),
  display_name: z.string(),
  meter_id: z.string().nullable(),
  meter_display_name: z.string().nullable(),
  price_id: z.string().nullable(),
  price_type: z.string().nullable(),
  price_unit: z.string().nullable(),
  price_unit_id: z.string().nullable(),
  price_unit_amount: decimalOutput().nullable(),
  currency: z.string(),
  quantity: decimalOutput(),
  amount: decimalOutput(),
  adjusted_entitlement_quantity: decimalOutput().nullable(),
  line_item_discount: decimalOutput(),
  invoice_level_discount: decimalOutput(),
  prepaid_credits_applied: decimalOutput(),
  period_start: instant(),
  period_end: instant(),
  metadata: metadataOutput(),
  commitment_info: commitmentInfoOutput.nullable(),
  usage_analytics: z.array(sourceUsage).nullable().describe('By source, with expand_by_source.'),
  usage_breakdown: z.array(usageBreakdown).nullable().describe('By group, with group_by.'),
});

const invoiceLine = lineFields.meta({ id: 'InvoiceLineItem' });

const taxSummary = z.object({
  total_inclusive_tax: decimalOutput(),
  total_exclusive_tax: decimalOutput(),
  total_tax: decimalOutput(),
  no_tax_reason: z.enum(['customer_exempt', 'no_tax_rates', 'zero_taxable_amount']).nullable(),
});

const priceUnitTotal = z.object({
  price_unit: z.string(),
  price_unit_id: z.string(),
  conversion_rate: decimalOutput(),
  amount: decimalOutput(),
});

/** An invoice without its lines: what a preview shows too, with numbers in place of decimals. */
const invoiceFields = z.object({
  ...recordOutput,
  invoice_number: z.string().nullable(),
  idempotency_key: z.string().nullable(),
  customer_id: z.string(),
  subscription_id: z.string().nullable(),
  subscription_customer_id: z.string().nullable(),
  customer: customer.nullable(),
  subscription: z.unknown().nullable(),
  invoice_type: invoiceType,
  invoice_status: invoiceStatus,
  payment_status: invoicePaymentStatus,
  billing_reason: billingReason,
  billing_period: z.string().nullable(),
  billing_sequence: z.int().nullable(),
  currency: z.string(),
  price_unit_totals: z
    .array(priceUnitTotal)
    .nullable()
    .describe('Own: what the lines come to in custom currencies, and the rate of each; final when the invoice is.'),
  subtotal: decimalOutput(),
  total_discount: decimalOutput(),
  total_tax: decimalOutput(),
  total_prepaid_credits_applied: decimalOutput(),
  taxed_credits_applied: decimalOutput().describe(
    'Own: the part of them that was taxed when it was bought; taxes are on the rest.',
  ),
  total: decimalOutput(),
  adjustment_amount: decimalOutput(),
  amount_due: decimalOutput(),
  amount_paid: decimalOutput(),
  amount_remaining: decimalOutput(),
  overpaid_amount: decimalOutput(),
  refunded_amount: decimalOutput(),
  description: z.string(),
  period_start: instant(),
  period_end: instant(),
  issue_date: instant(),
  due_date: instant(),
  paid_at: instant(),
  finalized_at: instant(),
  voided_at: instant(),
  last_computed_at: instant(),
  is_manually_edited: z.boolean(),
  recalculated_invoice_id: z.string().nullable(),
  source_type: z.string().nullable(),
  invoice_pdf_url: z.string().nullable(),
  line_items: z.array(invoiceLine),
  coupon_applications: z.array(couponApplication),
  taxes: z.array(appliedTax),
  tax_summary: taxSummary,
  checkout_session: checkoutSession.nullable().describe('Present in the answer that opened it.'),
  metadata: metadataOutput(),
  version: z.int(),
});

/** An invoice with its lines. spec: subscriptions-and-invoicing §1.11.3 */
export const invoice = invoiceFields.meta({ id: 'Invoice' });

export const invoiceList = listOf(invoice, 'ListInvoicesResponse');
export const invoiceMessage = z.object({ message: z.string() }).meta({ id: 'InvoiceMessage' });

/** The wire form of an invoice, every documented key present. `subscription` is its view where it was asked for. */
export function viewInvoice(
  content: InvoiceContent,
  subscription: unknown = null,
  usage: InvoiceUsage | null = null,
): z.output<typeof invoice> {
  const { row } = content;
  return {
    ...viewRecord(row),
    // A number that a caller reserved for a draft is shown once the draft is final.
    invoice_number: row.finalizedAt ? (row.invoiceNumber ?? null) : null,
    idempotency_key: row.idempotencyKey,
    customer_id: row.customerId,
    subscription_id: row.subscriptionId ?? null,
    subscription_customer_id: row.subscriptionCustomerId ?? null,
    customer: content.customer ? viewCustomer(content.customer) : null,
    subscription,
    invoice_type: row.invoiceType as z.output<typeof invoiceType>,
    invoice_status: row.invoiceStatus as z.output<typeof invoiceStatus>,
    payment_status: row.paymentStatus as z.output<typeof invoicePaymentStatus>,
    billing_reason: row.billingReason as z.output<typeof billingReason>,
    billing_period: row.billingPeriod ?? null,
    billing_sequence: row.billingSequence ?? null,
    ...viewAmounts(row),
    description: row.description,
    ...viewDates(row),
    is_manually_edited: row.isManuallyEdited,
    recalculated_invoice_id: row.recalculatedInvoiceId ?? null,
    source_type: row.sourceType || null,
    invoice_pdf_url: row.invoicePdfUrl ?? null,
    line_items: content.lines.map((line) => viewInvoiceLine(line, usage)),
    coupon_applications: content.coupons.map(viewCouponApplication),
    taxes: content.taxes.map(viewAppliedTax),
    tax_summary: viewTaxSummary(content),
    checkout_session: null,
    metadata: row.metadata,
    version: row.version,
  };
}

function viewAmounts(row: InvoiceContent['row']) {
  return {
    currency: row.currency,
    price_unit_totals: row.priceUnitTotals ?? null,
    subtotal: row.subtotal,
    total_discount: row.totalDiscount,
    total_tax: row.totalTax,
    total_prepaid_credits_applied: row.totalPrepaidCreditsApplied,
    taxed_credits_applied: row.taxedCreditsApplied,
    total: row.total,
    adjustment_amount: row.adjustmentAmount,
    amount_due: row.amountDue,
    amount_paid: row.amountPaid,
    amount_remaining: row.amountRemaining,
    overpaid_amount: row.overpaidAmount,
    refunded_amount: row.refundedAmount,
  };
}

function viewDates(row: InvoiceContent['row']) {
  return {
    period_start: row.periodStart ?? null,
    period_end: row.periodEnd ?? null,
    issue_date: row.issueDate ?? null,
    due_date: row.dueDate ?? null,
    paid_at: row.paidAt ?? null,
    finalized_at: row.finalizedAt ?? null,
    voided_at: row.voidedAt ?? null,
    last_computed_at: row.lastComputedAt ?? null,
  };
}

function viewTaxSummary({ row, taxes }: InvoiceContent): z.output<typeof taxSummary> {
  const { inclusive, exclusive } = taxTotals(taxes);
  return {
    total_inclusive_tax: inclusive,
    total_exclusive_tax: exclusive,
    total_tax: row.totalTax,
    no_tax_reason: (row.noTaxReason ?? null) as NoTaxReason | null,
  };
}

function viewInvoiceLine(
  row: InvoiceContent['lines'][number],
  usage: InvoiceUsage | null,
): z.output<typeof invoiceLine> {
  return {
    ...viewRecord(row),
    invoice_id: row.invoiceId,
    customer_id: row.customerId,
    subscription_id: row.subscriptionId ?? null,
    subscription_line_item_id: row.subscriptionLineItemId ?? null,
    parent_line_item_id: null,
    entity_id: row.entityId ?? null,
    entity_type: row.entityType ?? null,
    plan_id: row.planId ?? null,
    plan_display_name: row.planDisplayName ?? null,
    display_name: row.displayName,
    meter_id: row.meterId ?? null,
    meter_display_name: row.meterDisplayName ?? null,
    price_id: row.priceId ?? null,
    price_type: row.priceType ?? null,
    price_unit: row.priceUnit ?? null,
    price_unit_id: row.priceUnitId ?? null,
    price_unit_amount: row.priceUnitAmount ?? null,
    currency: row.currency,
    quantity: row.quantity,
    amount: row.amount,
    adjusted_entitlement_quantity: row.adjustedEntitlementQuantity ?? null,
    line_item_discount: row.lineItemDiscount,
    invoice_level_discount: row.invoiceLevelDiscount,
    prepaid_credits_applied: row.prepaidCreditsApplied,
    period_start: row.periodStart ?? null,
    period_end: row.periodEnd ?? null,
    metadata: row.metadata,
    commitment_info: row.commitmentInfo ?? null,
    ...viewLineUsage(row.id, usage),
  };
}
