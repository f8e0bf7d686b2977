import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** A time of the day with its own price and commitment. spec: subscriptions-and-invoicing §2.7.5 */
export interface StoredTimeBucket {
  id: string;
  price_id: string;
  commitment_type: 'amount' | 'quantity';
  commitment_value: string;
  overage_factor: string;
  true_up_enabled: boolean;
  start: { hour: number; minute: number };
  end: { hour: number; minute: number };
  /** When its price holds, [from, to); absent: as long as the line item. */
  from?: string;
  to?: string;
}

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
    subscriptionPhaseId: p.text().nullable(),
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
    /** Charging of the period in which it begins; null: as the subscription says. */
    prorationBehavior: p.text().nullable(),
    startDate: instant(),
    endDate: instant().nullable(),
    commitmentType: p.text().nullable(),
    commitmentAmount: numeric().nullable(),
    commitmentQuantity: numeric().nullable(),
    commitmentOverageFactor: numeric().nullable(),
    commitmentDuration: p.text().nullable(),
    commitmentTrueUpEnabled: p.boolean().default(false),
    commitmentWindowed: p.boolean().default(false),
    /** As `commitment.ts` of the stores reads them; each names its price. */
    commitmentTimeBuckets: p.json<StoredTimeBucket[]>().nullable(),
    metadata: metadata(),
  },
  indexes: [
    { properties: ['environmentId', 'subscriptionId', 'startDate', 'id'] },
    { properties: ['environmentId', 'priceId'] },
  ],
});
export class SubscriptionLineItem extends schema.class {}
schema.setClass(SubscriptionLineItem);
