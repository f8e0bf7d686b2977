import { defineEntity, p } from '@mikro-orm/core';
import { instant, numeric, recordColumns } from '../../rows/columns.ts';

/**
 * What a change credited or charged for the rest of a line item's time, one row a charge period, whichever way it was settled: later changes give back
 * no more than was charged and not given back yet. spec: subscriptions-and-invoicing §2.8.2, §2.8.3
 */
const schema = defineEntity({
  name: 'SubscriptionProration',
  tableName: 'subscription_proration',
  properties: {
    ...recordColumns,
    subscriptionId: p.text(),
    subscriptionLineItemId: p.text(),
    /** Names the change; the same change is settled once. */
    changeKey: p.text(),
    action: p.text(),
    side: p.text(),
    currency: p.text(),
    amount: numeric(),
    /** Before the cap. */
    uncappedAmount: numeric(),
    periodStart: instant(),
    periodEnd: instant(),
    effectiveAt: instant(),
    settlement: p.text(),
    /** The invoice of a settlement by invoice; a void one settled nothing. */
    invoiceId: p.text().nullable(),
    /** What went to the wallet or to the next invoice, on each row of such a settlement. */
    returnedAmount: numeric().default('0'),
  },
  uniques: [
    {
      name: 'subscription_proration_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.changeKey}, ${c.subscriptionLineItemId}, ${c.side}, ${c.periodStart})`,
    },
  ],
  indexes: [
    { properties: ['environmentId', 'subscriptionId'] },
    { name: 'subscription_proration_line_item_index', properties: ['environmentId', 'subscriptionLineItemId'] },
  ],
});
export class SubscriptionProration extends schema.class {}
schema.setClass(SubscriptionProration);
