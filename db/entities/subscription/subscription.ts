import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, numeric, recordColumns } from '../../rows/columns.ts';

/**
 * A customer on a plan. `subscriptionStatus` is the lifecycle (lower case); `version` grows by one per committed change.
 * spec: subscriptions-and-invoicing §1.3, §2.4
 */
const schema = defineEntity({
  name: 'Subscription',
  tableName: 'subscription',
  properties: {
    ...recordColumns,
    customerId: p.text(),
    invoicingCustomerId: p.text(),
    parentSubscriptionId: p.text().nullable(),
    planId: p.text(),
    lookupKey: p.text().default(''),
    subscriptionStatus: p.text(),
    subscriptionType: p.text().default('standalone'),
    pauseStatus: p.text().default('none'),
    activePauseId: p.text().default(''),
    currency: p.text(),
    billingCadence: p.text().default('RECURRING'),
    billingPeriod: p.text(),
    billingPeriodCount: p.integer().default(1),
    billingCycle: p.text(),
    billingAnchor: instant(),
    timezone: p.text(),
    startDate: instant(),
    endDate: instant().nullable(),
    currentPeriodStart: instant(),
    currentPeriodEnd: instant(),
    trialStart: instant().nullable(),
    trialEnd: instant().nullable(),
    cancelAt: instant().nullable(),
    cancelledAt: instant().nullable(),
    cancelAtPeriodEnd: p.boolean().default(false),
    collectionMethod: p.text(),
    paymentBehavior: p.text(),
    paymentTerms: p.text().nullable(),
    prorationBehavior: p.text(),
    lineItemGrouping: p.text().default('per_charge_period'),
    gatewayPaymentMethodId: p.text().nullable(),
    autoInvoiceThreshold: numeric().nullable(),
    commitmentAmount: numeric().nullable(),
    commitmentDuration: p.text().nullable(),
    overageFactor: numeric().default('1'),
    enableTrueUp: p.boolean().default(false),
    metadata: metadata(),
    syncedPriceSequence: p.bigint('number').default(0),
    /** Last billing_sequence given to an invoice of this subscription. */
    billingSequence: p.integer().default(0),
    /** The last period end whose renewal notice was sent. */
    renewalNoticedFor: instant().nullable(),
    testClockId: p.text().nullable(),
    /** Has or had a parent or children whose bills are one. */
    inHierarchy: p.boolean().default(false),
    version: p.integer().default(1),
  },
  uniques: [
    {
      name: 'subscription_lookup_key_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.lookupKey}) where ${c.status} = 'published' and ${c.lookupKey} <> ''`,
    },
    {
      name: 'subscription_inherited_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.customerId}) where ${c.status} = 'published' and ${c.subscriptionType} = 'inherited' and ${c.subscriptionStatus} <> 'cancelled'`,
    },
  ],
  indexes: [
    { properties: ['environmentId', 'createdAt', 'id'] },
    { properties: ['environmentId', 'customerId'] },
    { properties: ['environmentId', 'invoicingCustomerId'] },
    { properties: ['environmentId', 'planId', 'id'] },
    {
      name: 'subscription_children',
      expression: (c, t, n) =>
        `create index "${n}" on ${t} (${c.environmentId}, ${c.parentSubscriptionId}) where ${c.parentSubscriptionId} is not null`,
    },
  ],
});
export class Subscription extends schema.class {}
schema.setClass(Subscription);
