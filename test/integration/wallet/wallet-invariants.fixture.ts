import type { Planting } from '../lifecycle/invariants.fixture.ts';

/** Statements that break the invariants of wallets. */
export const walletPlantings: Planting[] = [
  {
    id: 'I7',
    what: 'a balance the ledger does not give',
    sql: `update wallet set balance = balance + 1, credit_balance = credit_balance + 1 where id = '$1'`,
    by: 'walletId',
  },
  {
    id: 'I7',
    what: 'credits of a day that the ledger does not have',
    sql: `update wallet_credit_day set credits = credits + 1 where wallet_id = '$1'`,
    by: 'walletId',
    names: /the ledger has/,
  },
  {
    id: 'I7',
    what: 'an entry that begins elsewhere',
    sql: `update wallet_transaction set credit_balance_before = credit_balance_before + 1 where id = '$1'`,
    by: 'debitId',
  },
  {
    id: 'I7',
    what: 'a lot with more than is left',
    sql: `update wallet_transaction set credits_available = credits_available + 1 where wallet_id = '$1' and type = 'credit'`,
    by: 'walletId',
  },
  {
    id: 'I7',
    what: 'a debit that names no lot',
    sql: `update wallet_transaction set consumed_lots = '[]' where id = '$1'`,
    by: 'debitId',
  },
  {
    id: 'I8',
    what: 'credit spent after it expired',
    sql: `update wallet_transaction set expiry_date = '2025-12-31' where type = 'credit' and wallet_id = (
      select wallet_id from wallet_transaction where id = '$1')`,
    by: 'debitId',
  },
  {
    id: 'I8',
    what: 'credits on an invoice that no wallet gave',
    sql: `update wallet_transaction set reference_type = 'REQUEST' where id = '$1'`,
    by: 'debitId',
    names: /applied, 0 taken/,
  },
  {
    id: 'I7',
    what: 'credits that nobody taxed and that count as taxed',
    sql: `update wallet_transaction set is_taxed = true where wallet_id = '$1' and type = 'credit'`,
    by: 'walletId',
    names: /: taxed .* of invoice none/,
  },
  {
    id: 'I6',
    what: 'an amount that is not taxed and was never taxed before',
    sql: `update invoice set taxed_credits_applied = 1 where id = (select reference_id from wallet_transaction where id = '$1')`,
    by: 'debitId',
    names: /1 not taxed of .* 0 of it with taxed ones/,
  },
  {
    id: 'I7',
    what: 'a charge of an invoice that also buys credits',
    sql: `update payment set purchase_id = (select id from wallet_transaction where type = 'credit' limit 1) where id = '$1'`,
    by: 'paymentId',
  },
  {
    id: 'I7',
    what: 'an invoice paid by a wallet that was not debited',
    sql: `update payment set payment_method_type = 'CREDITS', payment_method_id = (select id from wallet limit 1) where id = '$1'`,
    by: 'paymentId',
    names: /0 debits/,
  },
  {
    id: 'I7',
    what: 'credits taken for a payment that nobody has',
    sql: `update wallet_transaction set transaction_reason = 'INVOICE_PAYMENT' where id = '$1'`,
    by: 'debitId',
    names: /which nobody has/,
  },
];
