import type { Reference } from './reference.ts';

/** References of credit notes, and of the papers of documents. */
export const documentReferences: readonly Reference[] = [
  { table: 'credit_note', column: 'invoice_id', target: 'invoice' },
  { table: 'credit_note', column: 'subscription_id', target: 'subscription' },
  { table: 'credit_note', column: 'subscription_customer_id', target: 'customer' },
  { table: 'credit_note_line_item', column: 'credit_note_id', target: 'credit_note' },
  { table: 'credit_note_line_item', column: 'invoice_line_item_id', target: 'invoice_line_item' },
  { table: 'document_paper', column: 'document_id', target: 'invoice', where: "t.document_id like 'inv\\_%'" },
  { table: 'document_paper', column: 'document_id', target: 'credit_note', where: "t.document_id like 'cn\\_%'" },
];
