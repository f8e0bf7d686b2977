import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, recordColumns } from '../../rows/columns.ts';

/** A coupon redeemed by a subscription, for its invoices or for one of its line items, or by one invoice. spec: subscriptions-and-invoicing §2.17.1 */
const schema = defineEntity({
  name: 'CouponAssociation',
  tableName: 'coupon_association',
  properties: {
    ...recordColumns,
    couponId: p.text(),
    /** Null for the use of a coupon by one invoice. */
    subscriptionId: p.text().nullable(),
    subscriptionLineItemId: p.text().nullable(),
    /** The phase in which it applies, once that has started. */
    subscriptionPhaseId: p.text().nullable(),
    startDate: instant(),
    endDate: instant().nullable(),
    metadata: metadata(),
  },
  indexes: [
    { properties: ['environmentId', 'createdAt', 'id'] },
    { properties: ['environmentId', 'subscriptionId'] },
    { properties: ['environmentId', 'couponId'] },
  ],
});
export class CouponAssociation extends schema.class {}
schema.setClass(CouponAssociation);
