import { expect } from 'vitest';
import { type AreaCalls, type Conversation, present } from '../conversation.ts';

/** Coupons. */
export function couponCalls({ client }: Conversation): Record<string, AreaCalls> {
  let couponId = '';
  const coupons: AreaCalls = {
    async createCoupon() {
      const coupon = await client.coupons.createCoupon({
        name: 'Launch',
        type: 'percentage',
        percentageOff: '25',
        cadence: 'repeated',
        durationInPeriods: 3,
        metadata: { campaign: 'spring' },
      });
      expect(coupon).toMatchObject({
        name: 'Launch',
        type: 'percentage',
        percentageOff: '25',
        cadence: 'repeated',
        durationInPeriods: 3,
        totalRedemptions: 0,
        metadata: { campaign: 'spring' },
      });
      couponId = present(coupon.id);
    },
    async getCoupon() {
      expect(await client.coupons.getCoupon(couponId)).toMatchObject({ id: couponId, name: 'Launch' });
    },
    async updateCoupon() {
      const coupon = await client.coupons.updateCoupon(couponId, { name: 'Launch 2026' });
      expect(coupon).toMatchObject({ id: couponId, name: 'Launch 2026' });
    },
    async queryCoupon() {
      const found = await client.coupons.queryCoupon({ couponIds: [couponId], limit: 5 });
      expect(found).toMatchObject({ items: [{ id: couponId }], pagination: { total: 1, limit: 5 } });
    },
    async deleteCoupon() {
      await client.coupons.deleteCoupon(couponId);
      expect(await client.coupons.queryCoupon({ couponIds: [couponId] })).toMatchObject({ items: [] });
    },
  };
  return { coupons };
}
