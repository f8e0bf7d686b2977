import { z } from 'zod';
import type { Coupon } from '../../db/entities/invoice/coupon.ts';
import type { CouponApplication } from '../../db/entities/invoice/coupon-application.ts';
import type { NewCoupon } from '../../services/invoice/terms/coupon.ts';
import type { CouponAssociationContent } from '../../services/invoice/terms/coupon-association.ts';
import { expandInput, listOf, listQuery, searchBody } from '../list.ts';
import {
  booleanQuery,
  currencyInput,
  decimalInput,
  decimalOutput,
  idListInput,
  idListQuery,
  metadataInput,
  metadataOutput,
  recordOutput,
  timestampInput,
  timestampOutput,
  viewRecord,
} from '../scalars.schema.ts';

const type = z.enum(['fixed', 'percentage']);
const cadence = z.enum(['once', 'repeated', 'forever']);
const name = z.string().trim().min(1).max(255);
const code = z.string().trim().min(1).max(255);
const ids = z.array(z.string().min(1).max(255)).max(1000);

const percentage = decimalInput({ above: '0' }).refine((text) => /^(100|\d{1,2}(\.\d+)?)$/.test(text), {
  message: 'must be above 0 and at most 100',
});
const redemptions = z.int('must be an integer').min(1, 'must be 1 or more').max(1_000_000, 'must be 1000000 at most');

/** Known keys have a shape; whatever else is sent is kept and means nothing. spec: subscriptions-and-invoicing §2.17.4 */
const rulesInput = z.looseObject({
  min_subtotal: decimalInput({ min: '0' }).optional(),
  plan_ids: ids.optional(),
  price_ids: ids.optional(),
  customer_ids: ids.optional(),
});

export const createCouponBody = z
  .object({
    name,
    type,
    cadence,
    coupon_code: code.nullish().describe('Unique in any case of letters; made when left out.'),
    amount_off: decimalInput({ above: '0' }).nullish(),
    percentage_off: percentage.nullish(),
    currency: currencyInput().nullish(),
    duration_in_periods: z.int('must be an integer').min(1, 'must be 1 or more').max(10_000).nullish(),
    max_redemptions: redemptions.nullish(),
    redeem_after: timestampInput().nullish(),
    redeem_before: timestampInput().nullish(),
    rules: rulesInput.nullish(),
    metadata: metadataInput().nullish(),
  })
  .meta({
    examples: [{ name: 'Launch', coupon_code: 'LAUNCH', type: 'percentage', percentage_off: '25', cadence: 'once' }],
  });

export const updateCouponBody = z
  .object({ name: name.nullish(), metadata: metadataInput().nullish() })
  .meta({ examples: [{ name: 'Launch 2026' }] });

export const couponListQuery = listQuery({
  coupon_ids: idListQuery().optional(),
  coupon_codes: idListQuery().optional(),
});

export const couponSearchBody = searchBody({
  coupon_ids: idListInput().nullish(),
  coupon_codes: idListInput().nullish(),
});

export const couponAssociationListQuery = listQuery(
  {
    subscription_ids: idListQuery().optional(),
    coupon_ids: idListQuery().optional(),
    active_only: booleanQuery().optional(),
  },
  ['coupon'],
);

export const couponAssociationQuery = z.object({ expand: expandInput(['coupon']).optional() });

const couponFields = {
  name: z.string(),
  coupon_code: z.string(),
  type,
  cadence,
  amount_off: decimalOutput().nullable(),
  percentage_off: decimalOutput().nullable(),
  currency: z.string().nullable(),
  duration_in_periods: z.int().nullable(),
  max_redemptions: z.int().nullable(),
  total_redemptions: z.int(),
  redeem_after: timestampOutput().nullable(),
  redeem_before: timestampOutput().nullable(),
  rules: z.record(z.string(), z.unknown()).nullable(),
  metadata: metadataOutput(),
};
export const coupon = z.object({ ...recordOutput, ...couponFields }).meta({ id: 'Coupon' });
export const couponList = listOf(coupon, 'ListCouponsResponse');

