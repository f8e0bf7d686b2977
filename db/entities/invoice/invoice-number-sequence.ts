import { defineEntity, p } from '@mikro-orm/core';

/** The next invoice number of a date key; its row lock makes numbers gapless. spec: subscriptions-and-invoicing §2.15.5 */
const schema = defineEntity({
  name: 'InvoiceNumberSequence',
  tableName: 'invoice_number_sequence',
  properties: { environmentId: p.text().primary(), dateKey: p.text().primary(), last: p.bigint('number') },
});
export class InvoiceNumberSequence extends schema.class {}
schema.setClass(InvoiceNumberSequence);
