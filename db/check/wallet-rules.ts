import type { InvariantRule } from './invariant.ts';

/** `used`: the lots that completed debits took, and the lots that the debit names. It is made once, and not again for each row it is joined to. */
const usedText = `
used as materialized (
  select d.id as debit, d.wallet_id, d.reference_type, d.reference_id, d.occurred_at, taken ->> 'id' as lot,
    (taken ->> 'credits')::numeric as credits, coalesce(d.metadata ->> 'consumed_credit_tx_ids', '') as named
  from wallet_transaction d cross join lateral jsonb_array_elements(d.consumed_lots) taken
  where d.type = 'debit' and d.transaction_status = 'completed'
)`;

/** I7 and I8: the ledger, the lots and the balance of a wallet agree, and credit is spent once and in time. */
export const walletRules: readonly InvariantRule[] = [
  {
    id: 'I7',
    rule: 'the balance of a wallet is its credits at its rate, and its credits are the sum of its ledger',
    examines: 'select count(*) from wallet',
    violations: `
      select w.id as object, format('balance %s, credits %s at %s, the ledger sums to %s', w.balance, w.credit_balance, w.conversion_rate,
        ledger.credits) as problem
      from wallet w cross join lateral (
        select coalesce(sum(case t.type when 'credit' then t.credit_amount else - t.credit_amount end), 0) as credits
        from wallet_transaction t where t.wallet_id = w.id and t.transaction_status = 'completed'
      ) ledger
      where w.balance <> round(w.credit_balance * w.conversion_rate, 9) or w.credit_balance <> ledger.credits`,
  },
  {
    id: 'I7',
    rule: 'the credits of a day are the sum of those that its ledger completed on it',
    examines: 'select count(*) from wallet_credit_day',
    violations: `
      with ledger as (
        select environment_id, wallet_id, (occurred_at at time zone 'UTC')::date as day, sum(credit_amount) as credits
        from wallet_transaction where type = 'credit' and transaction_status = 'completed' group by 1, 2, 3
      )
      select coalesce(d.wallet_id, ledger.wallet_id) as object, format('%s on %s, the ledger has %s', coalesce(d.credits, 0),
        coalesce(d.day, ledger.day), coalesce(ledger.credits, 0)) as problem
      from wallet_credit_day d full join ledger using (environment_id, wallet_id, day)
      where coalesce(d.credits, 0) <> coalesce(ledger.credits, 0)`,
  },
  {
    id: 'I7',
    rule: 'each entry of a ledger begins where the one before it ended',
    examines: `select count(*) from wallet_transaction where transaction_status = 'completed'`,
    violations: `
      with chain as (
        select id, credit_balance_before, credit_balance_after, type, credit_amount,
          lag(credit_balance_after, 1, 0::numeric) over (partition by wallet_id order by position) as before
        from wallet_transaction where transaction_status = 'completed'
      )
      select id as object, format('from %s to %s by a %s of %s, after %s', credit_balance_before, credit_balance_after, type, credit_amount,
        before) as problem
      from chain where credit_balance_before <> before
        or credit_balance_after <> credit_balance_before + case type when 'credit' then credit_amount else - credit_amount end`,
  },
  {
    id: 'I7',
    rule: 'open lots hold the credits of a wallet, and more only after an overdraft by hand or money that left a purchase',
    examines: 'select count(*) from wallet',
    violations: `
      select w.id as object, format('credits %s, open lots hold %s', w.credit_balance, open.credits) as problem
      from wallet w cross join lateral (
        select coalesce(sum(t.credits_available), 0) as credits from wallet_transaction t where t.wallet_id = w.id
      ) open
      where open.credits < w.credit_balance or (open.credits > w.credit_balance and not exists (
        select from wallet_transaction d where d.wallet_id = w.id and (d.transaction_reason = 'MANUAL_BALANCE_DEBIT'
          or d.metadata ? 'taken_back')))`,
  },
  {
    id: 'I7',
    rule: 'nothing of a lot is below zero or beyond its size, and only completed credits hold any',
    examines: `select count(*) from wallet_transaction where type = 'credit'`,
    violations: `
      with ${usedText}, taken as (select lot, wallet_id, sum(credits) as credits from used group by lot, wallet_id)
      select t.id as object, format('%s of %s left of a %s %s, %s taken', t.credits_available, t.credit_amount, t.transaction_status, t.type,
        coalesce(taken.credits, 0)) as problem
      from wallet_transaction t left join taken on taken.lot = t.id and taken.wallet_id = t.wallet_id
      where t.credits_available < 0 or t.credits_available + coalesce(taken.credits, 0) > t.credit_amount
        or (t.credits_available <> 0 and (t.type <> 'credit' or t.transaction_status <> 'completed'))`,
  },
  {
    id: 'I7',
    rule: 'a debit names the lots it took, of its own wallet, and takes more than they held only by hand or for money that left',
    examines: `select count(*) from wallet_transaction where type = 'debit'`,
    violations: `
      with ${usedText}, taken as (
        select used.debit, sum(used.credits) as credits, count(*) filter (where lot.id is null or position(used.lot in used.named) = 0) as unknown
        from used left join wallet_transaction lot on lot.id = used.lot and lot.wallet_id = used.wallet_id group by used.debit
      ), debit as (
        select d.id, d.credit_amount, d.transaction_reason = 'MANUAL_BALANCE_DEBIT' or d.metadata ? 'taken_back' as overdraws, coalesce(taken.credits, 0) as taken, coalesce(taken.unknown, 0) as unknown
        from wallet_transaction d left join taken on taken.debit = d.id where d.type = 'debit' and d.transaction_status = 'completed'
      )
      select id as object, format('%s credits of %s, %s from lots it does not name', taken, credit_amount, unknown) as problem
      from debit where unknown > 0 or taken > credit_amount or (taken < credit_amount and not overdraws)`,
  },
  {
    id: 'I7',
    rule: 'a purchase has its credits exactly when its invoice is paid',
    examines: 'select count(*) from invoice where purchase_id is not null',
    violations: `
      select i.id as object, format('%s, %s, purchase %s', i.invoice_status, i.payment_status, t.transaction_status) as problem
      from invoice i join wallet_transaction t on t.id = i.purchase_id
      where (i.payment_status in ('SUCCEEDED', 'OVERPAID') and i.invoice_status = 'FINALIZED' and t.transaction_status = 'pending')
        or (i.payment_status in ('PENDING', 'FAILED', 'PROCESSING', 'INITIATED') and t.transaction_status = 'completed')
        or (i.invoice_status = 'VOIDED' and t.transaction_status = 'pending')`,
  },
  {
    id: 'I7',
    rule: 'a purchase without an invoice has its credits exactly when its charge is captured, or its money goes back',
    examines: 'select count(*) from payment where purchase_id is not null',
    violations: `
      select p.id as object, format('%s of %s %s, purchase %s of a wallet in %s, %s given back', p.payment_status, p.amount, p.currency,
        t.transaction_status, t.currency, back.amount) as problem
      from payment p join wallet_transaction t on t.id = p.purchase_id cross join lateral (
        select coalesce(sum(r.amount), 0) as amount from refund r where r.environment_id = p.environment_id and r.payment_id = p.id
          and r.refund_status <> 'CANCELLED' and not r.metadata ? 'replaced_by'
      ) back
      where p.currency <> t.currency or p.destination_type <> 'CUSTOMER'
        or (p.payment_status in ('INITIATED', 'PENDING', 'PROCESSING') and t.transaction_status = 'completed')
        or (p.payment_status = 'FAILED' and t.transaction_status <> 'failed')
        or (p.succeeded_at is not null and (t.transaction_status = 'pending'
          or (t.transaction_status = 'failed' and back.amount <> p.amount)))`,
  },
  {
    id: 'I7',
    rule: 'what a wallet paid of an invoice is the debit of one payment that succeeded',
    examines: `select count(*) from payment where payment_method_type = 'CREDITS'`,
    violations: `
      select p.id as object, format('%s of %s, %s debits of %s in all', p.payment_status, p.amount, sums.debits, sums.amount) as problem
      from payment p cross join lateral (
        select count(*) as debits, coalesce(sum(d.amount), 0) as amount from wallet_transaction d where d.environment_id = p.environment_id
          and d.idempotency_key = p.id and d.transaction_reason = 'INVOICE_PAYMENT' and d.wallet_id = p.payment_method_id
      ) sums
      where p.payment_method_type = 'CREDITS'
        and (sums.debits <> (p.succeeded_at is not null)::int or (sums.debits = 1 and sums.amount <> p.amount))
      union all
      select d.id, format('takes credits for payment %s, which nobody has', d.idempotency_key) from wallet_transaction d
      where d.transaction_reason = 'INVOICE_PAYMENT' and not exists (
        select from payment p where p.id = d.idempotency_key and p.payment_method_type = 'CREDITS')`,
  },
  {
    id: 'I7',
    rule: 'a bonus stands as its purchase',
    examines: 'select count(*) from wallet_transaction where parent_transaction_id is not null',
    violations: `
      select b.id as object, format('%s beside a purchase that is %s', b.transaction_status, t.transaction_status) as problem
      from wallet_transaction b join wallet_transaction t on t.id = b.parent_transaction_id
      where b.transaction_status <> t.transaction_status`,
  },
  {
    id: 'I8',
    rule: 'no invoice is paid with credit that expired before its period ended',
    examines: `select count(*) from wallet_transaction where transaction_reason = 'CREDIT_ADJUSTMENT' and type = 'debit'`,
    violations: `
      with ${usedText}
      select used.debit as object, format('lot %s expired on %s, before %s', lot.id, lot.expiry_date, coalesce(i.period_end, used.occurred_at))
        as problem
      from used join wallet_transaction lot on lot.id = used.lot join invoice i on i.id = used.reference_id
      where used.reference_type = 'INVOICE' and lot.expiry_date < coalesce(i.period_end, used.occurred_at)`,
  },
  {
    id: 'I8',
    rule: 'what prepaid credits paid of an invoice was taken from wallets once, and went back once when it was voided',
    examines: 'select count(*) from invoice where total_prepaid_credits_applied > 0',
    violations: `
      select i.id as object, format('%s applied, %s taken, %s given back', i.total_prepaid_credits_applied, moved.taken, moved.returned)
        as problem
      from invoice i cross join lateral (
        select coalesce(sum(t.amount) filter (where t.type = 'debit'), 0) as taken,
          coalesce(sum(t.amount) filter (where t.type = 'credit' and t.idempotency_key in (i.id || '_prepaid', i.id || '_prepaid_taxed')), 0) as returned
        from wallet_transaction t where t.environment_id = i.environment_id and t.reference_type = 'INVOICE' and t.reference_id = i.id
          and t.transaction_status = 'completed'
      ) moved
      where moved.taken <> case when i.own_terms ->> 'importedCredits' is null then i.total_prepaid_credits_applied else 0 end
        or moved.returned <> case i.invoice_status when 'VOIDED' then i.total_prepaid_credits_applied else 0 end`,
  },
];
