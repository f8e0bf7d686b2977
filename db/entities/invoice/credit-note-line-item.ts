import { defineEntity, p } from '@mikro-orm/core';
import { metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** What a credit note takes off one invoice line. spec: subscriptions-and-invoicing §1.12.1 */
const schema = defineEntity({
  name: 'CreditNoteLineItem',
  tableName: 'credit_note_line_item',
  properties: {
    ...recordColumns,
    creditNoteId: p.text(),
    invoiceLineItemId: p.text(),
    position: p.integer(),
    displayName: p.text(),
    amount: numeric(),
    currency: p.text(),
    metadata: metadata(),
  },
  indexes: [{ properties: ['environmentId', 'creditNoteId'] }, { properties: ['environmentId', 'invoiceLineItemId'] }],
});
export class CreditNoteLineItem extends schema.class {}
schema.setClass(CreditNoteLineItem);
