import { z } from 'zod';
import type { NewInvoice, NewInvoiceCoupon, NewInvoiceLine, NewInvoiceTax } from '../../billing/invoice-request.ts';
import { badField } from '../../db/record.ts';
import { defaultTaxPriority } from '../../db/stores/invoice/tax-link.ts';
import { checkoutInput } from './checkout.ts';
import { billingReason, invoicePaymentStatus, invoiceType } from './invoice.ts';
import { currencyInput, decimalInput, metadataInput, timestampInput } from './scalars.ts';

const id = z.string().min(1).max(255);
const name = z.string().max(255);
const most = 100;
const percentage = decimalInput({ above: '0' }).refine((text) => /^(100|\d{1,2}(\.\d+)?)$/.test(text), {
  message: 'must be above 0 and at most 100',
});
const taxPercentage = decimalInput({ min: '0' }).refine((text) => /^(100|\d{1,2}(\.\d+)?)$/.test(text), {
  message: 'must be from 0 to 100',
});
const taxBehavior = z.enum(['inclusive', 'exclusive']);

const lineItem = z.object({
  amount: decimalInput(),
  quantity: decimalInput({ min: '0' }),
  display_name: name.nullish(),
  price_type: z.enum(['FIXED', 'USAGE']).nullish(),
  price_id: id.nullish(),
  price_unit: name.nullish(),
  price_unit_amount: decimalInput().nullish(),
  entity_type: name.nullish(),
  entity_id: id.nullish(),
  plan_id: id.nullish(),
  plan_display_name: name.nullish(),
  meter_id: id.nullish(),
  meter_display_name: name.nullish(),
  subscription_line_item_id: id.nullish(),
  adjusted_entitlement_quantity: decimalInput().nullish(),
  period_start: timestampInput().nullish(),
  period_end: timestampInput().nullish(),
  metadata: metadataInput().nullish(),
});

const couponValue = {
  coupon_id: id,
  coupon_association_id: id.nullish(),
  amount_off: decimalInput({ above: '0' }).nullish(),
  percentage_off: percentage.nullish(),
};

const taxFields = {
  coupons: z.array(id).max(most).nullish().describe('Ids of coupons on the whole invoice.'),
  invoice_coupons: z.array(z.object(couponValue)).max(most).nullish(),
  line_item_coupons: z
    .array(
      z.object({
        ...couponValue,
        line_item_id: id.describe('The price_id of a line, or its metadata key line_item_id.'),
      }),
    )
    .max(most)
    .nullish(),
  prepared_tax_rates: z
    .array(z.looseObject({ id, percentage_value: taxPercentage.nullish(), tax_behavior: taxBehavior.nullish() }))
    .max(most)
    .nullish()
    .describe('Used before tax_rate_overrides and tax_rates.'),
  tax_rate_overrides: z
    .array(
      z.object({
        tax_rate_code: z.string().trim().min(1).max(255),
        currency: currencyInput(),
        auto_apply: z.boolean().nullish(),
        priority: z.int().min(0).max(1_000_000_000).nullish(),
        tax_behavior: taxBehavior.nullish(),
        metadata: metadataInput().nullish(),
      }),
    )
    .max(most)
    .nullish()
    .describe('Used before tax_rates.'),
  tax_rates: z.array(id).max(most).nullish().describe('Ids of the tax rates to charge.'),
};

export const createInvoiceBody = z
  .object({
    customer_id: id,
    subscription_id: id.nullish(),
    currency: currencyInput(),
    subtotal: decimalInput(),
    total: decimalInput(),
    amount_due: decimalInput(),
    amount_paid: decimalInput({ min: '0' }).nullish(),
    line_items: z.array(lineItem).max(1000).nullish(),
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
    ...taxFields,
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
    lines: (body.line_items ?? []).map(lineOf),
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

function lineOf(line: z.output<typeof lineItem>): NewInvoiceLine {
  return {
    displayName: line.display_name ?? null,
    amount: line.amount,
    quantity: line.quantity,
    priceType: line.price_type ?? null,
    priceId: line.price_id ?? null,
    priceUnit: line.price_unit ?? null,
    priceUnitAmount: line.price_unit_amount ?? null,
    entityType: line.entity_type ?? null,
    entityId: line.entity_id ?? null,
    planId: line.plan_id ?? null,
    planDisplayName: line.plan_display_name ?? null,
    meterId: line.meter_id ?? null,
    meterDisplayName: line.meter_display_name ?? null,
    subscriptionLineItemId: line.subscription_line_item_id ?? null,
    adjustedEntitlementQuantity: line.adjusted_entitlement_quantity ?? null,
    periodStart: line.period_start ?? null,
    periodEnd: line.period_end ?? null,
    metadata: line.metadata ?? {},
  };
}

interface CouponValue {
  coupon_id: string;
  coupon_association_id?: string | null | undefined;
  amount_off?: string | null | undefined;
  percentage_off?: string | null | undefined;
}

function couponsOf(body: Body): NewInvoiceCoupon[] {
  const couponOf = (coupon: CouponValue, line: string | null, field: string): NewInvoiceCoupon => ({
    couponId: coupon.coupon_id,
    couponAssociationId: coupon.coupon_association_id ?? null,
    amountOff: coupon.amount_off ?? null,
    percentageOff: coupon.amount_off ? null : (coupon.percentage_off ?? null),
    line,
    field,
  });
  return [
    ...(body.coupons ?? []).map((coupon_id, index) => couponOf({ coupon_id }, null, `coupons[${index}]`)),
    ...(body.invoice_coupons ?? []).map((coupon, index) => couponOf(coupon, null, `invoice_coupons[${index}]`)),
    ...(body.line_item_coupons ?? []).map((coupon, index) =>
      couponOf(coupon, coupon.line_item_id, `line_item_coupons[${index}]`),
    ),
  ];
}

/** Prepared rates, else overrides, else ids. spec: subscriptions-and-invoicing §2.18.1 ONE_OFF */
function taxesOf(body: Body): NewInvoiceTax[] {
  const plain = { code: null, percentage: null, taxBehavior: null, priority: defaultTaxPriority, currency: null };
  const { prepared_tax_rates: prepared, tax_rate_overrides: overrides, tax_rates: ids } = body;
  if (prepared && prepared.length > 0) {
    return prepared.map((rate, index) => ({
      ...plain,
      rateId: rate.id,
      percentage: rate.percentage_value ?? null,
      taxBehavior: rate.tax_behavior ?? null,
      field: `prepared_tax_rates[${index}]`,
    }));
  }
  if (overrides && overrides.length > 0) {
    const named = overrides.map((override, index) => ({ override, field: `tax_rate_overrides[${index}]` }));
    return named
      .filter(({ override }) => override.auto_apply !== false)
      .map(({ override, field }) => ({
        ...plain,
        rateId: null,
        code: override.tax_rate_code,
        taxBehavior: override.tax_behavior ?? null,
        priority: override.priority ?? defaultTaxPriority,
        currency: override.currency,
        field,
      }));
  }
  return (ids ?? []).map((rateId, index) => ({ ...plain, rateId, field: `tax_rates[${index}]` }));
}
