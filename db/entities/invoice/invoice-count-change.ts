import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/** An invoice that came to a kind and its buckets (`added` 1) or left them (-1), until it is folded into InvoiceCount. */
const schema = defineEntity({
  name: 'InvoiceCountChange',
  tableName: 'invoice_count_change',
  properties: {
    id: p.bigint('string').primary().autoincrement(),
    environmentId: p.text(),
    status: p.text(),
    invoiceType: p.text(),
    invoiceStatus: p.text(),
    paymentStatus: p.text(),
    billingReason: p.text(),
    currency: p.text(),
    added: p.integer(),
    createdAt: instant(),
    createdAtBucket: p.bigint('number'),
    periodStartBucket: p.bigint('number').nullable(),
    periodEndBucket: p.bigint('number').nullable(),
    amountDueBucket: p.bigint('number'),
    amountRemainingBucket: p.bigint('number'),
  },
  indexes: [{ properties: ['environmentId', 'id'] }],
});
export class InvoiceCountChange extends schema.class {}
schema.setClass(InvoiceCountChange);