export const couponAssociation = z
  .object({
    ...recordOutput,
    coupon_id: z.string(),
    coupon,
    subscription_id: z.string().nullable(),
    subscription_line_item_id: z.string().nullable(),
    subscription_line_item: z.null(),
    subscription_phase_id: z.string().nullable(),
    start_date: timestampOutput(),
    end_date: timestampOutput().nullable(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'CouponAssociation' });

export const couponAssociationList = listOf(couponAssociation, 'ListCouponAssociationsResponse');

/** What a coupon took off an invoice or a line, with the coupon as it was then. spec: subscriptions-and-invoicing §2.17.5 */
export const couponApplication = z
  .object({
    ...recordOutput,
    coupon_id: z.string(),
    coupon_association_id: z.string(),
    coupon_snapshot: z.record(z.string(), z.unknown()),
    invoice_id: z.string(),
    invoice_line_item_id: z.string().nullable(),
    subscription_id: z.string().nullable(),
    discount_type: type,
    discount_percentage: decimalOutput().nullable(),
    original_price: decimalOutput(),
    discounted_amount: decimalOutput(),
    final_price: decimalOutput(),
    currency: z.string(),
    applied_at: timestampOutput(),
    metadata: metadataOutput(),
  })
  .meta({ id: 'CouponApplication' });

export function newCoupon(body: z.output<typeof createCouponBody>): NewCoupon {
  return {
    name: body.name,
    couponCode: body.coupon_code ?? null,
    type: body.type,
    cadence: body.cadence,
    amountOff: body.amount_off ?? null,
    percentageOff: body.percentage_off ?? null,
    currency: body.currency ?? null,
    durationInPeriods: body.duration_in_periods ?? null,
    maxRedemptions: body.max_redemptions ?? null,
    redeemAfter: body.redeem_after ?? null,
    redeemBefore: body.redeem_before ?? null,
    // Numbers of unknown keys are written as they came.
    rules: body.rules ? (JSON.parse(JSON.stringify(body.rules)) as Record<string, unknown>) : null,
    metadata: body.metadata ?? {},
  };
}

export function viewCoupon(row: Coupon): z.output<typeof coupon> {
  return {
    ...viewRecord(row),
    name: row.name,
    coupon_code: row.couponCode,
    type: row.type as z.output<typeof type>,
    cadence: row.cadence as z.output<typeof cadence>,
    amount_off: row.amountOff ?? null,
    percentage_off: row.percentageOff ?? null,
    currency: row.currency ?? null,
    duration_in_periods: row.durationInPeriods ?? null,
    max_redemptions: row.maxRedemptions ?? null,
    total_redemptions: row.totalRedemptions,
    redeem_after: row.redeemAfter ?? null,
    redeem_before: row.redeemBefore ?? null,
    rules: row.rules ?? null,
    metadata: row.metadata,
  };
}

export function viewCouponAssociation(content: CouponAssociationContent): z.output<typeof couponAssociation> {
  const { row } = content;
  return {
    ...viewRecord(row),
    coupon_id: row.couponId,
    coupon: viewCoupon(content.coupon),
    subscription_id: row.subscriptionId ?? null,
    subscription_line_item_id: row.subscriptionLineItemId ?? null,
    subscription_line_item: null,
    subscription_phase_id: row.subscriptionPhaseId ?? null,
    start_date: row.startDate,
    end_date: row.endDate ?? null,
    metadata: row.metadata,
  };
}

export function viewCouponApplication(row: CouponApplication): z.output<typeof couponApplication> {
  return {
    ...viewRecord(row),
    coupon_id: row.couponId,
    coupon_association_id: row.couponAssociationId,
    coupon_snapshot: row.couponSnapshot,
    invoice_id: row.invoiceId,
    invoice_line_item_id: row.invoiceLineItemId ?? null,
    subscription_id: row.subscriptionId ?? null,
    discount_type: row.discountType as z.output<typeof type>,
    discount_percentage: row.discountPercentage ?? null,
    original_price: row.originalPrice,
    discounted_amount: row.discountedAmount,
    final_price: row.finalPrice,
    currency: row.currency,
    applied_at: row.appliedAt,
    metadata: row.metadata,
  };
}
