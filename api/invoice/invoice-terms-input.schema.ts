import { z } from 'zod';
import type { NewInvoiceCoupon, NewInvoiceTax } from '../../billing/invoice/invoice-request.ts';
import { defaultTaxPriority } from '../../services/customer/tax-link.ts';
import { currencyInput, decimalInput, metadataInput } from '../scalars.schema.ts';

const id = z.string().min(1).max(255);
const most = 100;
const percentage = decimalInput({ above: '0' }).refine((text) => /^(100|\d{1,2}(\.\d+)?)$/.test(text), {
  message: 'must be above 0 and at most 100',
});
const taxPercentage = decimalInput({ min: '0' }).refine((text) => /^(100|\d{1,2}(\.\d+)?)$/.test(text), {
  message: 'must be from 0 to 100',
});
const taxBehavior = z.enum(['inclusive', 'exclusive']);

const couponValue = {
  coupon_id: id,
  coupon_association_id: id.nullish(),
  amount_off: decimalInput({ above: '0' }).nullish(),
  percentage_off: percentage.nullish(),
};

/** Coupons and taxes that an invoice itself is given. spec: subscriptions-and-invoicing §1.11.1 */
export const invoiceTermsInput = {
  coupons: z.array(id).max(most).nullish().describe('Ids of coupons on the whole invoice.'),
  invoice_coupons: z.array(z.object(couponValue)).max(most).nullish(),
  line_item_coupons: z
    .array(
      z.object({
        ...couponValue,
        line_item_id: id.describe('The price_id of a line, or its metadata key line_item_id.'),
        subscription_line_item_id: z
          .string()
          .max(255)
          .nullish()
          .describe('Of several lines that line_item_id names the one that charges this item of a subscription.'),
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

interface CouponValue {
  coupon_id: string;
  subscription_line_item_id?: string | null | undefined;
  coupon_association_id?: string | null | undefined;
  amount_off?: string | null | undefined;
  percentage_off?: string | null | undefined;
}

const termsShape = z.object(invoiceTermsInput);
type Terms = z.output<typeof termsShape>;

/** The coupons of a request as their store takes them, those on the whole invoice first. */
export function couponsOf(body: Pick<Terms, 'coupons' | 'invoice_coupons' | 'line_item_coupons'>): NewInvoiceCoupon[] {
  const couponOf = (coupon: CouponValue, line: string | null, field: string): NewInvoiceCoupon => ({
    couponId: coupon.coupon_id,
    couponAssociationId: coupon.coupon_association_id ?? null,
    amountOff: coupon.amount_off ?? null,
    percentageOff: coupon.amount_off ? null : (coupon.percentage_off ?? null),
    line,
    subscriptionLineItemId: coupon.subscription_line_item_id || null,
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
export function taxesOf(body: Pick<Terms, 'prepared_tax_rates' | 'tax_rate_overrides' | 'tax_rates'>): NewInvoiceTax[] {
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
