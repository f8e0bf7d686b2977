import { defineEntity, p } from '@mikro-orm/core';
import { instant } from '../../rows/columns.ts';

/**
 * What was asked of an invoice, with its amounts and texts, so that the command to its workflow holds an id only. Kept: it says
 * what a person wanted, beside the audit of what was done. design: architecture §3 Ids only
 */
const schema = defineEntity({
  name: 'InvoiceCommand',
  tableName: 'invoice_command',
  properties: {
    id: p.text().primary(),
    tenantId: p.text(),
    environmentId: p.text(),
    invoiceId: p.text(),
    createdAt: instant(),
    createdBy: p.text().default(''),
    content: p.json<Record<string, unknown>>(),
  },
  indexes: [{ properties: ['environmentId', 'invoiceId'] }],
});
export class InvoiceCommand extends schema.class {}
schema.setClass(InvoiceCommand);
