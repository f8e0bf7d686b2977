import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, recordColumns } from '../../rows/columns.ts';

/** What a phase does to the line items of its subscription. spec: subscriptions-and-invoicing §2.9.5 */
export interface PhaseTerms {
  /** Line items that come into force when it starts; they wait as drafts. */
  begins?: string[];
  /** Prices of the plan whose line items end when it starts. */
  replaces?: string[];
  /** Line items that come into force when it ends and no phase follows. */
  resumes?: string[];
}

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
    endedAt: instant().nullable(),
    terms: p.json<PhaseTerms>().defaultRaw(`'{}'`),
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
