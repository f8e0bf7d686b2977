import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, recordColumns } from '../columns.ts';

/** A stretch of a subscription with terms of its own; `startedAt` says when they took hold. spec: subscriptions-and-invoicing §2.9.5 */
const schema = defineEntity({
  name: 'SubscriptionPhase',
  tableName: 'subscription_phase',
  properties: {
    ...recordColumns,
    subscriptionId: p.text(),
    startDate: instant(),
    endDate: instant().nullable(),
    startedAt: instant().nullable(),
    /** What the creation asked of the phase beside its dates. */
    terms: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'subscription_phase_start_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.subscriptionId}, ${c.startDate}) where ${c.status} = 'published'`,
    },
  ],
});
export class SubscriptionPhase extends schema.class {}
schema.setClass(SubscriptionPhase);
