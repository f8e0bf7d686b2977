import { z } from 'zod';
import type { NewCouponLink } from '../../billing/subscription/new-subscription.ts';
import { timestampInput } from '../scalars.schema.ts';

const id = z.string().min(1).max(255);
const most = 100;

/** Coupons of a creation: by code, and the two older forms, by id. spec: subscriptions-and-invoicing §1.2 */
export const couponFields = {
  subscription_coupons: z
    .array(
      z.object({
        coupon_code: z.string().trim().min(1).max(255),
        start_date: timestampInput().nullish(),
        end_date: timestampInput().nullish(),
        price_id: id.nullish().describe('Discounts the line item of this price only.'),
      }),
    )
    .max(most)
    .nullish(),
  coupons: z.array(id).max(most).nullish().describe('Ids; an older form of subscription_coupons.'),
  line_item_coupons: z
    .record(id, z.array(id).max(most))
    .nullish()
    .describe('Ids by price id; an older form of subscription_coupons.'),
};

const couponBody = z.object(couponFields);

/** What a creation redeems, in the order it is named; `path` is where it stands in the request. */
export function couponLinksOf(body: z.output<typeof couponBody>, path = ''): NewCouponLink[] {
  const window = { startDate: null, endDate: null };
  const byCode = (body.subscription_coupons ?? []).map((coupon, index) => ({
    couponId: null,
    couponCode: coupon.coupon_code,
    startDate: coupon.start_date ?? null,
    endDate: coupon.end_date ?? null,
    priceId: coupon.price_id ?? null,
    field: `${path}subscription_coupons[${index}]`,
  }));
  const byId = (body.coupons ?? []).map((couponId, index) => ({
    ...window,
    couponId,
    couponCode: null,
    priceId: null,
    field: `${path}coupons[${index}]`,
  }));
  const ofLines = Object.entries(body.line_item_coupons ?? {}).flatMap(([priceId, couponIds]) =>
    couponIds.map((couponId, index) => ({
      ...window,
      couponId,
      couponCode: null,
      priceId,
      field: `${path}line_item_coupons.${priceId}[${index}]`,
    })),
  );
  return [...byCode, ...byId, ...ofLines];
}
