import { defineEntity, p } from '@mikro-orm/core';
import { instant, recordColumns } from '../../rows/columns.ts';

/** A subscription that a sync left as it was, and why. */
export interface SyncFailure {
  subscription_id: string;
  reason: string;
}

/**
 * One run of a plan's price sync: how far it is and what it did. `afterSubscriptionId` is the last subscription it looked
 * at, in the order of their ids, so that a killed run goes on behind it. spec: catalogue-and-metering §3.1
 */
const schema = defineEntity({
  name: 'PriceSync',
  tableName: 'price_sync',
  properties: {
    ...recordColumns,
    planId: p.text(),
    /** `running`, `completed`, `cancelled`, or `interrupted` when another run began without this one having ended. */
    syncStatus: p.text().default('running'),
    targetSequence: p.bigint('number'),
    afterSubscriptionId: p.text().default(''),
    subscriptionsFound: p.integer().default(0),
    subscriptionsSynced: p.integer().default(0),
    lineItemsFoundForCreation: p.integer().default(0),
    lineItemsCreated: p.integer().default(0),
    lineItemsTerminated: p.integer().default(0),
    /** All that failed; `failures` holds the first of them. */
    subscriptionsFailed: p.integer().default(0),
    failures: p.json<SyncFailure[]>().defaultRaw(`'[]'`),
    finishedAt: instant().nullable(),
  },
  uniques: [
    {
      name: 'price_sync_running_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.planId}) where ${c.syncStatus} = 'running'`,
    },
  ],
  indexes: [{ properties: ['environmentId', 'planId', 'createdAt', 'id'] }],
});
export class PriceSync extends schema.class {}
schema.setClass(PriceSync);
