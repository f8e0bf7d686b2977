import { defineEntity, p } from '@mikro-orm/core';
import type { GivenCommitmentInfo } from '../../../billing/line/charge-commitment.ts';
import { instant, metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** One line of an invoice with the whole derivation of its amount. spec: subscriptions-and-invoicing §2.6; design: architecture §7 */
const schema = defineEntity({
  name: 'InvoiceLineItem',
  tableName: 'invoice_line_item',
  properties: {
    ...recordColumns,
    invoiceId: p.text(),
    customerId: p.text(),
    subscriptionId: p.text().nullable(),
    subscriptionLineItemId: p.text().nullable(),
    position: p.integer(),
    entityType: p.text().nullable(),
    entityId: p.text().nullable(),
    planId: p.text().nullable(),
    planDisplayName: p.text().nullable(),
    displayName: p.text().default(''),
    priceId: p.text().nullable(),
    priceType: p.text().nullable(),
    invoiceCadence: p.text().nullable(),
    meterId: p.text().nullable(),
    meterDisplayName: p.text().nullable(),
    currency: p.text(),
    quantity: numeric(),
    amount: numeric(),
    adjustedEntitlementQuantity: numeric().nullable(),
    priceUnit: p.text().nullable(),
    priceUnitId: p.text().nullable(),
    /** `amount` in the custom currency, rounded; `priceUnitCost` is what the line costs in it, before rounding. */
    priceUnitAmount: numeric().nullable(),
    priceUnitCost: numeric().nullable(),
    conversionRate: numeric().nullable(),
    lineItemDiscount: numeric().default('0'),
    invoiceLevelDiscount: numeric().default('0'),
    prepaidCreditsApplied: numeric().default('0'),
    periodStart: instant().nullable(),
    periodEnd: instant().nullable(),
    /** What the line shows of its commitment, in wire spelling; null without one. */
    commitmentInfo: p.json<GivenCommitmentInfo>().nullable(),
    /** The derivation, as billing/price/derivation.ts describes it. */
    derivation: p.json<Record<string, unknown>>().nullable(),
    metadata: metadata(),
    /** Uses credit that earlier changes of the subscription left. */
    isCarriedCredit: p.boolean().default(false),
  },
  indexes: [
    {
      name: 'invoice_line_item_carried_credit_index',
      expression: (c, t, n) =>
        `create index "${n}" on ${t} (${c.environmentId}, ${c.subscriptionId}) where ${c.isCarriedCredit}`,
    },
    { properties: ['environmentId', 'invoiceId', 'position'] },
    { properties: ['environmentId', 'subscriptionLineItemId', 'periodEnd'] },
  ],
});
export class InvoiceLineItem extends schema.class {}
schema.setClass(InvoiceLineItem);
