import { Migration } from '@mikro-orm/migrations';

/**
 * Customers whose usage changed and is to be looked at: one row for now and one for each minute in which an event that is dated
 * ahead begins to count. Only in environments where something watches. Whether one does is part of what a writer caches.
 * design: usage.md Tables, architecture.md §3 usage-watch
 */
export class Migration20261122_42_usage_watch extends Migration {
  override up(): void {
    for (const text of [...tables, watch]) this.addSql(text);
    for (const table of ['watched_environment', 'dirty_customer']) {
      const setting = `current_setting('perennial.environment_id', true)`;
      const own = `env = (select number from public.environment where id = ${setting}) or (select ${setting}) = '*'`;
      this.addSql(`alter table usage.${table} enable row level security`);
      this.addSql(`create policy ${table}_scope on usage.${table} using (${own}) with check (${own})`);
    }
  }
}

const tables = [
  'create table usage.watched_environment (env int primary key)',
  `create table usage.dirty_customer (
    env int not null, subject bigint not null, due_at timestamptz not null, generation bigint not null default 1,
    primary key (env, subject, due_at)) with (fillfactor = 70)`,
  'create index dirty_customer_due on usage.dirty_customer (env, due_at)',
];

// From the commit on, every writer marks the customers of its events. Writers wait only for the first watcher there is.
const watch = `
create function usage.watch_environment(environment_id text) returns void language plpgsql as $$
declare
  watched int := (select number from public.environment where id = environment_id);
begin
  if exists (select 1 from usage.watched_environment where env = watched) then return; end if;
  insert into usage.watched_environment (env) values (watched) on conflict do nothing;
  perform usage.raise_catalogue_version(environment_id);
end $$`;
