import { Migration } from '@mikro-orm/migrations';

/**
 * Alert settings, the streams they watch and the log of their changes. What wallets and features were told before becomes a
 * setting of theirs. spec: wallets-and-payments §1.3, §2.16
 */
export class Migration20261125_50_alerts extends Migration {
  override up(): void {
    for (const text of [...tables, ...indexes]) this.addSql(text);
    for (const table of ['alert_setting', 'alert_stream', 'alert_log', 'ongoing_balance']) {
      const rule = `current_setting('perennial.environment_id', true) in ("environment_id", '*')`;
      this.addSql(`alter table "${table}" enable row level security`);
      this.addSql(`create policy "${table}_scope" on "${table}" using (${rule}) with check (${rule})`);
    }
    for (const entity of ['wallet', 'feature']) this.addSql(settingsOf(entity));
    this.addSql(markCustomers);
  }
}

const record = `"id" text not null, "tenant_id" text not null, "environment_id" text not null, "status" text not null default 'published', "created_at" timestamptz not null, "created_by" text not null default '', "updated_at" timestamptz not null, "updated_by" text not null default ''`;

const tables = [
  `create table "alert_setting" (${record}, "entity_type" text not null, "entity_id" text not null, "parent_entity_type" text null, "parent_entity_id" text not null default '', "enabled" boolean not null, "config" jsonb not null, primary key ("id"))`,
  `create table "alert_stream" ("environment_id" text not null, "entity_type" text not null, "entity_id" text not null, "alert_type" text not null, "parent_entity_id" text not null, "setting_id" text not null, "period_start" text not null, "tenant_id" text not null, "customer_id" text not null, "state" text not null, "calmer_state" text null, "calmer_since" timestamptz null, "updated_at" timestamptz not null, primary key ("environment_id", "entity_type", "entity_id", "alert_type", "parent_entity_id", "setting_id", "period_start"))`,
  `create table "alert_log" (${record}, "entity_type" text not null, "entity_id" text not null, "parent_entity_type" text null, "parent_entity_id" text null, "customer_id" text not null, "alert_setting_id" text null, "alert_type" text not null, "alert_status" text not null, "period_start" timestamptz null, "alert_info" jsonb not null, primary key ("id"))`,
  `create table "ongoing_balance" ("environment_id" text not null, "wallet_id" text not null, "tenant_id" text not null, "balance" numeric not null, "wallet_version" int not null, "alert_state" text not null, "told_at" timestamptz not null, primary key ("environment_id", "wallet_id"))`,
];

const indexes = [
  `create unique index "alert_setting_unique" on "alert_setting" (environment_id, entity_type, entity_id, parent_entity_id) where status = 'published'`,
  `create index "alert_setting_environment_id_created_at_id_index" on "alert_setting" ("environment_id", "created_at", "id")`,
  `create index "alert_setting_environment_id_parent_entity_id_entity_type_index" on "alert_setting" ("environment_id", "parent_entity_id", "entity_type")`,
  `create index "alert_stream_environment_id_customer_id_index" on "alert_stream" ("environment_id", "customer_id")`,
  `create index "alert_log_environment_id_created_at_id_index" on "alert_log" ("environment_id", "created_at", "id")`,
  `create index "alert_log_environment_id_entity_id_created_at_index" on "alert_log" ("environment_id", "entity_id", "created_at")`,
  `create index "alert_log_environment_id_customer_id_created_at_index" on "alert_log" ("environment_id", "customer_id", "created_at")`,
];

const settingsOf = (entity: string) => `
insert into alert_setting (id, tenant_id, environment_id, created_at, created_by, updated_at, updated_by, entity_type, entity_id, enabled, config)
select 'alert_set_' || replace(gen_random_uuid()::text, '-', ''), tenant_id, environment_id, updated_at, updated_by, updated_at, updated_by,
  '${entity}', id, coalesce((alert_settings ->> 'alert_enabled')::boolean, false),
  '{"alert_enabled": false, "alert_threshold_type": "absolute", "critical": null, "warning": null, "info": null}'::jsonb
    || jsonb_strip_nulls(alert_settings)
from ${entity} where alert_settings is not null and status = 'published'`;

// Customers whose balances moved without events. Those who never sent any get the short key that events would have given them.
const markCustomers = `
create function usage.mark_customers(marked_environment text, customer_ids text[], due timestamptz default '-infinity') returns int language plpgsql as $$
declare
  watched int := (select w.env from usage.watched_environment w join public.environment e on e.number = w.env where e.id = marked_environment);
  marked int;
begin
  if watched is null then return 0; end if;
  insert into usage.subject (env, external_id)
    select watched, c.external_id from public.customer c where c.environment_id = marked_environment and c.id = any(customer_ids)
      and c.status = 'published' and not exists (
        select from usage.subject s where s.env = watched and s.external_id = c.external_id and s.holder is null)
    order by c.external_id on conflict (env, external_id) where holder is null do nothing;
  insert into usage.dirty_customer as dirty (env, subject, due_at)
    select distinct watched, s.number, due from public.customer c
    join usage.subject s on s.env = watched and s.external_id = c.external_id and s.holder is null
    where c.environment_id = marked_environment and c.id = any(customer_ids) and c.status = 'published' order by 2
    on conflict (env, subject, due_at) do update set generation = dirty.generation + 1;
  get diagnostics marked = row_count;
  return marked;
end $$`;
