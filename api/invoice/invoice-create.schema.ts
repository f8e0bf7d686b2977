import { z } from 'zod';
import type { NewInvoice } from '../../billing/invoice/invoice-request.ts';
import { badField } from '../../db/rows/record.ts';
import { checkoutInput } from '../payment/checkout.schema.ts';
import { currencyInput, decimalInput, metadataInput, timestampInput } from '../scalars.schema.ts';
import { billingReason, invoicePaymentStatus, invoiceType } from './invoice.schema.ts';
import { lineItemsInput, newInvoiceLines } from './invoice-line-input.schema.ts';
import { couponsOf, invoiceTermsInput, taxesOf } from './invoice-terms-input.schema.ts';

const id = z.string().min(1).max(255);

export const createInvoiceBody = z
  .object({
    customer_id: id,
    subscription_id: id.nullish(),
    currency: currencyInput(),
    subtotal: decimalInput(),
    total: decimalInput(),
    amount_due: decimalInput(),
    amount_paid: decimalInput({ min: '0' }).nullish(),
    line_items: lineItemsInput.nullish(),
    invoice_type: invoiceType.nullish(),
    billing_reason: billingReason.nullish(),
    billing_period: z.string().min(1).max(50).nullish(),
    period_start: timestampInput().nullish(),
    period_end: timestampInput().nullish(),
    issue_date: timestampInput().nullish(),
    due_date: timestampInput().nullish(),
    idempotency_key: z.string().min(1).max(255).nullish(),
    invoice_number: z.string().trim().min(1).max(255).nullish(),
    invoice_status: z.literal('DRAFT', 'must be DRAFT or absent').nullish(),
    payment_status: invoicePaymentStatus.nullish(),
    collection_method: z
      .enum(['charge_automatically', 'send_invoice'])
      .nullish()
      .describe("Own: the subscription's, else charge_automatically."),
    ...invoiceTermsInput,
    total_prepaid_applied: decimalInput({ min: '0' }).nullish(),
    invoice_pdf_url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).nullish(),
    description: z.string().max(10_000).nullish(),
    metadata: metadataInput().nullish(),
    force_sync_invoice: z
      .boolean()
      .nullish()
      .describe('Sent to connected providers when it is final; none is connected.'),
    checkout: checkoutInput.nullish().describe('The invoice waits for its payment page, and is final once it is paid.'),
  })
  .meta({
    examples: [
      {
        customer_id: 'cust_01JCXYZ',
        currency: 'usd',
        subtotal: '120',
        total: '120',
        amount_due: '120',
        line_items: [{ display_name: 'Onboarding', quantity: '2', amount: '120' }],
      },
    ],
  });

type Body = z.output<typeof createInvoiceBody>;

/** Members that say how an invoice is paid or numbered, which its session does. design: money-in-checkout §A10 */
const notWithCheckout = [
  'invoice_number',
  'amount_paid',
  'invoice_pdf_url',
  'payment_status',
  'subscription_id',
] as const;

/**
 * The creation as its store takes it. Throws `validation_error` for what does not go with a checkout.
 * spec: subscriptions-and-invoicing §1.11.1
 */
export function newInvoiceOf(body: Body, idempotencyKey: string | null): NewInvoice {
  if (body.checkout) {
    const field = notWithCheckout.find((name) => body[name] && body[name] !== '0');
    if (field) throw badField(field, 'must be absent together with checkout, which pays and numbers the invoice');
    if (body.invoice_type && body.invoice_type !== 'ONE_OFF') {
      throw badField('invoice_type', 'must be ONE_OFF or absent together with checkout');
    }
  }
  return {
    customerId: body.customer_id,
    subscriptionId: body.subscription_id ?? null,
    currency: body.currency,
    subtotal: body.subtotal,
    total: body.total,
    amountDue: body.amount_due,
    amountPaid: body.amount_paid ?? '0',
    lines: newInvoiceLines(body.line_items ?? []),
    invoiceType: body.invoice_type ?? null,
    billingReason: body.billing_reason ?? 'MANUAL',
    billingPeriod: body.billing_period ?? null,
    periodStart: body.period_start ?? null,
    periodEnd: body.period_end ?? null,
    issueDate: body.issue_date ?? null,
    dueDate: body.due_date ?? null,
    idempotencyKey: body.idempotency_key ?? idempotencyKey,
    invoiceNumber: body.invoice_number ?? null,
    staysDraft: body.invoice_status === 'DRAFT',
    paymentStatus: body.payment_status ?? null,
    collectionMethod: body.collection_method ?? null,
    coupons: couponsOf(body),
    taxes: taxesOf(body),
    totalPrepaidApplied: body.total_prepaid_applied ?? '0',
    invoicePdfUrl: body.invoice_pdf_url ?? null,
    description: body.description ?? '',
    metadata: body.metadata ?? {},
  };
}
