import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/**
 * The seal of a finalized invoice: the digest of its document, chained to the one before in its number sequence. Rows are only
 * ever added. design: quality.md I19
 */
const schema = defineEntity({
  name: 'InvoiceDocument',
  tableName: 'invoice_document',
  properties: {
    invoiceId: p.text().primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    /** The date key of the number sequence; empty for a number that came from outside, which stands alone. */
    chain: p.text(),
    position: p.bigint('number').nullable(),
    digest: p.text(),
    previousHash: p.text().nullable(),
    hash: p.text(),
    sealedAt: instant(),
  },
  uniques: [{ properties: ['environmentId', 'chain', 'position'] }],
});
export class InvoiceDocument extends schema.class {}
schema.setClass(InvoiceDocument);
