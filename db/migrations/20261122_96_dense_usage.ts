import { Migration } from '@mikro-orm/migrations';

/**
 * Hours and days of many events taken apart, for questions whose interval cuts through them: an hour into the sums of its minutes or
 * seconds, a day into when each distinct value was met first and last. Made after a question has wanted them, from events, and
 * never by a writer: `n` is how many events they know of, and while the roll-ups tell the same number nothing has come since, as
 * appended events only raise it. Whatever else changes a roll-up deletes it first, and the trigger what was made of it.
 * design: usage.md Reading
 */
export class Migration20261122_96_dense_usage extends Migration {
  override up(): void {
    for (const text of [hours, days, forget, trigger]) this.addSql(text);
    for (const table of ['dense_hour', 'dense_day']) {
      const setting = `current_setting('perennial.environment_id', true)`;
      const own = `env = (select number from public.environment where id = ${setting}) or (select ${setting}) = '*'`;
      this.addSql(`alter table usage.${table} enable row level security`);
      this.addSql(`create policy ${table}_scope on usage.${table} using (${own}) with check (${own})`);
    }
  }
}

// Element by element: where a part of the hour begins, and n, s, st and mx of it as in usage.rollup. Parts without events are left out.
const hours = `
create table usage.dense_hour (
  env int not null, meter int not null, version int not null, subject bigint not null, hour timestamptz not null,
  n bigint not null, step interval not null, opens timestamptz[] not null, ns bigint[] not null, ss numeric[] not null,
  sts numeric[] not null, mxs numeric[] not null, primary key (env, meter, version, subject, hour))`;

const days = `
create table usage.dense_day (
  env int not null, meter int not null, version int not null, subject bigint not null, day date not null,
  n bigint not null, hs uuid[] not null, firsts timestamptz[] not null, lasts timestamptz[] not null,
  primary key (env, meter, version, subject, day))`;

const forget = `
create function usage.rollups_removed() returns trigger language plpgsql as $$
begin
  delete from usage.dense_hour d using (
    select distinct env, meter, version, subject, date_trunc('hour', bucket, 'UTC') as hour from removed) as gone
  where (d.env, d.meter, d.version, d.subject, d.hour) = (gone.env, gone.meter, gone.version, gone.subject, gone.hour);
  delete from usage.dense_day d using (
    select distinct env, meter, version, subject, (bucket at time zone 'UTC')::date as day from removed) as gone
  where (d.env, d.meter, d.version, d.subject, d.day) = (gone.env, gone.meter, gone.version, gone.subject, gone.day);
  return null;
end $$`;

const trigger = `
create trigger rollups_removed after delete on usage.rollup referencing old table as removed
  for each statement execute function usage.rollups_removed()`;
