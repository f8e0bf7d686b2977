import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, numeric, recordColumns } from '../../rows/columns.ts';

/**
 * What one coupon took off one invoice or line, with the coupon as it was then. Rows of a voided invoice are `deleted`, which
 * gives a `once` coupon back. spec: subscriptions-and-invoicing §2.17.5
 */
const schema = defineEntity({
  name: 'CouponApplication',
  tableName: 'coupon_application',
  properties: {
    ...recordColumns,
    couponId: p.text(),
    couponAssociationId: p.text(),
    invoiceId: p.text(),
    invoiceLineItemId: p.text().nullable(),
    subscriptionId: p.text().nullable(),
    /** Order of application. */
    position: p.integer(),
    discountType: p.text(),
    discountPercentage: numeric().nullable(),
    originalPrice: numeric(),
    discountedAmount: numeric(),
    finalPrice: numeric(),
    currency: p.text(),
    appliedAt: instant(),
    /** The coupon's record, keys as on the wire. */
    couponSnapshot: p.json<Record<string, unknown>>(),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'coupon_application_unique',
      expression: (c, t, n) => `create unique index "${n}" on ${t} (${c.environmentId}, ${c.invoiceId}, ${c.position})`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'couponAssociationId'] }],
});
export class CouponApplication extends schema.class {}
schema.setClass(CouponApplication);
