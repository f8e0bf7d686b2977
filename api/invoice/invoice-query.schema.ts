import { z } from 'zod';
import type { InvoiceChange } from '../../services/invoice/edit/invoice-update.ts';
import type { InvoiceFilters } from '../../services/invoice/read/invoice-filters.ts';
import type { InvoiceParts } from '../../services/invoice/read/invoice-read.ts';
import { expandInput, listQuery, searchBody } from '../list.ts';
import {
  booleanQuery,
  currencyInput,
  decimalInput,
  idListInput,
  idListQuery,
  metadataInput,
  timestampInput,
} from '../scalars.schema.ts';
import { billingReason, invoicePaymentStatus, invoiceStatus, invoiceType } from './invoice.schema.ts';
import { usageGroups } from './invoice-usage.schema.ts';

const expandable = ['customer', 'subscription'];
const id = z.string().max(255);
const manyOf = <Values extends Readonly<Record<string, string>>>(values: z.ZodEnum<Values>) =>
  z.array(values).max(50, 'must hold at most 50 values');

/** Several values of a query string: a repeated key or a comma-separated value. */
const manyInQuery = <Values extends Readonly<Record<string, string>>>(values: z.ZodEnum<Values>) =>
  z.preprocess((value) => (typeof value === 'string' ? value.split(',') : value), manyOf(values));

/** Filters of one value, which a query string and a body spell alike. */
const scalarFilters = {
  customer_id: id.nullish(),
  external_customer_id: id.nullish(),
  subscription_id: id.nullish(),
  invoice_type: invoiceType.nullish(),
  billing_reason: billingReason.nullish(),
  currency: currencyInput().nullish(),
  amount_due_gt: decimalInput().nullish(),
  amount_remaining_gt: decimalInput().nullish(),
  period_start_gte: timestampInput().nullish(),
  period_start_lte: timestampInput().nullish(),
  period_end_gte: timestampInput().nullish(),
  period_end_lte: timestampInput().nullish(),
};

export const invoiceListQuery = listQuery(
  {
    invoice_ids: idListQuery().optional(),
    subscription_customer_id: idListQuery().optional(),
    invoice_status: manyInQuery(invoiceStatus).optional(),
    payment_status: manyInQuery(invoicePaymentStatus).optional(),
    skip_line_items: booleanQuery().optional(),
    ...scalarFilters,
  },
  expandable,
);

export const invoiceSearchBody = searchBody(
  {
    invoice_ids: idListInput().nullish(),
    subscription_customer_id: idListInput().nullish(),
    invoice_status: manyOf(invoiceStatus).nullish(),
    payment_status: manyOf(invoicePaymentStatus).nullish(),
    skip_line_items: z.boolean().nullish(),
    ...scalarFilters,
  },
  expandable,
);

type Filters = z.output<typeof invoiceListQuery> | z.output<typeof invoiceSearchBody>;

export function invoiceFiltersOf(input: Filters): InvoiceFilters {
  return {
    invoiceIds: input?.invoice_ids,
    customerId: input?.customer_id,
    externalCustomerId: input?.external_customer_id,
    subscriptionCustomerIds: input?.subscription_customer_id,
    subscriptionId: input?.subscription_id,
    invoiceType: input?.invoice_type,
    invoiceStatuses: input?.invoice_status,
    paymentStatuses: input?.payment_status,
    billingReason: input?.billing_reason,
    currency: input?.currency,
    amountDueAbove: input?.amount_due_gt,
    amountRemainingAbove: input?.amount_remaining_gt,
    periodStartFrom: input?.period_start_gte,
    periodStartUntil: input?.period_start_lte,
    periodEndFrom: input?.period_end_gte,
    periodEndUntil: input?.period_end_lte,
  };
}

/** What is read beside the invoices of a list. */
export function invoicePartsOf(input: Filters): InvoiceParts & { subscription: boolean } {
  const expand = input?.expand ?? [];
  return {
    lines: input?.skip_line_items !== true,
    customer: expand.includes('customer'),
    subscription: expand.includes('subscription'),
  };
}

export const invoiceQuery = z.object({
  expand: expandInput(expandable).optional(),
  expand_by_source: booleanQuery().optional().describe('true: fills usage_analytics of usage lines.'),
  group_by: usageGroups.optional().describe('Fills usage_breakdown: source, feature_id, meter_id, properties.<name>.'),
});

/** The parts of one invoice. */
export function invoicePartsOfOne(query: z.output<typeof invoiceQuery>): InvoiceParts & { subscription: boolean } {
  return invoicePartsOf({ expand: query.expand });
}

/** How the usage of its lines is taken apart; null for not at all. */
export function usageSplitsOf({ expand_by_source, group_by }: z.output<typeof invoiceQuery>) {
  return {
    bySource: expand_by_source === true ? { groupBy: ['source'] } : null,
    byGroup: group_by !== undefined && group_by.length > 0 ? { groupBy: group_by } : null,
  };
}

const pdfUrl = z.union([z.literal(''), z.url({ protocol: /^https?$/, error: 'must be an http or https address' })]);

export const updateInvoiceBody = z
  .object({
    metadata: metadataInput().nullish(),
    invoice_pdf_url: pdfUrl.nullish(),
    due_date: timestampInput().nullish(),
    apply_discount: z
      .boolean()
      .nullish()
      .describe('Takes the coupons anew; a final invoice is voided and a linked draft answered.'),
  })
  .meta({ examples: [{ due_date: '2026-03-01T00:00:00Z', metadata: { purchase_order: 'PO-17' } }] });

/** The change as the store takes it; coupons are the workflow's. */
export function invoiceChangeOf(body: z.output<typeof updateInvoiceBody>): InvoiceChange {
  return { metadata: body.metadata, invoicePdfUrl: body.invoice_pdf_url, dueDate: body.due_date };
}

export const voidInvoiceBody = z
  .object({ metadata: metadataInput().nullish() })
  .nullish()
  .meta({ examples: [{ metadata: { reason: 'billed twice' } }] });
