import { graceSetting, type InvariantRule } from './invariant.ts';
import { isToldWhole } from './outbox-rules.ts';

const now = 'coalesce(k.frozen_time, clock_timestamp())';
const grace = `current_setting('${graceSetting}')::interval`;

/** A session with what it drafted. */
const drafted = `
  checkout_session s left join invoice i on i.id = s.checkout_invoice_id left join payment p on p.id = s.checkout_payment_id
  left join subscription u on u.id = s.subscription_id and s.action = 'create_subscription'
  left join wallet_transaction t on t.id = s.purchase_id`;
const problem = `format('%s, its invoice %s %s, its payment %s, its subscription %s %s, its purchase %s', s.checkout_status, i.status,
  i.invoice_status, p.payment_status, u.status, u.subscription_status, t.transaction_status)`;
/** The invoice was drafted with the session; one that was final before stays as it is. */
const isGated = '(i.checkout_session_id is not distinct from s.id)';
const ends = ['completed', 'failed', 'expired'];

/** I12 and I25: a checkout ends once, in time, with everything it drafted or nothing of it. */
export const checkoutRules: readonly InvariantRule[] = [
  {
    id: 'I12',
    rule: 'of a completed session everything came: a final invoice, its money, what was bought',
    examines: 'select count(*) from checkout_session',
    violations: `
      select s.id as object, ${problem} as problem from ${drafted}
      where s.checkout_status = 'completed' and (i.invoice_status = 'DRAFT' or (s.action <> 'save_method' and p.succeeded_at is null) or p.unapplied
        or (s.action = 'save_method' and not s.result -> 'save_method_result' ? 'payment_method_id')
        or u.subscription_status = 'draft' or t.transaction_status = 'pending')`,
  },
  {
    id: 'I12',
    rule: 'of a session that ended unpaid nothing is left, and money that came for it pays nothing',
    examines: 'select count(*) from checkout_session',
    violations: `
      select s.id as object, ${problem} as problem from ${drafted}
      where s.checkout_status in ('failed', 'expired') and ((${isGated} and (i.invoice_status <> 'VOIDED'
        or i.status <> 'archived' or i.invoice_number is not null)) or not (p.payment_status = 'FAILED' or p.unapplied) or u.status <> 'archived'
        or t.transaction_status <> 'failed')`,
  },
  {
    id: 'I12',
    rule: 'a session waits with everything it drafted, and ends once',
    examines: 'select count(*) from checkout_session',
    violations: `
      select s.id as object, ${problem} as problem from ${drafted}
      where s.checkout_status in ('initiated', 'pending') and ((${isGated} and (i.invoice_status <> 'DRAFT' or i.invoice_number is not null))
        or (not ${isGated} and i.invoice_status <> 'FINALIZED') or p.payment_status not in ('INITIATED', 'PENDING') or u.subscription_status <> 'draft' or t.transaction_status <> 'pending')
      union all
      select s.id, format('%s, told of %s ends', s.checkout_status, told.ends)
      from checkout_session s cross join lateral (
        select count(*) as ends from outbox_event e where e.environment_id = s.environment_id and e.entity_id = s.id
          and e.event_name in (${ends.map((end) => `'checkout.session.${end}'`).join(', ')})
      ) told where told.ends <> case when s.checkout_status in ('initiated', 'pending') then 0 else 1 end and ${isToldWhole('s')}`,
  },
  {
    id: 'I12',
    rule: 'a change of a subscription that its session pays waits until then, and never comes where that ends unpaid',
    examines: 'select count(*) from checkout_session where planned is not null',
    violations: `
      select s.id as object, format('%s, what it changes is %s', s.checkout_status, p.statuses) as problem
      from checkout_session s cross join lateral (
        select array_agg(distinct status) as statuses from (
          select case a.addon_status when 'pending' then 'draft' else a.status end as status from addon_association a where a.environment_id = s.environment_id and a.id = s.planned ->> 'associationId'
          union all
          select l.status from subscription_line_item l where l.environment_id = s.environment_id and l.subscription_id = s.subscription_id
            and (l.addon_association_id = s.planned ->> 'associationId'
              or l.id in (select i ->> 'copyId' from jsonb_array_elements(coalesce(s.planned -> 'items', '[]')) i))
        ) parts) p
      where s.planned is not null and case s.checkout_status when 'completed' then 'draft' = any(p.statuses)
        when 'failed' then p.statuses <> '{archived}' when 'expired' then p.statuses <> '{archived}' else p.statuses <> '{draft}' end`,
  },
  {
    id: 'I25',
    rule: 'no session can be paid a day and a quarter of an hour after its end',
    examines: 'select count(*) from checkout_session',
    violations: `
      select s.id as object, format('%s, it was to end at %s', s.checkout_status, s.expires_at) as problem
      from checkout_session s left join test_clock k on k.id = s.test_clock_id
      where s.checkout_status in ('initiated', 'pending') and k.target_time is null and s.completion_failed_at is null
        and s.expires_at + interval '24 hours 15 minutes' + ${grace} < ${now}`,
  },
  {
    id: 'I25',
    rule: 'a link that may be payable has somebody who looks after it',
    examines: 'select count(*) from checkout_session',
    violations: `
      select s.id as object, format('%s, its link is %s, and nothing on its agenda says so', s.checkout_status, s.link_state) as problem
      from checkout_session s left join agenda_entry a on a.environment_id = s.environment_id and a.object_type = 'checkout_session'
        and a.object_id = s.id
      where (s.checkout_status in ('initiated', 'pending') or s.link_state = 'open') and a.object_id is null`,
  },
];
