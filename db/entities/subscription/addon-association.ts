import { defineEntity, p } from '@mikro-orm/core';
import { instant, jsonText, recordColumns } from '../../rows/columns.ts';

/** One attachment of an add-on to a subscription, in force over [start, end). spec: subscriptions-and-invoicing §1.10 */
const schema = defineEntity({
  name: 'AddonAssociation',
  tableName: 'addon_association',
  properties: {
    ...recordColumns,
    addonId: p.text(),
    entityType: p.text().default('subscription'),
    entityId: p.text(),
    addonStatus: p.text(),
    cadence: p.text(),
    quantity: p.integer().default(1),
    startDate: instant(),
    endDate: instant().nullable(),
    cancelledAt: instant().nullable(),
    cancellationReason: p.text().default(''),
    /** What attaching it charged at once. */
    invoiceId: p.text().nullable(),
    /** Any JSON, as its text. */
    metadata: jsonText(),
  },
  indexes: [{ properties: ['environmentId', 'addonId'] }, { properties: ['environmentId', 'entityId'] }],
});
export class AddonAssociation extends schema.class {}
schema.setClass(AddonAssociation);
