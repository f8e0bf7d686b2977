import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, recordColumns } from '../../rows/columns.ts';

/** A time in which a subscription is not billed; open while `resumedAt` is null. spec: subscriptions-and-invoicing §2.11 */
const schema = defineEntity({
  name: 'SubscriptionPause',
  tableName: 'subscription_pause',
  properties: {
    ...recordColumns,
    subscriptionId: p.text(),
    pauseStart: instant(),
    pauseEnd: instant().nullable(),
    pauseMode: p.text(),
    pauseStatus: p.text(),
    resumeMode: p.text(),
    resumedAt: instant().nullable(),
    originalPeriodStart: instant(),
    originalPeriodEnd: instant(),
    reason: p.text().default(''),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'subscription_pause_active_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.subscriptionId}) where ${c.pauseStatus} = 'active'`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'subscriptionId'] }],
});
export class SubscriptionPause extends schema.class {}
schema.setClass(SubscriptionPause);
