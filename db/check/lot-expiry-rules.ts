import { graceSetting, type InvariantRule } from './invariant.ts';

const now = 'coalesce(k.frozen_time, clock_timestamp())';
const grace = `current_setting('${graceSetting}')::interval`;

/** I7 and I18: credits leave a wallet when they expire, whole and once, and what keeps them longer can be named. */
export const lotExpiryRules: readonly InvariantRule[] = [
  {
    id: 'I7',
    rule: 'a debit takes a balance below zero only by hand, by expiry or for money that left a purchase',
    examines: `select count(*) from wallet_transaction where type = 'debit'`,
    violations: `
      select id as object, format('%s leaves %s', transaction_reason, credit_balance_after) as problem from wallet_transaction
      where type = 'debit' and transaction_status = 'completed' and credit_balance_after < 0
        and transaction_reason not in ('MANUAL_BALANCE_DEBIT', 'CREDIT_EXPIRED') and not metadata ? 'taken_back'`,
  },
  {
    id: 'I7',
    rule: 'credits expire once, all that is left of a lot, no sooner than six hours after its expiry',
    examines: `select count(*) from wallet_transaction where type = 'debit'`,
    violations: `
      select d.id as object, format('%s credits of lot %s, which expires on %s and holds %s, on %s', d.credit_amount, d.reference_id,
        lot.expiry_date, lot.credits_available, d.occurred_at) as problem
      from wallet_transaction d left join wallet_transaction lot on lot.id = d.reference_id and lot.wallet_id = d.wallet_id
      where d.transaction_reason = 'CREDIT_EXPIRED' and (lot.id is null or lot.credits_available <> 0 or d.idempotency_key <> lot.id
        or lot.expiry_date is null or d.occurred_at < lot.expiry_date + interval '6 hours'
        or d.consumed_lots -> 0 ->> 'id' <> lot.id or jsonb_array_length(d.consumed_lots) <> 1)`,
  },
  {
    id: 'I18',
    rule: 'a lot with an expiry is on the agenda of its wallet as long as something is left of it and the wallet is active',
    examines: 'select count(*) from wallet_transaction where expiry_date is not null',
    violations: `
      with lot as (
        select t.environment_id, t.id, t.wallet_id, t.expiry_date from wallet_transaction t join wallet w on w.id = t.wallet_id
        where t.credits_available > 0 and t.expiry_date is not null and t.transaction_status = 'completed'
          and w.wallet_status = 'active' and w.status = 'published'
      ), entry as (
        select environment_id, object_id, ref, due_at from agenda_entry where object_type = 'wallet' and kind = 'expireLot'
      )
      select coalesce(lot.wallet_id, entry.object_id) as object, case when entry.ref is null
        then format('lot %s expires on %s, and nothing on its agenda says so', lot.id, lot.expiry_date)
        else format('%s is to expire at %s and has nothing left, or its wallet is not active', entry.ref, entry.due_at) end as problem
      from lot full join entry on entry.environment_id = lot.environment_id and entry.object_id = lot.wallet_id and entry.ref = lot.id
      where lot.id is null or entry.ref is null or entry.due_at < lot.expiry_date + interval '6 hours'`,
  },
  {
    id: 'I18',
    rule: 'credits stay beyond their expiry only for a period that is not closed, or an invoice of theirs that is open',
    examines: 'select count(*) from wallet_transaction where expiry_date is not null',
    violations: `
      with held as (
        select a.environment_id, a.object_id, a.ref, a.customer_id, a.due_at, t.occurred_at, t.expiry_date, t.currency, ${now} as now
        from agenda_entry a join wallet_transaction t on t.id = a.ref left join test_clock k on k.id = a.test_clock_id
        where a.object_type = 'wallet' and a.kind = 'expireLot' and k.target_time is null and a.due_at > ${now}
          and t.expiry_date + interval '6 hours' + ${grace} < ${now}
      ), holder as (
        select held.ref from held join subscription s on s.environment_id = held.environment_id and s.invoicing_customer_id = held.customer_id
        where s.status = 'published' and s.subscription_status = 'active' and s.subscription_type in ('standalone', 'parent')
          and s.current_period_end <= held.now
        union
        select held.ref from held join invoice i on i.environment_id = held.environment_id and i.customer_id = held.customer_id
        where i.status = 'published' and lower(i.currency) = held.currency and i.invoice_type = 'SUBSCRIPTION' and i.amount_remaining > 0
          and (i.invoice_status = 'DRAFT' or (i.invoice_status = 'FINALIZED' and i.finalized_at + interval '30 days' > held.now))
          and i.period_start <= held.occurred_at and held.occurred_at <= i.period_end and i.period_end <= held.expiry_date
      )
      select held.object_id as object, format('lot %s expired on %s, waits until %s, and nothing keeps it', held.ref, held.expiry_date,
        held.due_at) as problem
      from held left join holder on holder.ref = held.ref where holder.ref is null`,
  },
];
