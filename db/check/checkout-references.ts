import type { Reference } from './reference.ts';

const table = 'checkout_session';

/** Ids that checkout sessions hold, and by which their invoices and payments name them. */
export const checkoutReferences: readonly Reference[] = [
  { table, column: 'customer_id', target: 'customer' },
  { table, column: 'test_clock_id', target: 'test_clock' },
  { table, column: 'checkout_invoice_id', target: 'invoice' },
  { table, column: 'checkout_payment_id', target: 'payment' },
  { table, column: 'connection_id', target: 'connection' },
  { table, column: 'wallet_id', target: 'wallet' },
  { table, column: 'subscription_id', target: 'subscription' },
  { table, column: 'purchase_id', target: 'wallet_transaction' },
  ...['invoice', 'payment'].map((holder) => ({ table: holder, column: 'checkout_session_id', target: table })),
  { table: 'payment', column: 'duplicate_of', target: 'payment' },
  { table: 'outbox_event', column: 'entity_id', target: table, where: `t.entity_type = 'checkout_session'` },
];

/** Ids that are a provider's. */
export const checkoutOtherIds: readonly string[] = ['checkout_session.provider_session_id'];
