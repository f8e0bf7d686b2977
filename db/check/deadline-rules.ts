import { lifecycleKinds } from '../../lifecycles/kinds.ts';
import { graceSetting, type InvariantRule } from './invariant.ts';

const now = 'coalesce(c.frozen_time, clock_timestamp())';
const grace = `current_setting('${graceSetting}')::interval`;

/** Kinds of object whose row tells when it changed last, each with the table it is joined as. */
const changing = Object.entries(lifecycleKinds).flatMap(([kind, { entity, changedColumn }], index) =>
  changedColumn === null ? [] : [{ kind, entity, row: `o${index}`, changedAt: `o${index}.${changedColumn}` }],
);

/**
 * I18. Time is the object's: a test clock that advances is on its way and counts as standing at its frozen time. `grace` is
 * what work under way may take, in real time, because nothing waits on a clock that stands still.
 */
export const deadlineRules: readonly InvariantRule[] = [
  {
    id: 'I18',
    rule: 'what is due is done, or parked with a reason',
    examines: 'select count(*) from agenda_entry',
    // On a clock that stands still an entry is as old as the last change of its object.
    violations: `
      with due as (
        select a.*, c.frozen_time, greatest(${changing.map(({ changedAt }) => changedAt).join(', ')}) as changed_at
        from agenda_entry a left join test_clock c on c.id = a.test_clock_id
        ${changing.map(({ kind, entity, row }) => `left join ${entity} ${row} on ${row}.id = a.object_id and a.object_type = '${kind}'`).join(' ')}
        where a.due_at <= ${now} and c.target_time is null and not exists (
          select from parked_object o where o.environment_id = a.environment_id and o.object_type = a.object_type and o.object_id = a.object_id)
      )
      select object_id as object, format('%s %s was due at %s', object_type, kind, due_at) as problem from due
      where clock_timestamp() - greatest(changed_at, case when frozen_time is null then due_at end) > ${grace}`,
  },
  {
    id: 'I18',
    rule: 'no payment waits for its gateway for more than a day unnoticed; for its payer it may, and is asked about',
    examines: `select count(*) from payment where payment_status = 'PROCESSING'`,
    violations: `
      select p.id as object, format('PROCESSING since %s', sent.at) as problem
      from payment p left join test_clock c on c.id = p.test_clock_id cross join lateral (
        select max(a.occurred_at) as at from audit_entry a where a.environment_id = p.environment_id and a.object_id = p.id
      ) sent
      where p.payment_status = 'PROCESSING' and sent.at + interval '24 hours' + ${grace} < ${now} and c.target_time is null
        and not exists (select from parked_object o where o.object_type = 'payment' and o.object_id = p.id)
        and not (p.awaits_payer_since is not null and exists (select from agenda_entry a
          where a.environment_id = p.environment_id and a.object_type = 'payment' and a.object_id = p.id))`,
  },
  {
    id: 'I18',
    rule: 'no price sync runs for longer than two hours',
    examines: `select count(*) from price_sync where sync_status = 'running'`,
    violations: `
      select id as object, format('running since %s; start another, which goes on where it stopped', created_at) as problem
      from price_sync where sync_status = 'running' and created_at + interval '2 hours' + ${grace} < clock_timestamp()`,
  },
  {
    id: 'I18',
    rule: 'no clone of an environment stands still for more than an hour',
    examines: `select count(*) from environment_clone where clone_status = 'running'`,
    violations: `
      select id as object, format('at %s behind "%s" since %s; its workflow tells why', entity_type, after_id, updated_at) as problem
      from environment_clone where clone_status = 'running' and updated_at + interval '1 hour' + ${grace} < clock_timestamp()`,
  },
  {
    id: 'I18',
    rule: 'whatever lives has something to wait for',
    examines: `select count(*) from subscription where subscription_status in ('trialing', 'active')`,
    violations: `
      select s.id as object, format('%s, and nothing on its agenda ends the period', s.subscription_status) as problem
      from subscription s where s.status = 'published' and s.subscription_status in ('trialing', 'active')
        and s.subscription_type not in ('inherited', 'grouped_invoicing') and not exists (
        select from agenda_entry a where a.environment_id = s.environment_id and a.object_type = 'subscription' and a.object_id = s.id
          and a.kind in ('closePeriod', 'endTrial') and a.due_at = s.current_period_end)`,
  },
];
