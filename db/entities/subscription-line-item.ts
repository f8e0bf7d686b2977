import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, numeric, recordColumns } from '../columns.ts';

/** One charge of a subscription: a price, a quantity and the time it is in force. spec: subscriptions-and-invoicing §2.3.3 */
const schema = defineEntity({
  name: 'SubscriptionLineItem',
  tableName: 'subscription_line_item',
  properties: {
    ...recordColumns,
    subscriptionId: p.text(),
    customerId: p.text(),
    entityType: p.text(),
    entityId: p.text(),
    addonAssociationId: p.text().nullable(),
    planDisplayName: p.text().default(''),
    displayName: p.text().default(''),
    priceId: p.text(),
    priceType: p.text(),
    meterId: p.text().nullable(),
    meterDisplayName: p.text().nullable(),
    currency: p.text(),
    quantity: numeric(),
    billingPeriod: p.text(),
    billingPeriodCount: p.integer().default(1),
    invoiceCadence: p.text(),
    trialPeriodDays: p.integer().default(0),
    startDate: instant(),
    endDate: instant().nullable(),
    metadata: metadata(),
  },
  indexes: [
    { properties: ['environmentId', 'subscriptionId', 'startDate', 'id'] },
    { properties: ['environmentId', 'priceId'] },
  ],
});
export class SubscriptionLineItem extends schema.class {}
schema.setClass(SubscriptionLineItem);
