import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, recordColumns } from '../../rows/columns.ts';

/** A change that will happen to a subscription: a scheduled cancellation or plan change. spec: subscriptions-and-invoicing §2.9.4 */
const schema = defineEntity({
  name: 'SubscriptionSchedule',
  tableName: 'subscription_schedule',
  properties: {
    ...recordColumns,
    subscriptionId: p.text(),
    scheduleType: p.text(),
    scheduleStatus: p.text(),
    scheduledAt: instant(),
    executedAt: instant().nullable(),
    cancelledAt: instant().nullable(),
    configuration: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
    executionResult: p.json<Record<string, unknown>>().nullable(),
    errorMessage: p.text().nullable(),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'subscription_schedule_pending_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.subscriptionId}, ${c.scheduleType}) where ${c.scheduleStatus} = 'pending'`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'subscriptionId'] }],
});
export class SubscriptionSchedule extends schema.class {}
schema.setClass(SubscriptionSchedule);
