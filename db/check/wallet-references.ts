import type { Reference } from './reference.ts';

/** Tables of automatic top-ups, each with a customer and its clock. */
export const topUpTables = ['wallet_auto_topup', 'auto_topup_attempt'];

/** Tables of credits, each row of which belongs to a customer. */
export const creditTables = ['wallet', 'wallet_transaction', 'carried_credit', ...topUpTables];

/** References of ledgers, of purchases, of credit for unused time and of automatic top-ups. */
export const walletReferences: readonly Reference[] = [
  { table: 'wallet_transaction', column: 'wallet_id', target: 'wallet' },
  { table: 'wallet_credit_day', column: 'wallet_id', target: 'wallet' },
  { table: 'wallet_transaction', column: 'parent_transaction_id', target: 'wallet_transaction' },
  { table: 'wallet_transaction', column: 'reference_id', target: 'invoice', where: "t.reference_type = 'INVOICE'" },
  { table: 'invoice', column: 'purchase_id', target: 'wallet_transaction' },
  { table: 'carried_credit', column: 'subscription_id', target: 'subscription' },
  { table: 'auto_topup_attempt', column: 'wallet_id', target: 'wallet' },
  { table: 'auto_topup_attempt', column: 'purchase_id', target: 'wallet_transaction' },
  { table: 'auto_topup_attempt', column: 'invoice_id', target: 'invoice' },
  { table: 'auto_topup_attempt', column: 'payment_id', target: 'payment' },
];
