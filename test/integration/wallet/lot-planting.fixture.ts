import type { Planting } from '../lifecycle/invariants.fixture.ts';

/** Statements that break the invariants of credits that expire. */
export const lotPlantings: Planting[] = [
  {
    id: 'I7',
    what: 'a credit line that no change left credit for',
    sql: `update invoice_line_item set is_carried_credit = true, amount = -5 where id = '$1'`,
    by: 'lineId',
    names: 'subscriptionId',
  },
  {
    id: 'I7',
    what: 'an ended subscription that keeps its credit',
    sql: `insert into carried_credit (id, tenant_id, environment_id, created_at, updated_at, subscription_id, customer_id, currency, amount, occurred_at)
      select 'ccred_zz', tenant_id, environment_id, now(), now(), id, customer_id, currency, 5, now() from subscription where id = '$1';
      update subscription set subscription_status = 'cancelled' where id = '$1';
      update invoice set invoice_status = 'FINALIZED' where subscription_id = '$1' and invoice_status = 'DRAFT'`,
    by: 'otherSubscriptionId',
    names: /cancelled with a credit of 5/,
  },
  {
    id: 'I7',
    what: 'a balance below zero that nobody asked for',
    sql: `update wallet_transaction set credit_balance_after = -1 where id = '$1'`,
    by: 'debitId',
    names: /CREDIT_ADJUSTMENT leaves -1/,
  },
  {
    id: 'I7',
    what: 'credits that expire before their time',
    sql: `update wallet_transaction set transaction_reason = 'CREDIT_EXPIRED' where id = '$1'`,
    by: 'debitId',
    names: /credits of lot/,
  },
  {
    id: 'I18',
    what: 'a lot that nothing will let expire',
    sql: `update wallet_transaction set expiry_date = '2099-01-01', credits_available = 1 where wallet_id = '$1' and type = 'credit'`,
    by: 'walletId',
    names: /nothing on its agenda says so/,
  },
  {
    id: 'I18',
    what: 'a lot that stays without a reason',
    sql: `update wallet_transaction set expiry_date = '2026-02-01', credits_available = 1 where wallet_id = '$1' and type = 'credit';
      insert into agenda_entry (environment_id, tenant_id, object_type, object_id, kind, ref, due_at, customer_id, test_clock_id)
      select t.environment_id, t.tenant_id, 'wallet', t.wallet_id, 'expireLot', t.id, '2027-01-01', t.customer_id, c.test_clock_id
      from wallet_transaction t join customer c on c.id = t.customer_id where t.wallet_id = '$1' and t.type = 'credit'`,
    by: 'walletId',
    names: /nothing keeps it/,
  },
];
