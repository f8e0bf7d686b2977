import type { Reference } from './reference.ts';

/** Ids that payments, refunds and their attempts hold. */
export const paymentReferences: readonly Reference[] = [
  { table: 'payment', column: 'destination_id', target: 'invoice', where: "t.destination_type = 'INVOICE'" },
  { table: 'payment', column: 'destination_id', target: 'customer', where: "t.destination_type = 'CUSTOMER'" },
  { table: 'payment', column: 'purchase_id', target: 'wallet_transaction' },
  { table: 'payment', column: 'payment_method_id', target: 'payment_method', where: "t.payment_method_type = 'CARD'" },
  { table: 'payment', column: 'payment_method_id', target: 'wallet', where: "t.payment_method_type = 'CREDITS'" },
  { table: 'payment', column: 'connection_id', target: 'connection' },
  { table: 'payment_method', column: 'connection_id', target: 'connection' },
  { table: 'inbound_event', column: 'connection_id', target: 'connection' },
  ...['payment', 'refund'].map((target) => ({
    table: 'inbound_event',
    column: 'object_id',
    target,
    where: `t.object_type = '${target}'`,
  })),
  { table: 'refund', column: 'payment_id', target: 'payment' },
  { table: 'refund', column: 'invoice_id', target: 'invoice' },
  { table: 'refund', column: 'credit_note_id', target: 'credit_note' },
  { table: 'dispute', column: 'payment_id', target: 'payment' },
  { table: 'dispute', column: 'refund_id', target: 'refund' },
  { table: 'opening_charge', column: 'payment_method_id', target: 'payment_method' },
  { table: 'payment_attempt', column: 'payment_id', target: 'payment' },
];
