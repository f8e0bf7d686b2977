import { z } from 'zod';
import type { InvoicePreview, PreviewRequest } from '../../services/across/invoice-preview.ts';
import type { DraftInvoice } from '../../services/invoice/draft/invoice-draft.ts';
import type { InvoiceContent } from '../../services/invoice/read/invoice-read.ts';
import { type DecimalFormat, formatted } from '../decimal-format.ts';
import { previewDigestOutput, repeatedDigestInput } from '../preview-digest.schema.ts';
import { formattedOutput, timestampInput } from '../scalars.schema.ts';
import { couponApplication } from './coupon.schema.ts';
import { invoice, viewInvoice } from './invoice.schema.ts';
import { appliedTax } from './tax.schema.ts';

export const previewInvoiceBody = z
  .object({
    subscription_id: z.string().min(1).max(255),
    period_start: timestampInput().nullish(),
    period_end: timestampInput().nullish(),
    hide_zero_charges_line_items: z.boolean().nullish(),
    preview_digest: repeatedDigestInput,
  })
  .meta({ examples: [{ subscription_id: 'subs_01JCXYZ', hide_zero_charges_line_items: true }] });

export function previewRequestOf(body: z.output<typeof previewInvoiceBody>): PreviewRequest {
  return {
    subscriptionId: body.subscription_id,
    periodStart: body.period_start ?? null,
    periodEnd: body.period_end ?? null,
    hideZeroCharges: body.hide_zero_charges_line_items ?? false,
  };
}

const number = formattedOutput();
const lineNumbers = {
  quantity: number,
  amount: number,
  line_item_discount: number,
  invoice_level_discount: number,
  prepaid_credits_applied: number,
};
const invoiceNumbers = {
  subtotal: number,
  total_discount: number,
  total_tax: number,
  total_prepaid_credits_applied: number,
  total: number,
  adjustment_amount: number,
  amount_due: number,
  amount_paid: number,
  amount_remaining: number,
  overpaid_amount: number,
  refunded_amount: number,
};

const taxNumbers = { taxable_amount: number, tax_amount: number };
const summaryNumbers = { total_inclusive_tax: number, total_exclusive_tax: number, total_tax: number };

const previewLine = invoice.shape.line_items.element
  .extend({
    ...lineNumbers,
    id: z.null(),
    invoice_id: z.null(),
    adjusted_entitlement_quantity: number.nullable(),
    price_unit_amount: number.nullable(),
  })
  .meta({ id: 'InvoicePreviewLineItem' });

const previewTax = appliedTax
  .extend({ ...taxNumbers, id: z.null(), entity_id: z.null(), idempotency_key: z.null() })
  .meta({ id: 'InvoicePreviewTax' });
const couponNumbers = { original_price: number, discounted_amount: number, final_price: number };
const previewCoupon = couponApplication
  .extend({
    ...couponNumbers,
    id: z.null(),
    invoice_id: z.null(),
    invoice_line_item_id: z.null(),
    discount_percentage: number.nullable(),
  })
  .meta({ id: 'InvoicePreviewCouponApplication' });
const previewTaxSummary = invoice.shape.tax_summary.extend(summaryNumbers);

/** An invoice that is not stored: without id and number, every decimal in the environment's format. spec: §2.15.13 */
export const invoicePreview = invoice
  .extend({
    ...invoiceNumbers,
    id: z.null(),
    line_items: z.array(previewLine),
    coupon_applications: z.array(previewCoupon),
    taxes: z.array(previewTax),
    tax_summary: previewTaxSummary,
    preview_digest: previewDigestOutput,
  })
  .meta({ id: 'InvoicePreview' });

export function viewInvoicePreview(
  { draft, previewDigest }: InvoicePreview,
  format: DecimalFormat,
): z.output<typeof invoicePreview> {
  const { line_items, taxes, tax_summary, coupon_applications, ...view } = viewInvoice(contentOf(draft));
  return {
    ...view,
    ...numbersOf(invoiceNumbers, view, format),
    id: null,
    preview_digest: previewDigest,
    idempotency_key: null,
    billing_sequence: null,
    coupon_applications: coupon_applications.map((application) => ({
      ...application,
      ...numbersOf(couponNumbers, application, format),
      id: null,
      invoice_id: null,
      invoice_line_item_id: null,
      discount_percentage: formatted(format, application.discount_percentage),
    })),
    taxes: taxes.map((tax) => ({
      ...tax,
      ...numbersOf(taxNumbers, tax, format),
      id: null,
      entity_id: null,
      idempotency_key: null,
    })),
    tax_summary: { ...tax_summary, ...numbersOf(summaryNumbers, tax_summary, format) },
    line_items: line_items.map((line) => ({
      ...line,
      ...numbersOf(lineNumbers, line, format),
      id: null,
      invoice_id: null,
      price_unit_amount: formatted(format, line.price_unit_amount),
      adjusted_entitlement_quantity: formatted(format, line.adjusted_entitlement_quantity),
    })),
  };
}

function numbersOf<Numbers extends Record<string, unknown>>(
  numbers: Numbers,
  view: Readonly<Record<keyof Numbers & string, string>>,
  format: DecimalFormat,
): Record<keyof Numbers, RawJson | string> {
  const names = Object.keys(numbers) as (keyof Numbers & string)[];
  return Object.fromEntries(names.map((name) => [name, format(view[name])])) as Record<keyof Numbers, RawJson | string>;
}

/** The draft as the rows it would be: what a row has by default stands beside what was computed. */
function contentOf({ row, lines, applied }: DraftInvoice): InvoiceContent {
  const defaults = {
    status: 'published',
    adjustmentAmount: '0',
    amountPaid: '0',
    overpaidAmount: '0',
    refundedAmount: '0',
    description: '',
    isManuallyEdited: false,
    sourceType: '',
    version: 1,
  };
  return {
    row: { ...defaults, ...row } as unknown as InvoiceContent['row'],
    lines: lines.map((line) => ({ status: 'published', ...line })) as unknown as InvoiceContent['lines'],
    taxes: applied.taxes.map((tax) => ({ status: 'published', ...tax })) as unknown as InvoiceContent['taxes'],
    coupons: applied.coupons.map((row) => ({ status: 'published', ...row })) as unknown as InvoiceContent['coupons'],
    customer: null,
  };
}
