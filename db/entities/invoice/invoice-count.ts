import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/** Everything that lists compare by equality and that has few values. */
const sides = {
  status: p.text().primary(),
  invoiceType: p.text().primary(),
  invoiceStatus: p.text().primary(),
  paymentStatus: p.text().primary(),
  billingReason: p.text().primary(),
  currency: p.text().primary(),
};

/**
 * How many invoices there are of one kind in a bucket of one range (`facet`: a time by the day, an amount by two digits, or
 * none), as far as changes are folded in, and between which instants they were created. Triggers write it.
 */
const schema = defineEntity({
  name: 'InvoiceCount',
  tableName: 'invoice_count',
  properties: {
    environmentId: p.text().primary(),
    facet: p.text().primary(),
    bucket: p.bigint('number').primary(),
    ...sides,
    invoices: p.bigint('number'),
    firstCreatedAt: instant(),
    lastCreatedAt: instant(),
  },
});
export class InvoiceCount extends schema.class {}
schema.setClass(InvoiceCount);
