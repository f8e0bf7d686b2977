import type { InvariantRule } from './invariant.ts';

/**
 * I3. The periods of a subscription are those of its cycle and intermediate invoices, voided and skipped ones included, those
 * that a pause closed, those that are on its parent's invoices, and the one it is in; with a trial behind it, they begin at the trial's end.
 */
export const subscriptionRules: readonly InvariantRule[] = [
  {
    id: 'I3',
    rule: 'the periods of a subscription follow each other without gap or overlap',
    examines: 'select count(*) from subscription',
    violations: `
      with period as (
        select i.subscription_id, i.period_start, i.period_end from invoice i
        where i.billing_reason in ('SUBSCRIPTION_CYCLE', 'AUTO_INVOICE_THRESHOLD') and i.subscription_id is not null
        union
        select subscription_id, original_period_start, pause_start from subscription_pause where original_period_start < pause_start
        union
        select object_id, (detail ->> 'period_start')::timestamptz, (detail ->> 'period_end')::timestamptz from audit_entry
        where object_type = 'subscription' and (action like 'period closed%' or action = 'resumed') and detail ? 'merged_into'
          and detail ->> 'period_start' < detail ->> 'period_end'
        union
        select id, current_period_start, current_period_end from subscription
      ), line as (
        select s.id, s.subscription_status, p.period_start, p.period_end,
          case when s.trial_end is not null and s.current_period_start >= s.trial_end then s.trial_end else s.start_date end as began,
          lag(p.period_end) over (partition by s.id order by p.period_start, p.period_end) as before
        from subscription s join period p on p.subscription_id = s.id where s.subscription_type <> 'inherited'
      )
      select id as object, case when period_end < period_start or (period_end = period_start and subscription_status <> 'cancelled')
          then format('the period from %s to %s is empty', period_start, period_end)
        when before is null then format('the first period starts at %s, the subscription at %s', period_start, began)
        else format('a period starts at %s, the one before ends at %s', period_start, before) end as problem
      from line where period_start is distinct from coalesce(before, began) or period_end < period_start
        or (period_end = period_start and subscription_status <> 'cancelled')`,
  },
  {
    id: 'I3',
    rule: 'a subscription is in the period that follows the last one it closed',
    examines: `select count(distinct object_id) from audit_entry where object_type = 'subscription' and (action like 'period closed%' or action in ('paused', 'resumed', 'usage invoiced'))`,
    violations: `
      with last_closed as (
        select object_id, max((detail ->> 'period_end')::timestamptz) as closed_until from audit_entry
        where object_type = 'subscription' and (action like 'period closed%' or action in ('paused', 'resumed', 'usage invoiced')) group by object_id
      )
      select s.id as object, format('closed until %s, in the period from %s to %s', c.closed_until, s.current_period_start,
        s.current_period_end) as problem
      from subscription s join last_closed c on c.object_id = s.id
      where s.current_period_start <> c.closed_until
        and not (s.subscription_status = 'cancelled' and s.current_period_end = c.closed_until)`,
  },
  {
    id: 'I3',
    rule: 'an inherited subscription has the plan, status and period of its parent',
    examines: `select count(*) from subscription where subscription_type = 'inherited' and subscription_status <> 'cancelled'`,
    violations: `
      select c.id as object, format('%s from %s to %s on %s, its parent %s from %s to %s on %s', c.subscription_status, c.current_period_start,
        c.current_period_end, c.plan_id, p.subscription_status, p.current_period_start, p.current_period_end, p.plan_id) as problem
      from subscription c left join subscription p on p.environment_id = c.environment_id and p.id = c.parent_subscription_id
      where c.subscription_type = 'inherited' and c.subscription_status <> 'cancelled'
        and (p.subscription_status, p.current_period_start, p.current_period_end, p.plan_id)
          is distinct from (c.subscription_status, c.current_period_start, c.current_period_end, c.plan_id)`,
  },
];
