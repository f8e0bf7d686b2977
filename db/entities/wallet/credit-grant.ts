import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** Credits that a plan or add-on promises, or that a subscription gets. spec: wallets-and-payments §1.2, §2.15 */
const schema = defineEntity({
  name: 'CreditGrant',
  tableName: 'credit_grant',
  properties: {
    ...recordColumns,
    name: p.text(),
    scope: p.text(),
    planId: p.text().nullable(),
    /** The plan that a subscription's grant was copied from; a change of plan ends it. */
    originPlanId: p.text().nullable(),
    addonId: p.text().nullable(),
    subscriptionId: p.text().nullable(),
    /** The attachment that brought it; its end is the grant's. */
    addonAssociationId: p.text().nullable(),
    cadence: p.text(),
    credits: numeric(),
    conversionRate: numeric().nullable(),
    topupConversionRate: numeric().nullable(),
    period: p.text().nullable(),
    periodCount: p.integer().nullable(),
    creditGrantAnchor: instant().nullable(),
    startDate: instant().nullable(),
    endDate: instant().nullable(),
    expirationType: p.text(),
    expirationDuration: p.integer().nullable(),
    expirationDurationUnit: p.text().nullable(),
    priority: p.integer().nullable(),
    pays: p.text().default('any_open_invoice'),
    metadata: metadata(),
  },
  indexes: [
    { properties: ['environmentId', 'createdAt', 'id'] },
    { properties: ['environmentId', 'planId'] },
    { properties: ['environmentId', 'addonId'] },
    { properties: ['environmentId', 'subscriptionId'] },
  ],
});
export class CreditGrant extends schema.class {}
schema.setClass(CreditGrant);
