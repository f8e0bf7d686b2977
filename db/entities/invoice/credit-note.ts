import { defineEntity, p } from '@mikro-orm/core';
import { instant, metadata, numeric, recordColumns } from '../../rows/columns.ts';

/** A document that takes money off an issued invoice, or gives it back. spec: subscriptions-and-invoicing §1.12, §2.19 */
const schema = defineEntity({
  name: 'CreditNote',
  tableName: 'credit_note',
  properties: {
    ...recordColumns,
    creditNoteNumber: p.text(),
    idempotencyKey: p.text(),
    customerId: p.text(),
    invoiceId: p.text(),
    subscriptionId: p.text().nullable(),
    subscriptionCustomerId: p.text().nullable(),
    currency: p.text(),
    creditNoteStatus: p.text(),
    creditNoteType: p.text(),
    reason: p.text(),
    memo: p.text().default(''),
    totalAmount: numeric(),
    finalizedAt: instant().nullable(),
    voidedAt: instant().nullable(),
    metadata: metadata(),
    version: p.integer().default(1),
  },
  uniques: [
    {
      name: 'credit_note_number_unique',
      expression: (c, t, n) => `create unique index "${n}" on ${t} (${c.environmentId}, ${c.creditNoteNumber})`,
    },
    {
      name: 'credit_note_idempotency_key_unique',
      expression: (c, t, n) =>
        `create unique index "${n}" on ${t} (${c.environmentId}, ${c.idempotencyKey}) where ${c.creditNoteStatus} <> 'VOIDED'`,
    },
  ],
  indexes: [
    { properties: ['environmentId', 'createdAt', 'id'] },
    { properties: ['environmentId', 'invoiceId'] },
    { properties: ['environmentId', 'customerId'] },
  ],
});
export class CreditNote extends schema.class {}
schema.setClass(CreditNote);
