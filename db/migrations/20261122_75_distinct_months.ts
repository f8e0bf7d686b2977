import { Migration } from '@mikro-orm/migrations';

/**
 * On which days of a month each distinct value was met, one row a value and month: a question about weeks reads a row a value,
 * not one a value and day, however many events there are. A trigger derives it from the days in the statement that writes them.
 * design: usage.md Reading
 */
export class Migration20261122_75_distinct_months extends Migration {
  override up(): void {
    for (const text of [table, added, removed, ...triggers, backfill]) this.addSql(text);
    const setting = `current_setting('perennial.environment_id', true)`;
    const own = `env = (select number from public.environment where id = ${setting}) or (select ${setting}) = '*'`;
    this.addSql('alter table usage.distinct_month enable row level security');
    this.addSql(`create policy distinct_month_scope on usage.distinct_month using (${own}) with check (${own})`);
  }
}

// Bit n of days is day n + 1 of the month. Updates change no index, so that they stay in their page.
const table = `
create table usage.distinct_month (
  env int not null, meter int not null, version int not null, subject bigint not null, month date not null, h uuid not null,
  days int not null, primary key (env, meter, version, subject, month, h)) with (fillfactor = 80)`;

const monthsOf = (days: string) => `
  select env, meter, version, subject, date_trunc('month', day::timestamp)::date as month, h,
    bit_or(1 << (extract(day from day)::int - 1)) as days
  from ${days} group by 1, 2, 3, 4, 5, 6`;

// In the order of the key, so that writers that meet wait for each other and never deadlock.
const added = `
create function usage.distinct_days_added() returns trigger language plpgsql as $$
begin
  insert into usage.distinct_month as d (env, meter, version, subject, month, h, days)
  ${monthsOf('added')} order by 1, 2, 3, 4, 5, 6
  on conflict (env, meter, version, subject, month, h) do update set days = d.days | excluded.days;
  return null;
end $$`;

const removed = `
create function usage.distinct_days_removed() returns trigger language plpgsql as $$
begin
  with gone as (${monthsOf('removed')})
  update usage.distinct_month d set days = d.days & ~gone.days from gone
  where (d.env, d.meter, d.version, d.subject, d.month, d.h) = (gone.env, gone.meter, gone.version, gone.subject, gone.month, gone.h);
  with gone as (select distinct env, meter, version, subject, date_trunc('month', day::timestamp)::date as month, h from removed)
  delete from usage.distinct_month d using gone where d.days = 0
    and (d.env, d.meter, d.version, d.subject, d.month, d.h) = (gone.env, gone.meter, gone.version, gone.subject, gone.month, gone.h);
  return null;
end $$`;

const triggers = [
  `create trigger distinct_days_added after insert on usage.distinct_value referencing new table as added
    for each statement execute function usage.distinct_days_added()`,
  `create trigger distinct_days_removed after delete on usage.distinct_value referencing old table as removed
    for each statement execute function usage.distinct_days_removed()`,
];

const backfill = `
insert into usage.distinct_month (env, meter, version, subject, month, h, days)
${monthsOf('usage.distinct_value')}`;
