import { documentDigestText, paperDigestText } from '../rows/document-digest.ts';
import type { InvariantRule } from './invariant.ts';

const notEqual = (stored: string, computed: string) => `${stored} is distinct from ${computed}`;

/**
 * I1, I2, I6, I13 and I19: what invoices say about periods, numbers and amounts. I13 is the bound that has a meaning in
 * stored rows: no time of a charge is billed twice. Wallets are compared elsewhere: of I6 only their totals on the
 * invoice and its lines are compared here.
 */
export const invoiceRules: readonly InvariantRule[] = [
  {
    id: 'I1',
    rule: 'a subscription has one live invoice for a period and reason',
    // What a change charges at once is a ONE_OFF invoice, and two changes may fall on one instant.
    examines: `select count(*) from invoice where subscription_id is not null and invoice_type = 'SUBSCRIPTION'`,
    violations: `
      select min(id) as object, format('%s live invoices of subscription %s for %s from %s: %s', count(*), subscription_id,
        billing_reason, period_start, string_agg(id, ', ' order by id)) as problem
      from invoice where subscription_id is not null and invoice_status <> 'VOIDED' and invoice_type = 'SUBSCRIPTION'
      group by environment_id, subscription_id, period_start, period_end, billing_reason having count(*) > 1`,
  },
  {
    id: 'I1',
    rule: 'every closed period has its invoice, skipped or voided ones included',
    examines: `select count(*) from audit_entry where object_type = 'subscription' and action like 'period closed%'`,
    violations: `
      select a.object_id as object, format('the period from %s to %s was closed without an invoice',
        a.detail ->> 'period_start', a.detail ->> 'period_end') as problem
      from audit_entry a
      where a.object_type = 'subscription' and a.action like 'period closed%' and not exists (
        select from invoice i where i.environment_id = a.environment_id
          and i.subscription_id = coalesce(a.detail ->> 'merged_into', a.object_id) and i.billing_reason = 'SUBSCRIPTION_CYCLE'
          and (a.detail ? 'merged_into' or i.period_start = (a.detail ->> 'period_start')::timestamptz)
          and i.period_end = (a.detail ->> 'period_end')::timestamptz)`,
  },
  {
    id: 'I2',
    rule: 'an invoice has a number exactly when it was finalized',
    examines: 'select count(*) from invoice',
    violations: `
      select id as object, case when invoice_number is null then 'finalized without a number'
        else format('%s has the number %s and was never finalized', invoice_status, invoice_number) end as problem
      from invoice where ((finalized_at is null) <> (invoice_number is null) and own_terms ->> 'invoiceNumber' is null)
        or (invoice_status = 'FINALIZED' and finalized_at is null)`,
  },
  {
    id: 'I2',
    rule: 'no number is given twice',
    examines: 'select count(*) from invoice where invoice_number is not null',
    violations: `
      select min(id) as object, format('number %s is on %s', invoice_number, string_agg(id, ', ' order by id)) as problem
      from invoice where invoice_number is not null group by environment_id, invoice_number having count(*) > 1`,
  },
  {
    id: 'I2',
    rule: 'the numbers of a date key have no gap',
    examines: `select count(*) from invoice_number_sequence where date_key not like 'credit-note/%'`,
    // The digits after the date key, whatever prefix and separator were in force when the number was given. A number that a
    // caller gave fills a gap of the sequence, which passed over it, and says nothing of the sequence elsewhere.
    violations: `
      with numbers as (
        select s.environment_id, s.date_key, s.last, i.own_terms ->> 'invoiceNumber' is not null as by_caller,
          substring(i.invoice_number from s.date_key || '[^0-9]*([0-9]+)$')::numeric as number
        from invoice_number_sequence s left join invoice i
          on i.environment_id = s.environment_id and i.invoice_number ~ (s.date_key || '[^0-9]*[0-9]+$')
        where s.date_key not like 'credit-note/%'
      ), given as (
        select * from (
          select *, min(number) filter (where not by_caller) over (partition by environment_id, date_key) as first from numbers
        ) n where number is null or number between first and last
      )
      select environment_id as object, format('of date key %s %s numbers up to %s are on invoices, the last is %s',
        date_key, count(distinct number), coalesce(max(number)::text, 'none'), last) as problem
      from given group by environment_id, date_key, last
      having count(distinct number) <> last - coalesce(min(number), last) + 1 or max(number) is distinct from last`,
  },
  {
    id: 'I2',
    rule: 'the numbers of the credit notes of a month have no gap',
    examines: `select count(*) from invoice_number_sequence where date_key like 'credit-note/%'`,
    // A number that a caller gave counts where the sequence passed over it, and says nothing of the sequence beyond its last.
    violations: `
      select s.environment_id as object, format('of credit notes of month %s %s numbers up to %s exist', s.month, count(distinct c.number), s.last) as problem
      from (select environment_id, last, split_part(date_key, '/', 2) as month from invoice_number_sequence
        where date_key like 'credit-note/%') s
      left join lateral (
        select substring(credit_note_number from '^CN-' || s.month || '([0-9]{5,})$')::numeric as number from credit_note
        where environment_id = s.environment_id
      ) c on c.number between 1 and s.last
      group by s.environment_id, s.month, s.last having count(distinct c.number) <> s.last`,
  },
  {
    id: 'I6',
    rule: 'subtotal, discounts and credits are the sums of the lines',
    examines: 'select count(*) from invoice_line_item',
    violations: `
      select i.id as object, format('subtotal %s, discount %s, credits %s; the lines sum to %s, %s, %s', i.subtotal, i.total_discount,
        i.total_prepaid_credits_applied, sums.amount, sums.discount, sums.credits) as problem
      from invoice i cross join lateral (
        select coalesce(sum(l.amount), 0) as amount, coalesce(sum(l.line_item_discount + l.invoice_level_discount), 0) as discount,
          coalesce(sum(l.prepaid_credits_applied), 0) as credits
        from invoice_line_item l where l.environment_id = i.environment_id and l.invoice_id = i.id and l.status = 'published'
      ) sums
      where ${notEqual('i.subtotal', 'sums.amount')} or ${notEqual('i.total_discount', 'sums.discount')}
        or ${notEqual('i.total_prepaid_credits_applied', 'sums.credits')}`,
  },
  {
    id: 'I6',
    rule: 'total, due, remaining and overpaid follow from each other and none is below zero',
    examines: 'select count(*) from invoice',
    violations: `
      select id as object, format('subtotal %s, discount %s, credits %s, exclusive tax %s, total %s, adjusted %s, due %s, paid %s, remaining %s, overpaid %s, %s',
        subtotal, total_discount, total_prepaid_credits_applied, tax.exclusive, total, adjustment_amount, amount_due, amount_paid,
        amount_remaining, overpaid_amount, payment_status) as problem
      from invoice cross join lateral (
        select coalesce(sum(t.tax_amount), 0) as exclusive from tax_applied t
        where t.environment_id = invoice.environment_id and t.entity_id = invoice.id and t.tax_behavior = 'exclusive'
      ) tax
      where total <> greatest(subtotal - total_discount - total_prepaid_credits_applied + tax.exclusive, 0)
        or amount_due <> total - adjustment_amount or amount_remaining <> greatest(amount_due - amount_paid, 0)
        or overpaid_amount <> greatest(amount_paid - amount_due, 0) or amount_paid < 0 or refunded_amount < 0
        or (payment_status in ('SUCCEEDED', 'OVERPAID') and amount_remaining <> 0)
        or (payment_status = 'OVERPAID') < (overpaid_amount > 0 and payment_status in ('PENDING', 'FAILED', 'SUCCEEDED'))`,
  },
  {
    id: 'I6',
    rule: 'the discount of an invoice is the sum of what its coupons took off',
    examines: 'select count(*) from invoice',
    violations: `
      select i.id as object, format('discount %s, coupons sum to %s', i.total_discount, sums.discount) as problem
      from invoice i cross join lateral (
        select coalesce(sum(p.discounted_amount), 0) as discount from coupon_application p
        where p.environment_id = i.environment_id and p.invoice_id = i.id
      ) sums
      where i.total_discount <> sums.discount`,
  },
  {
    id: 'I13',
    rule: 'a coupon is counted as often as it was redeemed, and never more often than it may be; once is once',
    examines: 'select count(*) from coupon',
    violations: `
      select c.id as object, format('counted %s of %s, redeemed %s times', c.total_redemptions, coalesce(c.max_redemptions::text, 'any'),
        (select count(*) from coupon_association a where a.coupon_id = c.id and a.status <> 'deleted')) as problem
      from coupon c where c.total_redemptions <> (select count(*) from coupon_association a where a.coupon_id = c.id and a.status <> 'deleted')
        or c.total_redemptions > c.max_redemptions
      union all
      select p.coupon_association_id, format('a once coupon is on %s live invoices', count(distinct p.invoice_id))
      from coupon_application p join coupon c on c.id = p.coupon_id and c.cadence = 'once'
      where p.status = 'published' group by p.coupon_association_id having count(distinct p.invoice_id) > 1`,
  },
  {
    id: 'I6',
    rule: 'the tax of an invoice is the sum of its tax rows, and without a row there is a reason',
    examines: 'select count(*) from invoice',
    violations: `
      select i.id as object, format('total tax %s, %s rows sum to %s, taxed on %s to %s, reason %s', i.total_tax, sums.n, sums.tax,
        sums.lowest, sums.highest, coalesce(i.no_tax_reason, 'none')) as problem
      from invoice i cross join lateral (
        select count(*) as n, coalesce(sum(t.tax_amount), 0) as tax, min(t.taxable_amount) as lowest, max(t.taxable_amount) as highest,
          coalesce(sum(t.tax_amount) filter (where t.tax_behavior = 'inclusive'), 0) as inclusive
        from tax_applied t where t.environment_id = i.environment_id and t.entity_id = i.id
      ) sums
      where i.total_tax <> sums.tax or (sums.n = 0) <> (i.no_tax_reason is not null) or sums.lowest <> sums.highest
        or (sums.n > 0 and sums.highest + sums.inclusive <> i.subtotal - i.total_discount - i.taxed_credits_applied)`,
  },
  {
    id: 'I6',
    rule: 'what is paid of an invoice is the sum of its captured payments and of what was written down by hand',
    examines: `select count(*) from payment where destination_type = 'INVOICE'`,
    violations: `
      select i.id as object, format('paid %s, %s of it by hand, captured payments sum to %s', i.amount_paid, i.amount_paid_by_hand, sums.captured) as problem
      from invoice i cross join lateral (
        select coalesce(sum(p.amount), 0) as captured from payment p
        where p.environment_id = i.environment_id and p.destination_type = 'INVOICE' and p.destination_id = i.id
          and not p.unapplied and p.payment_status in ('SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED')
      ) sums
      where i.amount_paid <> sums.captured + i.amount_paid_by_hand`,
  },
  {
    id: 'I6',
    rule: 'lines, taxes and payments have the currency of their invoice',
    examines:
      'select (select count(*) from invoice_line_item) + (select count(*) from payment) + (select count(*) from tax_applied)',
    violations: `
      select part.id as object, format('in %s, its invoice %s in %s', part.currency, i.id, i.currency) as problem
      from (select id, invoice_id, currency from invoice_line_item
        union all select id, entity_id, currency from tax_applied
        union all select id, invoice_id, currency from coupon_application
        union all select id, destination_id, currency from payment where destination_type = 'INVOICE' and not unapplied) part
      join invoice i on i.id = part.invoice_id where part.currency <> i.currency`,
  },
  {
    id: 'I6',
    rule: 'the amount of a line is the one its derivation ends with',
    examines: 'select count(*) from invoice_line_item where derivation is not null',
    violations: `
      select l.id as object, format('the amount is %s, its derivation says %s and its parts sum to %s', l.amount,
        l.derivation ->> 'amount', parts.amount) as problem
      from invoice_line_item l join invoice i on i.id = l.invoice_id cross join lateral (
        select coalesce(sum((part ->> 'amount')::numeric), 0) as amount from jsonb_array_elements(l.derivation -> 'parts') part
      ) parts
      where l.derivation is not null and l.status = 'published' and not i.is_manually_edited
        and (${notEqual('l.amount', "(l.derivation ->> 'amount')::numeric")} or ${notEqual('l.amount', 'parts.amount')})`,
  },
  {
    id: 'I6',
    rule: 'a line keeps the custom currency and the rate its derivation was converted with, and a final invoice one rate of each',
    examines: 'select count(*) from invoice_line_item where derivation is not null',
    violations: `
      select l.id as object, format('in %s at %s, its derivation in %s at %s, its invoice at %s', l.price_unit_id, l.conversion_rate,
        unit ->> 'id', unit ->> 'rate', kept ->> 'conversion_rate') as problem
      from invoice_line_item l join invoice i on i.id = l.invoice_id
      cross join lateral (select nullif(l.derivation -> 'price' -> 'price_unit', 'null') as unit) of_derivation
      left join lateral jsonb_array_elements(i.price_unit_totals) as of_invoice(kept) on kept ->> 'price_unit_id' = l.price_unit_id
      where l.derivation is not null and l.status = 'published' and not i.is_manually_edited
        and (${notEqual('l.price_unit_id', "unit ->> 'id'")} or ${notEqual('l.conversion_rate', "(unit ->> 'rate')::numeric")}
          or (i.finalized_at is not null and ${notEqual('l.conversion_rate', "(kept ->> 'conversion_rate')::numeric")}))`,
  },
  {
    id: 'I13',
    rule: 'no time of a charge is billed by two lines',
    examines: 'select count(*) from invoice_line_item where subscription_line_item_id is not null',
    violations: `
      with billed as (
        select l.id, l.invoice_id, l.period_start, max(coalesce(given_back.since, l.period_end)) over earlier as billed_until,
          first_value(l.id) over earlier as first_id
        from invoice_line_item l join invoice i on i.id = l.invoice_id and i.environment_id = l.environment_id
        -- What a pause gave back may be charged again by the resume.
        left join lateral (
          select min(p.effective_at) as since from subscription_proration p
          where p.environment_id = l.environment_id and p.subscription_line_item_id = l.subscription_line_item_id and p.side = 'credit'
            and p.amount > 0 and p.created_at > l.created_at and p.effective_at >= l.period_start and p.effective_at < l.period_end
        ) given_back on true
        where i.invoice_status in ('DRAFT', 'FINALIZED') and l.status = 'published' and l.subscription_line_item_id is not null
          and l.amount >= 0 and l.period_end > l.period_start and i.billing_reason <> 'SUBSCRIPTION_TRIAL_START'
        window earlier as (partition by l.environment_id, l.subscription_line_item_id, l.metadata ->> 'is_overage' order by l.period_start, l.id
          rows between unbounded preceding and 1 preceding)
      )
      select id as object, format('invoice %s bills from %s what is billed until %s', invoice_id, period_start, billed_until) as problem
      from billed where billed_until > period_start`,
  },
  {
    id: 'I19',
    rule: 'a finalized document is what it was when it was finalized',
    examines: 'select count(*) from invoice where finalized_at is not null',
    violations: `
      with issued as (
        select distinct on (object_id) object_id, detail ->> 'document' as digest from audit_entry
        where object_type = 'invoice' and action = 'finalized' order by object_id, id desc
      ), documents as (${documentDigestText('i.finalized_at is not null')})
      select d.id as object, case when issued.digest is null then 'finalized without the digest of its document in the audit'
        else 'the document differs from the one that was finalized' end as problem
      from documents d left join issued on issued.object_id = d.id
      where issued.digest is distinct from d.digest`,
  },
  {
    id: 'I19',
    rule: 'the seals of a number sequence are a chain, and each is of the document that was finalized',
    examines: 'select count(*) from invoice_document',
    violations: `
      with linked as (
        select d.*, lag(d.hash) over chained as before, lag(d.position) over chained as position_before,
          (select detail ->> 'document' from audit_entry a where a.environment_id = d.environment_id and a.object_id = d.invoice_id
            and a.object_type = 'invoice' and a.action = 'finalized' order by id desc limit 1) as audited
        from invoice_document d window chained as (partition by d.environment_id, d.chain order by d.position)
      )
      select invoice_id as object, format('seal %s of %s: previous %s, before it %s', position, chain, previous_hash, before) as problem
      from linked where (position is null and previous_hash is not null)
        or (position is not null and (previous_hash is distinct from before or position <> coalesce(position_before, 0) + 1))
        or hash <> encode(sha256(convert_to(coalesce(previous_hash, '') || digest, 'UTF8')), 'hex') or audited is distinct from digest
      union all
      select i.id, 'finalized without a seal' from invoice i
      where i.finalized_at is not null and not exists (select from invoice_document d where d.invoice_id = i.id)`,
  },
  {
    id: 'I19',
    rule: 'what issued documents show is kept with them, and is what it was',
    examines: 'select count(*) from document_paper',
    violations: `
      select i.id as object, 'issued without what it shows' as problem from invoice i
      where i.finalized_at is not null and not exists (select from document_paper p where p.document_id = i.id)
      union all
      select n.id, 'issued without what it shows' from credit_note n
      where n.finalized_at is not null and not exists (select from document_paper p where p.document_id = n.id)
      union all
      select d.digest, 'is not the party it was' from document_content d
      where d.digest <> encode(sha256(convert_to(d.content::text, 'UTF8')), 'hex')
      union all
      select p.document_id, 'shows a party that is not kept' from document_paper p
      where (select count(distinct d.digest) from document_content d where d.environment_id = p.environment_id and d.digest in (p.seller, p.customer)) < 2
      union all
      select p.document_id, 'what it shows differs from what its audit says' from document_paper p
      where not p.is_sealed and ${paperDigestText} is distinct from (select a.detail ->> 'paper' from audit_entry a
        where a.environment_id = p.environment_id and a.object_id = p.document_id and a.detail ? 'paper' order by a.id desc limit 1)`,
  },
];
