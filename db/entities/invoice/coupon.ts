import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** A discount that can be redeemed by its code. spec: subscriptions-and-invoicing §1.14 */
const schema = defineEntity({
  name: 'Coupon',
  tableName: 'coupon',
  properties: {
    ...recordColumns,
    name: p.text(),
    couponCode: p.text(),
    type: p.text(),
    cadence: p.text(),
    amountOff: numeric().nullable(),
    percentageOff: numeric().nullable(),
    currency: p.text().nullable(),
    durationInPeriods: p.integer().nullable(),
    maxRedemptions: p.integer().nullable(),
    /** Raised in the transaction that links the coupon. */
    totalRedemptions: p.integer().default(0),
    redeemAfter: instant().nullable(),
    redeemBefore: instant().nullable(),
    rules: p.json<Record<string, unknown>>().nullable(),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'coupon_code_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, lower(${c.couponCode})) where ${c.status} = 'published'`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'createdAt', 'id'] }],
});
export class Coupon extends schema.class {}
schema.setClass(Coupon);
