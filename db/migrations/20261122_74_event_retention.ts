import { Migration } from '@mikro-orm/migrations';

/**
 * Months of events that are dropped when they are older than the operator keeps them: what is still needed of them, what was
 * dropped, and until when the events of a customer are incomplete. Roll-ups and the keys that make events unique stay, so
 * nothing changes its quantity and no id can count twice. design: usage.md Tables
 */
export class Migration20261122_74_event_retention extends Migration {
  override up(): void {
    for (const text of [...tables, needed, judge, dropPartition]) this.addSql(text);
    for (const table of ['dropped_usage', 'dropped_partition']) {
      const setting = `current_setting('perennial.environment_id', true)`;
      const own = `env = (select number from public.environment where id = ${setting}) or (select ${setting}) = '*'`;
      this.addSql(`alter table usage.${table} enable row level security`);
      this.addSql(`create policy ${table}_scope on usage.${table} using (${own}) with check (${own})`);
    }
  }
}

const tables = [
  // Events of the subject and name before that instant may be gone.
  `create table usage.dropped_usage (
    env int not null, subject bigint not null, event_name int not null, dropped_until timestamptz not null,
    primary key (env, subject, event_name))`,
  `create table usage.dropped_partition (
    id bigint generated always as identity primary key, env int not null, part text not null, before timestamptz not null,
    event_count bigint not null, kept_count bigint not null, greatest_seq bigint, dropped_at timestamptz not null default now())`,
];

// Whose events are needed since when; event_name null: of every name. What is not final yet: the running period of a
// subscription that was not cancelled, drafts, and what is counted since a line or a subscription began. A customer's need is
// also that of the customers whose usage is folded into it. spec: subscriptions-and-invoicing §2, catalogue-and-metering §7.1
const needed = `
create function usage.needed_usage() returns table (env int, subject bigint, event_name int, since timestamptz)
language sql stable set search_path = pg_catalog as $$
with live as (
  select environment_id, id, customer_id, start_date,
    case when test_clock_id is null then coalesce(current_period_start, start_date) else start_date end as since
  from public.subscription where subscription_status <> 'cancelled'
), need as (
  select environment_id, customer_id, null::text as event_name, since from live
  union all
  select i.environment_id, coalesce(i.subscription_customer_id, i.customer_id), null,
    least(i.period_start, (select min(l.period_start) from public.invoice_line_item l where l.invoice_id = i.id))
  from public.invoice i where i.finalized_at is null and i.voided_at is null and i.invoice_status not in ('SKIPPED', 'VOIDED')
  union all
  select live.environment_id, live.customer_id, m.event_name, l.start_date
  from live join public.subscription_line_item l on l.subscription_id = live.id join public.meter m on m.id = l.meter_id
  where m.reset_usage = 'NEVER' or l.billing_period_count > 1
  union all
  select live.environment_id, live.customer_id, m.event_name, live.start_date
  from live join public.entitlement e on e.environment_id = live.environment_id and e.usage_reset_period = 'NEVER'
  join public.feature f on f.id = e.feature_id join public.meter m on m.id = f.meter_id
), customer_need as (
  select c.environment_id, c.number, c.external_id, c.status, need.event_name, need.since
  from need join public.customer c on c.environment_id = need.environment_id and (c.id = need.customer_id
    or c.parent_customer_id = need.customer_id or c.id in (
      select child.customer_id from public.subscription child join public.subscription parent on parent.id = child.parent_subscription_id
      where parent.customer_id = need.customer_id))
)
select s.env, s.number, n.number, min(c.since)
from customer_need c join public.environment on environment.id = c.environment_id
join usage.subject s on s.env = environment.number and (s.holder = c.number
  or s.holder is null and c.status = 'published' and s.external_id = c.external_id)
left join usage.event_name n on n.env = environment.number and n.name = c.event_name
where c.event_name is null or n.number is not null
group by s.env, s.number, n.number $$`;

// What of the events of \`part\` is to be kept: what tells a time that is kept or ahead, and what is needed.
const judge = `
create function usage.kept_condition(before timestamptz) returns text language sql immutable set search_path = pg_catalog as
$$ select format('(e.ts >= %L or exists (select from pg_temp.needed n where n.env = abs(e.env) and n.subject = e.subject
   and (n.event_name is null or n.event_name = e.event_name) and e.ts >= n.since))', before) $$`;

// One transaction a partition. Nobody voids meanwhile; writers write to other partitions. The lock on all of usage.event,
// which the last moments need, is asked for with a short patience, so that ingestion never stands still behind it.
const dropPartition = `
create function usage.drop_old_events(part text, before timestamptz) returns bigint language plpgsql security definer
set search_path = pg_catalog set timezone = 'UTC' set lock_timeout = '2s' as $$
declare
  kept text := usage.kept_condition(before);
  old text;
  total bigint;
begin
  perform pg_advisory_xact_lock(7100, 0);
  if to_regclass('usage.' || quote_ident(part)) is null then return 0; end if;
  if part <> 'event_default' and (part !~ '^event_[0-9]{6}$'
    or to_date(substring(part from 7), 'YYYYMM') + interval '1 month' > before) then
    raise exception 'partition % holds events that are not old', part;
  end if;
  old := format('usage.%I e where e.ingested_at < %L', part, before);
  execute format('lock table usage.%I in share row exclusive mode', part);
  create temp table needed on commit drop as select * from usage.needed_usage();
  create index on pg_temp.needed (env, subject);
  analyze pg_temp.needed;
  execute format('create temp table judged on commit drop as
    select abs(e.env) as env, e.subject, e.event_name, max(e.ts) filter (where not %1$s) as dropped_until, max(e.seq) filter (where not %1$s) as greatest_seq,
      count(*) filter (where not %1$s) as event_count, count(*) filter (where %1$s) as kept_count
    from %2$s group by 1, 2, 3', kept, old);
  select sum(event_count) into total from pg_temp.judged;
  if part = 'event_default' and coalesce(total, 0) = 0 then
    drop table pg_temp.needed, pg_temp.judged;
    return 0;
  end if;
  insert into usage.dropped_usage as d (env, subject, event_name, dropped_until)
  select env, subject, event_name, dropped_until + interval '1 microsecond' from pg_temp.judged where event_count > 0
  on conflict on constraint dropped_usage_pkey do update set dropped_until = greatest(d.dropped_until, excluded.dropped_until);
  insert into usage.dropped_partition (env, part, before, event_count, kept_count, greatest_seq)
  select env, drop_old_events.part, drop_old_events.before, sum(event_count), sum(kept_count), max(greatest_seq) from pg_temp.judged group by env;
  if part = 'event_default' then
    execute format('delete from %s and not %s', old, kept);
  else
    execute format('create temp table kept_event on commit drop as select * from usage.%I e where %s', part, kept);
    execute format('alter table usage.event detach partition usage.%I', part);
    execute format('drop table usage.%I', part);
    insert into usage.event select * from pg_temp.kept_event;
    drop table pg_temp.kept_event;
  end if;
  drop table pg_temp.needed, pg_temp.judged;
  return coalesce(total, 0);
end $$`;
