import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** A tier as stored: decimals as strings, `up_to` null for the open last tier. */
export interface StoredTier {
  up_to: string | null;
  unit_amount: string;
  flat_amount: string;
}

/** What one thing costs. A price row never changes its meaning; a change is a new row. spec: catalogue-and-metering §4.1 */
const schema = defineEntity({
  name: 'Price',
  tableName: 'price',
  properties: {
    ...recordColumns,
    entityType: p.text(),
    entityId: p.text(),
    parentPriceId: p.text().nullable(),
    type: p.text(),
    billingModel: p.text(),
    billingCadence: p.text().default('RECURRING'),
    billingPeriod: p.text(),
    billingPeriodCount: p.integer().default(1),
    invoiceCadence: p.text(),
    currency: p.text(),
    amount: numeric().nullable(),
    tierMode: p.text().nullable(),
    tiers: p.json<StoredTier[]>().nullable(),
    transformQuantity: p.json<{ divide_by: number; round: 'up' | 'down' }>().nullable(),
    percentageRate: numeric().nullable(),
    priceUnitType: p.text().default('FIAT'),
    /** What a CUSTOM price was made of: its unit's code and id, its amounts in the unit, and the rate of the fiat ones above. */
    priceUnit: p.text().nullable(),
    priceUnitId: p.text().nullable(),
    priceUnitAmount: numeric().nullable(),
    priceUnitTiers: p.json<StoredTier[]>().nullable(),
    conversionRate: numeric().nullable(),
    meterId: p.text().nullable(),
    filterValues: p.json<Record<string, string[]>>().nullable(),
    bucketSize: p.text().nullable(),
    minQuantity: numeric().nullable(),
    trialPeriodDays: p.integer().default(0),
    groupId: p.text().nullable(),
    startDate: instant(),
    endDate: instant().nullable(),
    displayName: p.text().default(''),
    description: p.text().default(''),
    lookupKey: p.text().default(''),
    sequence: p.bigint('number'),
    metadata: metadata(),
  },
  uniques: [
    {
      name: 'price_lookup_key_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.lookupKey}) where ${c.status} = 'published' and ${c.endDate} is null and ${c.lookupKey} <> ''`,
    },
  ],
  indexes: [
    { properties: ['environmentId', 'entityType', 'entityId'] },
    { properties: ['environmentId', 'meterId'] },
    { properties: ['environmentId', 'groupId'] },
    { properties: ['environmentId', 'priceUnitId'] },
    { properties: ['environmentId', 'createdAt', 'id'] },
  ],
});
export class Price extends schema.class {}
schema.setClass(Price);
