import type { InvariantRule } from './invariant.ts';

const live = `('PENDING', 'PROCESSING', 'SUCCEEDED')`;

/** I6 and I22 of credit notes, refunds and disputes: what an invoice counts as credited and given back is what documents and rows say. */
export const refundRules: readonly InvariantRule[] = [
  {
    id: 'I6',
    rule: 'a credit note is the sum of its lines, and has the currency of its invoice',
    examines: 'select count(*) from credit_note',
    violations: `
      select n.id as object, format('%s %s on an invoice in %s, the lines sum to %s', n.total_amount, n.currency, i.currency, sums.amount) as problem
      from credit_note n join invoice i on i.id = n.invoice_id cross join lateral (
        select coalesce(sum(l.amount), 0) as amount from credit_note_line_item l
        where l.environment_id = n.environment_id and l.credit_note_id = n.id
      ) sums
      where n.total_amount <> sums.amount or n.currency <> i.currency`,
  },
  {
    id: 'I6',
    rule: 'no invoice line is credited above its amount',
    examines: 'select count(*) from credit_note_line_item',
    violations: `
      select l.id as object, format('%s credited of %s', sum(c.amount), l.amount) as problem
      from credit_note_line_item c join credit_note n on n.id = c.credit_note_id and n.credit_note_status <> 'VOIDED'
      join invoice_line_item l on l.id = c.invoice_line_item_id
      group by l.id, l.amount having sum(c.amount) > l.amount`,
  },
  {
    id: 'I6',
    rule: 'what an invoice is adjusted by is the sum of its adjustments',
    examines: 'select count(*) from invoice',
    violations: `
      select i.id as object, format('adjusted by %s, credit notes sum to %s', i.adjustment_amount, sums.amount) as problem
      from invoice i cross join lateral (
        select coalesce(sum(n.total_amount), 0) as amount from credit_note n where n.environment_id = i.environment_id
          and n.invoice_id = i.id and n.credit_note_type = 'ADJUSTMENT' and n.credit_note_status = 'FINALIZED'
      ) sums
      where i.adjustment_amount <> sums.amount`,
  },
  {
    id: 'I6',
    rule: 'what an invoice counts as given back is the sum of its refund notes, of what the end of a wallet returned and of what was given back at a gateway itself, or all that was paid of a voided one',
    examines: 'select count(*) from invoice',
    violations: `
      select i.id as object, format('%s given back of %s paid, credit notes, ends of wallets and refunds made elsewhere sum to %s', i.refunded_amount, i.amount_paid,
        sums.amount) as problem
      from invoice i cross join lateral (
        select coalesce((select sum(n.total_amount) from credit_note n where n.environment_id = i.environment_id
            and n.invoice_id = i.id and n.credit_note_type = 'REFUND' and n.credit_note_status = 'FINALIZED'), 0)
          + coalesce((select sum(r.amount) from refund r where r.environment_id = i.environment_id and r.invoice_id = i.id
            and r.metadata ? 'terminated_wallet_id' and r.refund_status <> 'CANCELLED' and not r.metadata ? 'replaced_by'), 0)
          + coalesce((select sum((r.metadata->>'counted_amount')::numeric) from refund r where r.environment_id = i.environment_id
            and r.invoice_id = i.id and r.metadata ? 'made_at' and not r.metadata ? 'replaced_by'), 0) as amount
      ) sums
      where i.refunded_amount > i.amount_paid or i.refunded_amount < sums.amount
        or (i.invoice_status <> 'VOIDED' and i.refunded_amount <> sums.amount)`,
  },
  {
    id: 'I6',
    rule: 'a finalized refund note has refunds of its amount, those replaced and cancelled not counted',
    examines: `select count(*) from credit_note where credit_note_type = 'REFUND' and credit_note_status = 'FINALIZED'`,
    violations: `
      select n.id as object, format('%s promised, refunds sum to %s', n.total_amount, sums.amount) as problem
      from credit_note n cross join lateral (
        select coalesce(sum(r.amount), 0) as amount from refund r where r.environment_id = n.environment_id and r.credit_note_id = n.id
          and r.refund_status <> 'CANCELLED' and not r.metadata ? 'replaced_by'
      ) sums
      where n.credit_note_type = 'REFUND' and n.credit_note_status = 'FINALIZED' and n.total_amount <> sums.amount`,
  },
  {
    id: 'I6',
    rule: 'a payment gives back no more than it took, unless its gateway did meanwhile, and shows what came back',
    examines: `select count(*) from payment where succeeded_at is not null`,
    violations: `
      select p.id as object, format('%s of %s, %s given back, %s with what is under way', p.payment_status, p.amount, sums.done, sums.live) as problem
      from payment p cross join lateral (
        select coalesce(sum(r.amount) filter (where r.refund_status = 'SUCCEEDED'), 0) as done,
          coalesce(sum(r.amount) filter (where r.refund_status in ${live}), 0) as live,
          coalesce(bool_or(r.metadata ? 'made_at'), false) as is_made_elsewhere
        from refund r where r.environment_id = p.environment_id and r.payment_id = p.id
      ) sums
      where sums.done > p.amount or (sums.live > p.amount and not sums.is_made_elsewhere) or (p.payment_status = 'REFUNDED') <> (sums.done > 0 and sums.done = p.amount)
        or (p.payment_status = 'PARTIALLY_REFUNDED') <> (sums.done > 0 and sums.done < p.amount)`,
  },
  {
    id: 'I22',
    rule: 'a lost dispute has the refund of its amount, and no other dispute has one',
    examines: 'select count(*) from dispute',
    violations: `
      select d.id as object, format('%s, with %s given back', d.dispute_status, coalesce(r.amount::text, 'nothing')) as problem
      from dispute d left join refund r on r.id = d.refund_id and r.payment_id = d.payment_id and r.metadata->>'dispute_id' = d.id
      where (d.dispute_status = 'lost') <> (r.id is not null) or r.amount <> d.amount or (d.closed_at is null) <> (d.dispute_status = 'open')`,
  },
];
